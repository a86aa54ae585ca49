/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sizedcalls.c - the code at which functions of the C library begin
 *
 * Some functions may begin with the same code as others that have no size, or another
 * one: on some CPUs, or in some versions. Such code says nothing, so these other
 * functions are in the list, too.
 */
#include "config.h"

#include "daemon/windows/sizedcalls.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "abi/uop.h"

#define NO_SIZE UINT8_MAX

#ifdef __aarch64__
static const unsigned int registers[SIZEDCALLS_ARGS] = { 0, 1, 2, 3 };
#else
static const unsigned int registers[SIZEDCALLS_ARGS] = { 7, 6, 2, 1 }; /* rdi to rcx */
#endif

static const struct {
	const char *name;
	uint8_t size, pointers;
} functions[] = {
	{ "memcpy", 2, 2 },          { "memmove", 2, 2 },
	{ "mempcpy", 2, 2 },         { "memset", 2, 1 },
	{ "memcmp", 2, 2 },          { "bcmp", 2, 2 },
	{ "memchr", 2, 1 },          { "memrchr", 2, 1 },
	{ "memccpy", 3, 2 },         { "bzero", 1, 1 },
	{ "strncmp", 2, 2 },         { "strncasecmp", 2, 2 },
	{ "strncpy", 2, 2 },         { "stpncpy", 2, 2 },
	{ "strncat", 2, 2 },         { "strnlen", 1, 1 },
	{ "__memcpy_chk", 2, 2 },    { "__memmove_chk", 2, 2 },
	{ "__mempcpy_chk", 2, 2 },   { "__memset_chk", 2, 1 },
	{ "__strncpy_chk", 2, 2 },   { "__stpncpy_chk", 2, 2 },
	{ "__strncat_chk", 2, 2 },   { "strlen", NO_SIZE, 0 },
	{ "strcmp", NO_SIZE, 0 },    { "strcasecmp", NO_SIZE, 0 },
	{ "strcpy", NO_SIZE, 0 },    { "stpcpy", NO_SIZE, 0 },
	{ "strcat", NO_SIZE, 0 },    { "strchr", NO_SIZE, 0 },
	{ "strrchr", NO_SIZE, 0 },   { "strchrnul", NO_SIZE, 0 },
	{ "strspn", NO_SIZE, 0 },    { "strcspn", NO_SIZE, 0 },
	{ "rawmemchr", NO_SIZE, 0 }, { "wmemset", NO_SIZE, 0 },
	{ "wmemcpy", NO_SIZE, 0 },   { "wmemmove", NO_SIZE, 0 },
	{ "wmemcmp", NO_SIZE, 0 },   { "wmemchr", NO_SIZE, 0 },
	{ "wcsnlen", NO_SIZE, 0 },   { "wcsncmp", NO_SIZE, 0 },
	{ "wcslen", NO_SIZE, 0 },
};

#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

struct sizedcalls {
	struct sizedcall call[NR_FUNCTIONS];
	uint32_t nr;
};

/* Whether another function with this code has other arguments. */
static bool is_ambiguous(const struct sizedcalls *calls, const struct sizedcall *c)
{
	for (uint32_t i = 0; i < calls->nr; i++) {
		const struct sizedcall *other = &calls->call[i];

		if (!memcmp(other->code, c->code, sizeof(c->code)) &&
		    (other->size != c->size || other->pointers != c->pointers))
			return true;
	}
	return false;
}

static void drop_ambiguous(struct sizedcalls *calls)
{
	bool drop[NR_FUNCTIONS];
	uint32_t nr = 0;

	for (uint32_t i = 0; i < calls->nr; i++)
		drop[i] = calls->call[i].size == NO_SIZE ||
			  is_ambiguous(calls, &calls->call[i]);
	for (uint32_t i = 0; i < calls->nr; i++) {
		if (!drop[i])
			calls->call[nr++] = calls->call[i];
	}
	calls->nr = nr;
}

struct sizedcalls *sizedcalls_new(void)
{
	struct sizedcalls *calls = calloc(1, sizeof(*calls));
	/* not another library's, which intercepts some of them */
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);

	for (size_t i = 0; calls && libc && i < NR_FUNCTIONS; i++) {
		struct sizedcall *c = &calls->call[calls->nr];
		const void *code = dlsym(libc, functions[i].name);

		if (!code)
			continue;
		c->name = functions[i].name;
		c->size = functions[i].size;
		c->pointers = functions[i].pointers;
		memcpy(c->code, code, sizeof(c->code));
		calls->nr++;
	}
	if (libc)
		dlclose(libc);
	if (calls)
		drop_ambiguous(calls);
	return calls;
}

void sizedcalls_free(struct sizedcalls *calls)
{
	free(calls);
}

const struct sizedcall *sizedcalls_find(const struct sizedcalls *calls,
					const uint8_t *code)
{
	for (uint32_t i = 0; i < calls->nr; i++) {
		if (!memcmp(calls->call[i].code, code, SIZEDCALLS_BYTES))
			return &calls->call[i];
	}
	return NULL;
}

unsigned int sizedcalls_register(unsigned int argument)
{
	return registers[argument];
}
