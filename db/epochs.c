/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * epochs.c - which epochs a specification names
 *
 * Words and numbers come first, then moments, then labels, then ranges: a label
 * that looks like another form is shadowed by it, and one that holds ".." wins
 * over the range it could be.
 */
#include "config.h"

#include "db/query.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "db/rows.h"
#include "db/sql.h"

/* Epochs from which id to which; both included. */
struct span {
	int64_t from, to;
};

static const char select_epochs[] =
	"SELECT e.id, e.label, e.from_ns, e.to_ns, e.open, e.uncertainty_ms,"
	" p.host, p.arch, p.cpu, p.release, p.boot_id, p.clock_hz, p.nr_cpus,"
	" (SELECT sum(received) FROM tally WHERE epoch = e.id)"
	" FROM epoch e JOIN run r ON r.id = e.run JOIN platform p ON p.id = r.platform";

static void epoch_fini(struct query_epoch *e)
{
	free(e->label);
	free(e->host);
	free(e->arch);
	free(e->cpu);
	free(e->release);
	free(e->boot_id);
}

static int read_epoch(sqlite3_stmt *st, void *ctx)
{
	struct query_epochs *list = ctx;
	struct query_epoch *grown = rows_grow(list->epoch, list->nr, sizeof(*grown));
	struct query_epoch e = {
		.id = sqlite3_column_int64(st, 0),
		.label = strdup(sql_text(st, 1)),
		.from_ns = sqlite3_column_int64(st, 2),
		.to_ns = sqlite3_column_int64(st, 3),
		.open = sqlite3_column_int(st, 4),
		.uncertainty_ms = sqlite3_column_int64(st, 5),
		.host = strdup(sql_text(st, 6)),
		.arch = strdup(sql_text(st, 7)),
		.cpu = strdup(sql_text(st, 8)),
		.release = strdup(sql_text(st, 9)),
		.boot_id = strdup(sql_text(st, 10)),
		.clock_hz = sqlite3_column_int64(st, 11),
		.nr_cpus = sqlite3_column_int64(st, 12),
		.samples = sqlite3_column_int64(st, 13),
	};

	if (grown)
		list->epoch = grown;
	if (!grown || !e.label || !e.host || !e.arch || !e.cpu || !e.release ||
	    !e.boot_id) {
		epoch_fini(&e);
		return -ENOMEM;
	}
	list->epoch[list->nr++] = e;
	return 0;
}

/* Appends the epochs for which condition holds; a and b are its ?1 and ?2. */
static int load(sqlite3 *h, const char *condition, int64_t a, int64_t b,
		const char *label, struct query_epochs *list)
{
	struct buf sql = { 0 };
	int err;

	buf_printf(&sql, "%s WHERE %s ORDER BY e.id", select_epochs, condition);
	err = sql_each(h, read_epoch, list, buf_str(&sql), "iis", a, b, label);
	buf_fini(&sql);
	return err;
}

static int load_span(sqlite3 *h, struct span span, struct query_epochs *list)
{
	return load(h, "e.id BETWEEN ?1 AND ?2 AND ?3 IS NULL", span.from, span.to,
		    NULL, list);
}

/* A decimal number and nothing else. */
static int parse_number(const char *text, int64_t *out)
{
	char *end;
	long long v;

	if (!isdigit((unsigned char)*text))
		return -ENOENT;
	errno = 0;
	v = strtoll(text, &end, 10);
	if (*end)
		return -ENOENT;
	if (errno)
		return -EINVAL;
	*out = v;
	return 0;
}

/*
 * "last", "all", an id, or "-N". -ENOENT when spec has none of these forms, or
 * counts back beyond the first epoch.
 */
static int parse_number_form(sqlite3 *h, const char *spec, struct span *out)
{
	int64_t id, back = 0;
	int err;

	if (!strcmp(spec, "all")) {
		*out = (struct span){ INT64_MIN, INT64_MAX };
		return 0;
	}
	if (*spec == '-' || !strcmp(spec, "last")) {
		err = *spec == '-' ? parse_number(spec + 1, &back) : 0;
		if (!err)
			err = sql_get(h, &id,
				      "SELECT id FROM epoch ORDER BY id DESC"
				      " LIMIT 1 OFFSET ?1",
				      "i", back);
	} else {
		err = parse_number(spec, &id);
	}
	if (!err)
		*out = (struct span){ id, id };
	return err;
}

