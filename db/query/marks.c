/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * marks.c - reads marks
 *
 * A mark belongs to a machine and a time, not to an epoch, so roll-ups do not change
 * it.
 */
#include "config.h"

#include "db/query/marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/query/query.h"

#define PREFIX "mark:"

const char *query_mark_name(const char *spec)
{
	return strncmp(spec, PREFIX, strlen(PREFIX)) ? NULL : spec + strlen(PREFIX);
}

int query_mark_find(sqlite3 *h, const char *text, const char *platforms,
		    uint64_t *at_ns)
{
	static const char sql[] =
		"SELECT at_ns FROM mark WHERE text = ?1 AND (?2 IS NULL OR host IN"
		" (SELECT host FROM platform"
		" WHERE id IN (SELECT value FROM json_each(?2))))"
		" ORDER BY at_ns DESC LIMIT 1";
	int64_t ns;
	int err = sql_get(h, &ns, sql, "ss", text, platforms);

	if (!err && ns < 0)
		err = -ENOENT;
	if (!err)
		*at_ns = (uint64_t)ns;
	return err;
}

static int read_mark(sqlite3_stmt *st, void *ctx)
{
	struct query_marks *list = ctx;
	struct query_mark m = {
		.at_ns = sqlite3_column_int64(st, 0),
		.host = strdup(sql_text(st, 1)),
		.text = strdup(sql_text(st, 2)),
	};
	int err = rows_check_columns(st, 0, "ntt");

	if (!err && (GROW(list->mark, list->nr) || !m.host || !m.text))
		err = -ENOMEM;
	if (err) {
		free(m.host);
		free(m.text);
		return err;
	}
	list->mark[list->nr++] = m;
	return 0;
}

int query_marks(struct db *db, struct query_marks *out)
{
	struct query_marks list = { 0 };
	int err = sql_each(db_handle(db), read_mark, &list,
			   "SELECT at_ns, host, text FROM mark"
			   " ORDER BY at_ns, host, text",
			   "");

	if (err)
		query_marks_fini(&list);
	else
		*out = list;
	return err;
}

int query_marks_of(struct db *db, const struct query_epochs *e, struct query_marks *out)
{
	static const char sql[] =
		"SELECT at_ns, host, text FROM mark WHERE at_ns BETWEEN ?1 AND ?2"
		" AND host IN (SELECT p.host FROM epoch e JOIN run r ON r.id = e.run"
		" JOIN platform p ON p.id = r.platform"
		" WHERE e.id IN (SELECT value FROM json_each(?3)))"
		" ORDER BY at_ns, host, text";
	uint64_t from_ns = INT64_MAX, to_ns = 0;
	struct query_marks list = { 0 };
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	for (size_t i = 0; i < e->nr; i++) {
		const struct query_epoch *one = &e->epoch[i];
		const uint64_t end_ns = one->open ? INT64_MAX : one->to_ns;

		from_ns = one->from_ns < from_ns ? one->from_ns : from_ns;
		to_ns = end_ns > to_ns ? end_ns : to_ns;
	}
	if (!err)
		err = sql_each(db_handle(db), read_mark, &list, sql, "iis", from_ns,
			       to_ns, ids.data);
	buf_fini(&ids);
	if (err)
		query_marks_fini(&list);
	else
		*out = list;
	return err;
}

void query_marks_fini(struct query_marks *m)
{
	for (size_t i = 0; i < m->nr; i++) {
		free(m->mark[i].host);
		free(m->mark[i].text);
	}
	free(m->mark);
	memset(m, 0, sizeof(*m));
}
