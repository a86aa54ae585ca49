/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_bolt.c - taken branches, for llvm-bolt -data=FILE
 *
 *	1 symbol offset 1 symbol offset mispredicted count
 *
 * Offsets are hexadecimal. A local symbol's name is followed by "/" and a number: 1 for
 * the first local symbol of that name, in the order of addresses, and so on
 * (bolt/lib/Rewrite/RewriteInstance.cpp). The only one of a name has "/1".
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/export/export.h"

struct named {
	const struct symbol *symbol;
	size_t nr; /* its number among equal names; 0 if it is not local */
};

struct writing {
	struct image *im;
	struct named *named; /* by start, after they were numbered */
	size_t nr;
};

static int by_start(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;

	return (a->symbol->start > b->symbol->start) -
	       (a->symbol->start < b->symbol->start);
}

static int by_name(const void *va, const void *vb)
{
	const struct named *a = va, *b = vb;
	const int order = strcmp(a->symbol->raw, b->symbol->raw);

	return order ? order : by_start(va, vb);
}

static int number_symbols(struct writing *w)
{
	const struct symbol *const *all = image_symbols(w->im, &w->nr);
	size_t nr = 0;

	w->named = calloc(w->nr + 1, sizeof(*w->named));
	if (!w->named)
		return -ENOMEM;
	for (size_t i = 0; i < w->nr; i++)
		w->named[i].symbol = all[i];
	qsort(w->named, w->nr, sizeof(*w->named), by_name);
	for (size_t i = 0; i < w->nr; i++) {
		const struct symbol *s = w->named[i].symbol;

		if (i && strcmp(w->named[i - 1].symbol->raw, s->raw))
			nr = 0;
		if (image_is_local(w->im, s))
			w->named[i].nr = ++nr;
	}
	qsort(w->named, w->nr, sizeof(*w->named), by_start);
	return 0;
}

/*
 * Writes "1 symbol offset ". Returns false, and writes nothing, if there is no symbol
 * or it is the linker's.
 */
static bool put_place(const struct writing *w, uint64_t offset, struct buf *out)
{
	const struct symbol *s;
	struct named key, *found;

	if (offset == TRAFFIC_ELSEWHERE) {
		buf_puts(out, "0 [unknown] 0 ");
		return true;
	}
	s = image_symbol_at(w->im, offset);
	if (!s || *s->raw == '[' || strpbrk(s->raw, " \t\n") || strstr(s->raw, "@plt"))
		return false;
	key.symbol = s;
	found = bsearch(&key, w->named, w->nr, sizeof(key), by_start);
	buf_printf(out, "1 %s", s->raw);
	if (found && found->nr)
		buf_printf(out, "/%zu", found->nr);
	buf_printf(out, " %" PRIx64 " ", offset - s->start);
	return true;
}

int export_bolt(const struct compiler_profile *f)
{
	struct writing w = { .im = f->im };
	size_t nr;
	const struct traffic_jump *jump = traffic_jumps(f->traffic, &nr);
	struct buf line = { 0 };
	int err = number_symbols(&w);

	for (size_t i = 0; !err && i < nr; i++) {
		const uint64_t n = feedback_count(jump[i].n, f->scale);

		buf_reset(&line);
		if (n && put_place(&w, jump[i].from, &line) &&
		    put_place(&w, jump[i].to, &line))
			printf("%s0 %" PRIu64 "\n", buf_str(&line), n);
		err = line.err;
	}
	buf_fini(&line);
	free(w.named);
	return err;
}
