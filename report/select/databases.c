/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * databases.c - joins the epochs of several databases
 *
 * A specification is split by database. Each part selects epochs in its database, and
 * db/move/join.c joins these epochs.
 */
#include "config.h"

#include "report/select/databases.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "db/move/join.h"
#include "report/select/select.h"

struct databases {
	struct db *db[TEXT_LIST_MAX];
	struct query_epochs epochs[TEXT_LIST_MAX];
	struct join_part part[TEXT_LIST_MAX];
};

/* Whether spec begins with a time of day, such as 09:30, that names no database. */
static bool is_time(const char *spec, unsigned int nr_dbs)
{
	static const char digits[] = "0123456789";

	return strspn(spec, digits) == 2 && spec[2] == ':' &&
	       strspn(spec + 3, digits) == 2 &&
	       (*spec == '0' || strtoul(spec, NULL, 10) > nr_dbs);
}

/* Splits "2:REST" into number and rest. Without a number *nr is 0. */
static int parse_nr(const char *spec, unsigned int nr_dbs, unsigned long *nr,
		    const char **rest)
{
	char *end;

	*nr = 0;
	*rest = spec;
	if (!isdigit((unsigned char)*spec) || is_time(spec, nr_dbs))
		return 0;
	*nr = strtoul(spec, &end, 10);
	if (*end != ':') {
		*nr = 0;
		return 0;
	}
	*rest = end + 1;
	return *nr >= 1 && *nr <= nr_dbs ? 0 : -EINVAL;
}

/* Whether spec is a list of ids, "3,4" or "1:3,2:4". */
static bool is_list(const char *spec)
{
	return strchr(spec, ',') && !spec[strspn(spec, "0123456789:,")];
}

/* Finds the ids for database nr in such a list. Overwrites spec. */
static int pick_ids(char *spec, unsigned int nr, unsigned int nr_dbs, struct buf *ids)
{
	const char *item, *id;
	unsigned long of;
	int err = 0;

	while (!err && (item = strsep(&spec, ","))) {
		err = parse_nr(item, nr_dbs, &of, &id);
		if (is_time(item, nr_dbs)) /* a list has ids, not times */
			err = -EINVAL;
		if (!err && (!of || of == nr))
			buf_printf(ids, "%s%s", ids->len ? "," : "", id);
	}
	return err ? err : ids->err;
}

int databases_spec(const char *spec, unsigned int nr, unsigned int nr_dbs, char **out)
{
	struct buf ids = { 0 };
	const char *rest = spec;
	unsigned long of = nr;
	char *copy;
	int err;

	if (is_list(spec)) {
		copy = strdup(spec);
		err = copy ? pick_ids(copy, nr, nr_dbs, &ids) : -ENOMEM;
		free(copy);
		of = ids.len ? nr : 0;
		rest = buf_str(&ids);
	} else {
		err = parse_nr(spec, nr_dbs, &of, &rest);
		of = of ? of : nr;
	}
	copy = of == nr ? strdup(*rest ? rest : "recent") : NULL;
	buf_fini(&ids);
	if (!err && of == nr && !copy)
		err = -ENOMEM;
	if (err)
		free(copy);
	else
		*out = copy;
	return err;
}

/* Finds the ids of a list that db has; there may be none. Overwrites list. */
static int keep_present(struct db *db, const struct query_machines *of, char *list,
			struct buf *ids)
{
	struct query_epochs epochs;
	const char *id;
	int err = 0;

	while (!err && (id = strsep(&list, ","))) {
		err = query_epochs_of(db, id, of, &epochs);
		if (!err) {
			query_epochs_fini(&epochs);
			buf_printf(ids, "%s%s", ids->len ? "," : "", id);
		}
		err = err == -ENOENT ? ids->err : err;
	}
	buf_str(ids);
	return err ? err : ids->err;
}

/* Finds the epochs that spec selects in database i; there may be none. */
static int find_in(const struct select_request *req, const char *spec, int i,
		   struct databases *t)
{
	const struct query_machines of = { req->host, req->platform };
	struct buf ids = { 0 };
	char *own = NULL;
	int err = databases_spec(spec, i + 1, req->dbs.nr, &own);

	if (!err && own && is_list(spec))
		err = keep_present(t->db[i], &of, own, &ids);
	else if (!err && own)
		buf_puts(&ids, own);
	if (!err && ids.len)
		err = query_epochs_of(t->db[i], buf_str(&ids), &of, &t->epochs[i]);
	free(own);
	buf_fini(&ids);
	t->part[i] = (struct join_part){ db_path(t->db[i]), &t->epochs[i] };
	return err == -ENOENT ? 0 : err;
}

static bool has_epoch(const struct query_epochs *epochs, int64_t id)
{
	for (size_t i = 0; i < epochs->nr; i++) {
		if (epochs->epoch[i].id == id)
			return true;
	}
	return false;
}

/* Checks that each id is in the database it names, or in any. Overwrites list. */
static int check_list(const struct select_request *req, const struct databases *t,
		      char *list)
{
	const int nr = req->dbs.nr;
	const char *item, *id;
	unsigned long of;

	while ((item = strsep(&list, ","))) {
		bool found = false;

		parse_nr(item, nr, &of, &id);
		for (int i = 0; i < nr; i++)
			found = found ||
				((!of || of == i + 1UL) &&
				 has_epoch(&t->epochs[i], strtoll(id, NULL, 10)));
		for (int i = 0; i < nr && !found; i++) {
			if (!of || of == i + 1UL)
				select_failed_epochs(req, t->db[i], id, -ENOENT);
		}
		if (!found)
			return -ENOENT;
	}
	return 0;
}

static int find_all(const struct select_request *req, const char *spec,
		    struct databases *t)
{
	const int nr = req->dbs.nr;
	size_t found = 0;
	char *list;
	int err = 0;

	for (int i = 0; i < nr; i++) {
		err = find_in(req, spec, i, t);
		if (err) {
			select_failed_epochs(req, t->db[i], spec, err);
			return err;
		}
		found += t->epochs[i].nr;
	}
	for (int i = 0; i < nr && !found; i++)
		select_failed_epochs(req, t->db[i], spec, -ENOENT);
	if (!found || !is_list(spec))
		return found ? 0 : -ENOENT;
	list = strdup(spec);
	err = list ? check_list(req, t, list) : -ENOMEM;
	free(list);
	return err;
}

static int join(const struct select_request *req, const struct databases *t,
		struct db **out)
{
	struct buf name = { 0 };
	int err;

	for (int i = 0; i < req->dbs.nr; i++)
		buf_printf(&name, "%s%s", i ? ", " : "", req->dbs.item[i]);
	err = join_open(buf_str(&name), t->part, req->dbs.nr, out);
	buf_fini(&name);
	return err;
}

int databases_open(const struct select_request *req, const char *spec, struct db **out)
{
	const int nr = req->dbs.nr;
	struct databases t = { 0 };
	int err = 0;

	for (int i = 0; i < nr && !err; i++)
		err = select_open_path(req->dbs.item[i], DB_READ, &t.db[i]);
	if (!err)
		err = find_all(req, spec ? spec : "recent", &t);
	if (!err)
		err = join(req, &t, out);
	for (int i = 0; i < nr; i++) {
		query_epochs_fini(&t.epochs[i]);
		db_close(t.db[i]);
	}
	return err;
}
