/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inlined_print.c - inlined calls as lines, as a cell and as JSON
 */
#include "config.h"

#include "base/buf.h"
#include "base/path.h"
#include "tools/ui/term.h"
#include "tools/write/calls.h"

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
