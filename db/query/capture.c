/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.c - reads the captured symbols, code and instructions of an image
 *
 * Rows are sorted here, because SQLite's integers are signed and offsets are not.
 */
#include "config.h"

#include "base/grow.h"
#include "db/query/query.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/core/rows.h"
#include "db/core/sql.h"

static int compare_symbols(const void *a, const void *b)
{
	const struct query_symbol *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int compare_codes(const void *a, const void *b)
{
	const struct query_code *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int read_symbol(sqlite3_stmt *st, void *ctx)
{
	struct query_capture *c = ctx;
	struct query_symbol s = { .start = sqlite3_column_int64(st, 0),
				  .size = sqlite3_column_int64(st, 1),
				  .name = strdup(sql_text(st, 2)) };

	if (GROW(c->symbol, c->nr_symbols) || !s.name) {
		free(s.name);
		return -ENOMEM;
	}
	c->symbol[c->nr_symbols++] = s;
	return 0;
}

static int read_code(sqlite3_stmt *st, void *ctx)
{
	struct query_capture *c = ctx;
	struct query_code code = { .start = sqlite3_column_int64(st, 0) };
	const void *bytes = sql_blob(st, 1, &code.size);

	code.bytes = malloc(code.size ? code.size : 1);
	if (GROW(c->code, c->nr_codes) || !code.bytes) {
		free(code.bytes);
		return -ENOMEM;
	}
	memcpy(code.bytes, bytes, code.size);
	c->code[c->nr_codes++] = code;
	return 0;
}

int query_capture(struct db *db, int64_t image, struct query_capture *out)
{
	struct query_capture c = { 0 };
	sqlite3 *h = db_handle(db);
	int err = sql_begin_read(h);

	if (err)
		return err;
	err = sql_each(h, read_symbol, &c,
		       "SELECT start, size, name FROM symbol WHERE image = ?1", "i",
		       image);
	if (!err)
		err = sql_each(h, read_code, &c,
			       "SELECT start, bytes FROM code WHERE image = ?1", "i",
			       image);
	sql_end_read(h);
	if (err) {
		query_capture_fini(&c);
		return err;
	}
	if (c.nr_symbols)
		qsort(c.symbol, c.nr_symbols, sizeof(*c.symbol), compare_symbols);
	if (c.nr_codes)
		qsort(c.code, c.nr_codes, sizeof(*c.code), compare_codes);
	*out = c;
	return 0;
}

void query_capture_fini(struct query_capture *c)
{
	for (size_t i = 0; i < c->nr_symbols; i++)
		free(c->symbol[i].name);
	for (size_t i = 0; i < c->nr_codes; i++)
		free(c->code[i].bytes);
	free(c->symbol);
	free(c->code);
	memset(c, 0, sizeof(*c));
}

static int compare_instructions(const void *a, const void *b)
{
	const struct query_instruction *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int read_instruction(sqlite3_stmt *st, void *ctx)
{
	struct query_instructions *list = ctx;

	if (GROW(list->instruction, list->nr))
		return -ENOMEM;
	list->instruction[list->nr] =
		(struct query_instruction){ sqlite3_column_int64(st, 0),
					    strdup(sql_text(st, 1)) };
	return list->instruction[list->nr++].text ? 0 : -ENOMEM;
}

int query_instructions(struct db *db, int64_t image, struct query_instructions *out)
{
	struct query_instructions list = { 0 };
	int err = sql_each(db_handle(db), read_instruction, &list,
			   "SELECT start, text FROM instruction WHERE image = ?1", "i",
			   image);

	if (err) {
		query_instructions_fini(&list);
		return err;
	}
	if (list.nr)
		qsort(list.instruction, list.nr, sizeof(*list.instruction),
		      compare_instructions);
	*out = list;
	return 0;
}

void query_instructions_fini(struct query_instructions *list)
{
	for (size_t i = 0; i < list->nr; i++)
		free(list->instruction[i].text);
	free(list->instruction);
	memset(list, 0, sizeof(*list));
}
