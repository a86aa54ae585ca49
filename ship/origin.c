/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * origin.c - the cluster, the type of machine and the release of epochs
 */
#include "config.h"

#include "ship/origin.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "db/core/sql.h"

#define MAX_RELEASE 1024         /* bytes; longer ones are cut */
#define SLACK_NS    NSEC_PER_SEC /* of a mark beside the epoch's ends */

/* Releases of marks before and within an epoch; NULL where there are none. */
struct marked {
	char *before, *within;
};

static const char *text_or(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

static int note_marked(sqlite3_stmt *st, void *ctx)
{
	struct marked *m = ctx;
	const bool has[] = { sqlite3_column_type(st, 0) != SQLITE_NULL,
			     sqlite3_column_type(st, 1) != SQLITE_NULL };

	m->before = has[0] ? strndup(sql_text(st, 0), MAX_RELEASE) : NULL;
	m->within = has[1] ? strndup(sql_text(st, 1), MAX_RELEASE) : NULL;
	return (has[0] && !m->before) || (has[1] && !m->within) ? -ENOMEM : 0;
}

static int read_marked(struct db *db, const struct ship_origin *told,
		       const struct ship_epoch *e, struct marked *m)
{
	/*
	 * The epoch may have the machine's name in the store; marks do not. With a name
	 * that was told, the database is the machine's, whatever it was called: a pod
	 * gets a new name at each restart.
	 */
#define NEWEST                                                                      \
	"(SELECT substr(text, 9) FROM mark WHERE host IN (SELECT p.host FROM run r" \
	" JOIN platform p ON p.id = r.platform WHERE r.id = ?1 OR ?4)"              \
	" AND text GLOB 'release ?*' AND at_ns "
	static const char sql[] =
		"SELECT " NEWEST "<= ?2 ORDER BY at_ns DESC LIMIT 1), " NEWEST
		"> ?2 AND at_ns < ?3 ORDER BY at_ns DESC LIMIT 1)";

	return sql_each(db_handle(db), note_marked, m, sql, "iiii", e->run,
			(int64_t)(e->from_ns + SLACK_NS),
			(int64_t)(e->to_ns > SLACK_NS ? e->to_ns - SLACK_NS : 0),
			(int64_t)(told->host && *told->host));
}

/* As asprintf(), which leaves the pointer undefined when it fails. */
__attribute__((format(printf, 2, 3))) static int print(char **out, const char *format,
						       ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len < 0)
		return -ENOMEM;
	*out = text;
	return 0;
}

static int set_release(const char *told, const struct marked *m, struct ship_epoch *e)
{
	const char *before = text_or(m->before, text_or(told, ""));

	if (m->within && strcmp(m->within, before) != 0)
		return print(&e->release, "%s..%s", before, m->within);
	e->release = strdup(text_or(before, e->label));
	return e->release ? 0 : -ENOMEM;
}

static int set_machine(const char *told, struct ship_epoch *e)
{
	const struct platform_desc *p = &e->platform;

	if (told && *told) {
		e->machine = strdup(told);
		return e->machine ? 0 : -ENOMEM;
	}
	return print(&e->machine, "%s, %u CPU%s", *p->cpu ? p->cpu : p->arch,
		     p->nr_cpus, p->nr_cpus == 1 ? "" : "s");
}

int ship_origin_read(struct db *db, const struct ship_origin *told,
		     struct ship_epoch *e)
{
	struct marked m = { 0 };
	struct ship_epoch new = *e;
	int err = read_marked(db, told, e, &m);

	new.machine = new.release = NULL;
	if (!err)
		err = set_release(told->release, &m, &new);
	if (!err)
		err = set_machine(told->machine, &new);
	if (err) {
		free(new.machine);
		free(new.release);
	} else {
		free(e->machine);
		free(e->release);
		*e = new;
	}
	free(m.before);
	free(m.within);
	return err;
}

static void put_text(struct buf *out, const char *text)
{
	text = text_or(text, "");
	rowbinary_put_string(out, text, strlen(text));
}

int ship_origin_send(struct ch_store *s, const struct ship_origin *told,
		     const struct ship_epoch *e, size_t nr)
{
	struct buf rows = { 0 };
	int err;

	for (size_t i = 0; i < nr; i++) {
		if (e[i].damaged)
			continue;
		rowbinary_put(&rows, '4', e[i].address.host);
		rowbinary_put(&rows, '4', e[i].address.at);
		rowbinary_put(&rows, '2', e[i].address.nr);
		put_text(&rows, told->cluster);
		put_text(&rows, e[i].machine);
		put_text(&rows, e[i].release);
	}
	err = ch_store_insert(s, "origin (host, at, nr, cluster, machine, release)",
			      "4t2sss", &rows);
	buf_fini(&rows);
	return err;
}