/* One end of "A..B": the first epoch that A leaves in, the last that B does. */
static int parse_end(sqlite3 *h, const char *spec, bool left, int64_t *id)
{
	uint64_t from_ns, to_ns;
	struct span span;
	int err;

	if (!*spec) {
		*id = left ? INT64_MIN : INT64_MAX;
		return 0;
	}
	err = parse_number_form(h, spec, &span);
	if (!err)
		*id = left ? span.from : span.to;
	if (err != -ENOENT)
		return err;
	if (!time_parse(spec, &from_ns, &to_ns)) {
		if (left)
			return sql_get(h, id,
				       "SELECT min(id) FROM epoch WHERE to_ns > ?1"
				       " OR from_ns >= ?1",
				       "i", from_ns);
		return sql_get(h, id, "SELECT max(id) FROM epoch WHERE from_ns < ?1",
			       "i", to_ns);
	}
	if (left)
		return sql_get(h, id, "SELECT min(id) FROM epoch WHERE label = ?1", "s",
			       spec);
	return sql_get(h, id, "SELECT max(id) FROM epoch WHERE label = ?1", "s", spec);
}

static int load_range(sqlite3 *h, const char *spec, const char *dots,
		      struct query_epochs *list)
{
	char *left = strndup(spec, dots - spec);
	struct span span;
	int err = left ? parse_end(h, left, true, &span.from) : -ENOMEM;

	if (!err)
		err = parse_end(h, dots + 2, false, &span.to);
	if (!err)
		err = load_span(h, span, list);
	free(left);
	return err;
}

static int compare_ids(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Ids with commas between, each of which must exist; spec is cut up. */
static int load_list(sqlite3 *h, char *spec, struct query_epochs *list)
{
	int64_t *ids = NULL, *grown;
	size_t nr = 0;
	int err = 0;

	for (char *item; !err && (item = strsep(&spec, ","));) {
		grown = rows_grow(ids, nr, sizeof(*ids));
		if (!grown) {
			err = -ENOMEM;
			break;
		}
		ids = grown;
		err = parse_number(item, &ids[nr++]) ? -EINVAL : 0;
	}
	if (!err)
		qsort(ids, nr, sizeof(*ids), compare_ids);
	for (size_t i = 0; !err && i < nr; i++) {
		size_t before = list->nr;

		if (i && ids[i] == ids[i - 1])
			continue;
		err = load_span(h, (struct span){ ids[i], ids[i] }, list);
		if (!err && list->nr == before)
			err = -ENOENT;
	}
	free(ids);
	return err;
}

static int resolve(sqlite3 *h, const char *spec, struct query_epochs *list)
{
	uint64_t from_ns, to_ns;
	struct span span;
	const char *dots;
	char *copy;
	int err;

	if (!*spec)
		return -EINVAL;
	err = parse_number_form(h, spec, &span);
	if (!err)
		return load_span(h, span, list);
	if (err != -ENOENT)
		return err;
	if (strchr(spec, ',') && !spec[strspn(spec, "0123456789,")]) {
		copy = strdup(spec);
		err = copy ? load_list(h, copy, list) : -ENOMEM;
		free(copy);
		return err;
	}
	if (!time_parse(spec, &from_ns, &to_ns))
		return load(h,
			    "e.from_ns < ?2 AND (e.to_ns > ?1 OR e.from_ns >= ?1)"
			    " AND ?3 IS NULL",
			    from_ns, to_ns, NULL, list);
	err = load(h, "e.label = ?3 AND ?1 = ?2", 0, 0, spec, list);
	dots = strstr(spec, "..");
	if (!err && !list->nr && dots)
		err = load_range(h, spec, dots, list);
	return err;
}

int query_epochs(struct db *db, const char *spec, struct query_epochs *out)
{
	struct query_epochs list = { 0 };
	sqlite3 *h = db_handle(db);
	int err = sql_exec(h, "BEGIN");

	if (err)
		return err;
	err = resolve(h, spec ? spec : "last", &list);
	if (!err && !list.nr)
		err = -ENOENT;
	sql_rollback(h); /* nothing was written */
	if (err)
		query_epochs_fini(&list);
	else
		*out = list;
	return err;
}

void query_epochs_fini(struct query_epochs *e)
{
	for (size_t i = 0; i < e->nr; i++)
		epoch_fini(&e->epoch[i]);
	free(e->epoch);
	memset(e, 0, sizeof(*e));
}
