/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storechoice.c - globs as conditions that every version of the engine understands
 *
 * LIKE does not know sets of characters. For a glob that has some the engine is asked
 * for the distinct names, and the condition lists those that match.
 */
#include "config.h"

#include "db/clickhouse/storechoice.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ANSWER (64u << 20)

/* Names that match are listed as literals. */
struct matching {
	const char *glob;
	struct buf *sql;
	size_t nr;
};

static int note_name(void *ctx, const struct rowbinary_cell *cells)
{
	struct matching *m = ctx;
	char *name = strndup(cells->text, cells->len);

	if (!name)
		return -ENOMEM;
	if (strlen(name) == cells->len && !fnmatch(m->glob, name, 0)) {
		buf_puts(m->sql, m->nr++ ? ", " : "");
		ch_put_literal(m->sql, name);
	}
	free(name);
	return m->sql->err;
}

/* A glob without sets, as LIKE has it. */
static void put_like(const char *column, const char *glob, struct buf *sql)
{
	buf_printf(sql, " AND %s LIKE '", column);
	for (; *glob; glob++) {
		if (*glob == '*' || *glob == '?')
			buf_putc(sql, *glob == '*' ? '%' : '_');
		else if (*glob == '%' || *glob == '_')
			buf_printf(sql, "\\\\%c", *glob);
		else if (*glob == '\'')
			buf_puts(sql, "\\'");
		else
			buf_putc(sql, *glob);
	}
	buf_putc(sql, '\'');
}

static int put_listed(struct ch_store *s, const char *table, const char *column,
		      const char *glob, struct buf *sql)
{
	struct matching m = { .glob = glob, .sql = sql };
	struct buf question = { 0 };
	int err;

	buf_printf(&question, "SELECT DISTINCT %s FROM %s FORMAT RowBinary", column,
		   table);
	buf_printf(sql, " AND %s IN (", column);
	err = ch_store_query_buf(s, &question, "s", MAX_ANSWER, note_name, &m);
	if (!err && !m.nr) /* the list must not be empty; no name is this */
		buf_puts(sql, "'\\0'");
	buf_putc(sql, ')');
	buf_fini(&question);
	return err;
}

static int put_matching(struct ch_store *s, const char *table, const char *column,
			const char *glob, struct buf *sql)
{
	int err = 0;

	if (!glob)
		return 0;
	if (strpbrk(glob, "[\\"))
		err = put_listed(s, table, column, glob, sql);
	else
		put_like(column, glob, sql);
	return err ? err : sql->err;
}

bool store_choice_by_origin(const struct store_choice *c)
{
	return c->cluster || c->release || c->machine;
}

static int put_origin(struct ch_store *s, const struct store_choice *c, struct buf *sql)
{
	int err;

	buf_puts(sql, " AND (host, at, nr) IN (SELECT host, at, nr FROM origin"
		      " WHERE 1");
	err = put_matching(s, "origin", "cluster", c->cluster, sql);
	if (!err)
		err = put_matching(s, "origin", "release", c->release, sql);
	if (!err)
		err = put_matching(s, "origin", "machine", c->machine, sql);
	buf_putc(sql, ')');
	return err ? err : sql->err;
}

int store_choice_put(struct ch_store *s, const struct store_choice *c, struct buf *sql)
{
	int err = put_matching(s, "epoch", "name", c->host, sql);

	if (!err && store_choice_by_origin(c))
		err = put_origin(s, c, sql);
	return err;
}
