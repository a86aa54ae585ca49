/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_jit.c - what a process may write about the code that it made
 *
 * The first byte picks the format: lines of a map, or the records of a dump. Whatever
 * is taken in is found again where it says that it is, or something newer is.
 */
#include "config.h"

#include <string.h>

#include "daemon/jit/jitdump.h"
#include "daemon/jit/jitmap.h"
#include "t/fuzz/fuzz.h"

static void take(struct jitmap *m, const struct jit_code *code, const char *name,
		 size_t len)
{
	struct jit_code *found;

	if (jitmap_add(m, code, name, len))
		return;
	fuzz_check(!jitmap_build(m, 0));
	fuzz_check(!jitmap_find(m, code->start, 0, 0, &found));
	fuzz_check(found->start <= code->start && code->start < found->end);
	fuzz_check(strlen(jitmap_name(m, found)) <= JITMAP_MAX_NAME);
}

static void read_lines(struct jitmap *m, const char *text, size_t size)
{
	const char *end = text + size, *newline;

	while ((newline = memchr(text, '\n', end - text))) {
		struct jit_code code = { 0 };
		const char *name;
		size_t len;

		if (!jitmap_parse(text, newline - text, &code, &name, &len)) {
			fuzz_check(name > text && name + len == newline && len);
			take(m, &code, name, len);
		}
		text = newline + 1;
	}
}

static void read_dump(struct jitmap *m, const char *data, size_t size)
{
	struct jitdump_header h;
	struct jitdump_record r;
	size_t at = 0;

	jitdump_header(data, size, &h);
	while (!jitdump_record(data + at, size - at, &r)) {
		const struct jit_code code = { .start = r.address,
					       .end = r.address + r.code_size };

		fuzz_check(r.size >= 16);
		if (r.kind == JITDUMP_LOAD) {
			fuzz_check(r.code_at + r.code_size <= r.size);
			take(m, &code, r.name, strlen(r.name));
		}
		if (r.kind == JITDUMP_TABLES)
			fuzz_check((uint64_t)r.tables_at + r.tables_size <= r.size);
		if (r.size > size - at)
			break;
		at += r.size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jitmap m = { 0 };

	if (size && data[0] % 2)
		read_dump(&m, (const char *)data + 1, size - 1);
	else if (size)
		read_lines(&m, (const char *)data + 1, size - 1);
	jitmap_fini(&m);
	return 0;
}
