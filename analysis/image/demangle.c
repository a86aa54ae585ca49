/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls the demanglers of libiberty, and limits the length of their output: with
 * substitutions a short name can expand to 2^100 characters, and symbols are not
 * trusted. The callback variants keep all state on the stack, so a longjmp out of the
 * callback stops them without a leak.
 */
#include "config.h"

#include "analysis/image/demangle.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/buf.h"

#define MAX_RAW    4096
#define MAX_PRETTY 16384
#define OPTIONS    (DMGL_PARAMS | DMGL_ANSI)

struct output {
	struct buf text;
	jmp_buf too_long;
};

static void put_piece(const char *piece, size_t len, void *ctx)
{
	struct output *out = ctx;

	if (len > MAX_PRETTY - out->text.len)
		longjmp(out->too_long, 1);
	buf_put(&out->text, piece, len);
}

static int write_pretty(const char *raw, struct output *out)
{
	if (setjmp(out->too_long))
		return 0;
	if (rust_demangle_callback(raw, OPTIONS, put_piece, out))
		return 1;
	buf_reset(&out->text);
	return cplus_demangle_v3_callback(raw, OPTIONS, put_piece, out);
}

char *demangle(const char *raw)
{
	struct output out = { 0 };
	char *pretty = NULL;

	if (strncmp(raw, "_Z", 2) != 0 && strncmp(raw, "_R", 2) != 0 &&
	    strncmp(raw, "_GLOBAL_", 8) != 0)
		return NULL;
	if (strnlen(raw, MAX_RAW + 1) > MAX_RAW)
		return NULL;
	if (write_pretty(raw, &out) && out.text.len)
		pretty = strdup(buf_str(&out.text));
	buf_fini(&out.text);
	return pretty;
}
