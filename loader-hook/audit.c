/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * audit.c - libcpi-audit.so: tells cpid what the dynamic linker loads
 *
 * See rtld-audit(7). This library uses no C library: another copy of it in the audit
 * namespace would cost each program more than everything else here, and a fork or a
 * signal may find its locks and memory in any state. So errno is never touched, and the
 * only state is one buffer, which grows at most once, by a system call.
 *
 * I1  Records gather while the linker works and leave in one datagram once its lists
 *     are consistent; then the buffer is empty.
 * I2  The linker's lock guards the buffer, but not against a signal handler that loads
 *     objects while its own thread does. A child that is forked meanwhile has a copy of
 *     any state. So nr_used is written last. cpid may then get a record twice, or a
 *     damaged one; it checks each record.
 * I3  If the program's exec raised its privileges, or AT_SECURE is missing,
 *     la_version() declines, and nothing is sent.
 */
#include "config.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "abi/announce.h"
#include "loader-hook/object.h"
#include "loader-hook/send.h"
#include "loader-hook/sys.h"

#define FEW_BYTES 2048 /* most programs' objects; with the rest it fits into a page */

static struct {
	bool is_welcome;
	bool has_begun;   /* the program's first batch is on its way */
	bool is_running;  /* its own code runs, or has run */
	const char *path; /* of the socket; NULL: the usual one */
	struct object_headers main;
	uintptr_t vdso;
	char *batch;
	size_t size;    /* of it */
	size_t nr_used; /* 0: there is not even a head */
	char few[FEW_BYTES] __attribute__((aligned(8)));
} hook;

/* What is behind "NAME=", or NULL. */
static const char *value_of(const char *variable, const char *name)
{
	while (*name && *variable == *name) {
		variable++;
		name++;
	}
	return !*name && *variable == '=' ? variable + 1 : NULL;
}

/* The vector that the kernel put behind the environment. */
static void read_auxv(const Elf64_auxv_t *v)
{
	for (; v->a_type != AT_NULL; v++) {
		switch (v->a_type) {
		case AT_SECURE:
			hook.is_welcome = !v->a_un.a_val;
			break;
		case AT_PHDR:
			hook.main.phdr = (const Elf64_Phdr *)v->a_un.a_val;
			break;
		case AT_PHNUM:
			hook.main.nr = v->a_un.a_val;
			break;
		case AT_SYSINFO_EHDR:
			hook.vdso = v->a_un.a_val;
			break;
		}
	}
}

/* The linker passes what the kernel passed to it. */
__attribute__((constructor)) static void begin(int argc, char **argv, char **envp)
{
	const char *path = NULL;

	hook.batch = hook.few;
	hook.size = sizeof(hook.few);
	for (; *envp; envp++) {
		const char *value = value_of(*envp, CPI_ANNOUNCE_ENV);

		path = value ? value : path;
	}
	read_auxv((const Elf64_auxv_t *)(envp + 1));
	if (path && hook.is_welcome)
		hook.path = path;
}

static void flush(void)
{
	if (hook.nr_used)
		send_datagram(hook.path ? hook.path : CPI_ANNOUNCE_SOCKET,
			      hook.is_running, hook.batch, hook.nr_used);
	hook.nr_used = 0;
}

static void put_head(void)
{
	*(struct cpi_announce_head *)hook.batch = (struct cpi_announce_head){
		.magic = CPI_ANNOUNCE_MAGIC,
		.version = CPI_ANNOUNCE_VERSION,
		.flags = hook.has_begun ? 0 : CPI_ANNOUNCE_BEGIN,
	};
	hook.has_begun = true;
}

static bool append(const struct link_map *map, enum cpi_announce_what what)
{
	size_t at = hook.nr_used, size;

	if (!at)
		at = sizeof(struct cpi_announce_head);
	size = object_describe(map, what, &hook.main, hook.batch + at, hook.size - at);
	if (!size)
		return false;
	if (!hook.nr_used)
		put_head();
	hook.nr_used = at + size;
	return true;
}

/* Most programs have few objects, so only the others allocate more memory. */
static bool grow(void)
{
	long at;

	if (hook.batch != hook.few)
		return false;
	at = sys_call(SYS_mmap, 0, CPI_ANNOUNCE_MAX, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_failed(at))
		return false;
	for (size_t i = 0; i < hook.nr_used; i++)
		((char *)at)[i] = hook.few[i];
	hook.batch = (char *)at;
	hook.size = CPI_ANNOUNCE_MAX;
	return true;
}

static void note(const struct link_map *map, enum cpi_announce_what what)
{
	if ((hook.vdso && map->l_addr == hook.vdso) || append(map, what))
		return;
	if (!grow()) /* perhaps there was no room */
		flush();
	append(map, what);
}

unsigned int la_version(unsigned int version)
{
	return hook.is_welcome ? version : 0;
}

unsigned int la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	if (hook.is_welcome)
		note(map, CPI_ANNOUNCE_LOADED);
	return 0; /* no calls are to be audited */
}

/*
 * When the program itself is closed, the process ends, and nothing is unmapped any
 * more. The hundreds of objects that are closed after it are ignored, because their
 * data are in no cache by then.
 */
unsigned int la_objclose(uintptr_t *cookie)
{
	const struct link_map *map;

	if (!hook.is_welcome)
		return 0;
	map = (const struct link_map *)*cookie;
	if (map->l_name && !map->l_name[0]) {
		hook.is_welcome = false;
		hook.nr_used = 0;
		return 0;
	}
	note(map, CPI_ANNOUNCE_UNLOADED);
	return 0;
}

void la_activity(uintptr_t *cookie, unsigned int flag)
{
	if (flag == LA_ACT_CONSISTENT)
		flush();
}

void la_preinit(uintptr_t *cookie)
{
	flush();
	hook.is_running = true;
}
