/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/inlined.h"

#include <string.h>

#include "base/buf.h"
#include "base/path.h"
#include "tools/term.h"

struct inlined_chain inlined_at(struct image *im, uint64_t offset)
{
	struct inlined_chain chain = { NULL, 0 };

	chain.nr = image_inlined_at(im, offset, &chain.at);
	return chain;
}

static int compare_numbers(size_t a, size_t b)
{
	return (a > b) - (a < b);
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* From the outermost, so that what was inlined together stays together. */
int inlined_compare(const struct inlined_chain *a, const struct inlined_chain *b)
{
	int c = 0;

	if (a->at == b->at && a->nr == b->nr)
		return 0;
	for (size_t i = 1; !c && i <= a->nr && i <= b->nr; i++) {
		const struct inlined *x = &a->at[a->nr - i], *y = &b->at[b->nr - i];

		c = compare_text(x->call.file, y->call.file);
		if (!c)
			c = compare_numbers((size_t)x->call.line, (size_t)y->call.line);
		if (!c)
			c = compare_numbers((size_t)x->column, (size_t)y->column);
		if (!c)
			c = compare_text(x->name, y->name);
	}
	return c ? c : compare_numbers(a->nr, b->nr);
}

/* The whole path of the caller's file, or its last part. */
static void put_call(struct buf *b, const struct inlined *in, bool whole)
{
	const char *file = in->call.file;

	buf_puts(b, in->name);
	if (!file)
		return;
	buf_printf(b, " called at %s:%d", whole ? file : path_base(file),
		   in->call.line);
	if (in->column)
		buf_printf(b, ":%d", in->column);
}

void inlined_put_lines(struct table *t, const struct inlined_chain *chain,
		       const char *procedure)
{
	struct buf b = { 0 };

	if (!chain->nr)
		table_line(t, TERM_BOLD, procedure);
	for (size_t i = chain->nr; i--;) {
		buf_reset(&b);
		for (size_t k = i; k < chain->nr; k++)
			buf_puts(&b, "  ");
		buf_puts(&b, "inlined ");
		put_call(&b, &chain->at[i], false);
		table_line(t, TERM_BOLD, buf_str(&b));
	}
	buf_fini(&b);
}

void inlined_put_cell(struct table *t, const struct inlined_chain *chain)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < chain->nr; i++) {
		if (i)
			buf_puts(&b, ", ");
		put_call(&b, &chain->at[i], true);
	}
	table_text(t, chain->nr ? buf_str(&b) : NULL);
	buf_fini(&b);
}

void inlined_json(struct json *j, const struct inlined_chain *chain)
{
	json_array(j, "inlined");
	for (size_t i = 0; i < chain->nr; i++) {
		const struct inlined *in = &chain->at[i];

		json_object(j, NULL);
		json_string(j, "name", in->name);
		json_string(j, "file", in->call.file);
		if (in->call.file)
			json_number(j, "line", (uint64_t)in->call.line);
		else
			json_null(j, "line");
		if (in->column)
			json_number(j, "column", (uint64_t)in->column);
		else
			json_null(j, "column");
		json_end(j);
	}
	json_end(j);
}
