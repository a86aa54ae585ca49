/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load.c - which epochs are loaded, and the order of loading
 *
 * Epochs come first, without what they counted, so that db/query resolves a
 * specification as it does in a machine's database. Then the rows of those that it
 * chose, and at last what the rows refer to.
 */
#include "config.h"

#include "db/clickhouse/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/clickhouse/fleetid.h"
#include "db/clickhouse/load_private.h"
#include "db/clickhouse/storeschema.h"
#include "db/core/rows.h"
#include "db/core/sql.h"

#define MAX_IMAGES 5000 /* that are listed in a statement */

static int compare_id(const void *x, const void *y)
{
	const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;

	return a < b ? -1 : a > b;
}

/* Marks the epochs that were chosen. */
static int mark_selected(struct load *l, const struct query_epochs *chosen)
{
	int64_t *id = calloc(chosen->nr + 1, sizeof(*id));

	if (!id)
		return -ENOMEM;
	for (size_t i = 0; i < chosen->nr; i++)
		id[i] = chosen->epoch[i].id;
	qsort(id, chosen->nr, sizeof(*id), compare_id);
	for (size_t i = 0; i < l->nr; i++)
		l->epoch[i].selected = bsearch(&l->epoch[i].id, id, chosen->nr,
					       sizeof(*id), compare_id) != NULL;
	free(id);
	return 0;
}

/* Limits column at to the selected epochs, so that only their partitions are read. */
static void put_seconds(struct load *l)
{
	uint64_t from = UINT64_MAX, to = 0;

	for (size_t i = 0; i < l->nr; i++) {
		const struct load_epoch *e = &l->epoch[i];

		if (!e->selected)
			continue;
		from = e->at < from ? e->at : from;
		to = e->at > to ? e->at : to;
	}
	buf_printf(&l->where,
		   ") AND at >= toDateTime(%" PRIu64 ") AND at <= toDateTime(%" PRIu64
		   ")",
		   from, to);
}

/* The addresses of the selected epochs, as a condition. */
static int make_where(struct load *l)
{
	size_t nr = 0;

	buf_puts(&l->where, " WHERE (host, toUInt32(at), nr) IN (");
	for (size_t i = 0; i < l->nr; i++) {
		const struct load_epoch *e = &l->epoch[i];

		if (e->selected)
			buf_printf(&l->where, "%s(%" PRIu64 ",%" PRIu64 ",%" PRIu64 ")",
				   nr++ ? "," : "", e->host, e->at, e->nr);
	}
	put_seconds(l);
	return l->where.err;
}

/* Images whose name a glob matches. */
struct matching {
	struct query_selection sel;
	struct buf *ids;
	size_t nr;
};

static int note_image(void *ctx, const struct rowbinary_cell *cells)
{
	struct matching *m = ctx;
	char *name = strndup(cells[1].text, cells[1].len);

	if (!name)
		return -ENOMEM;
	if (rows_image_matches(&m->sel, name)) {
		buf_printf(m->ids, ",%" PRIu64, cells[0].n);
		m->nr++;
	}
	free(name);
	return m->ids->err;
}

/* The condition that leaves rows of other images out; none if too many match. */
static int put_images(struct load *l, const char *glob)
{
	struct matching m = { .sel = { .image = glob }, .ids = &l->images };
	int err;

	if (!glob)
		return 0;
	buf_puts(&l->images, " AND image IN (0");
	err = ch_store_query(l->store, "SELECT id, name FROM image FORMAT RowBinary",
			     "8s", LOAD_MAX_BYTES, note_image, &m);
	buf_putc(&l->images, ')');
	if (m.nr > MAX_IMAGES)
		buf_reset(&l->images);
	return err ? err : l->images.err;
}

static int choose(struct load *l, const char *spec, const struct load_machines *of)
{
	const struct query_machines machines = { of->host, of->platform };
	struct query_epochs chosen = { 0 };
	int err = query_epochs_of(l->db, spec, &machines, &chosen);

	if (err)
		return err;
	if (chosen.nr > LOAD_MAX_SELECTED) {
		log_err("%s: these are %zu epochs, and a report reads at most %u: "
			"choose "
			"fewer hosts or a shorter time",
			db_path(l->db), chosen.nr, LOAD_MAX_SELECTED);
		err = -CPI_ELIMIT;
	}
	if (!err)
		err = mark_selected(l, &chosen);
	if (!err)
		err = make_where(l);
	query_epochs_fini(&chosen);
	return err;
}

static int note_missing(sqlite3_stmt *st, void *ctx)
{
	const struct load *l = ctx;

	log_err("%s: a row of table %s refers to a row of table %s that is missing: a "
		"machine sent incomplete data: choose other hosts or times",
		db_path(l->db), sql_text(st, 0), sql_text(st, 2));
	return -CPI_ECORRUPT;
}

/* Whether everything that rows refer to was in the store. */
static int check_whole(struct load *l)
{
	return sql_each(l->h, note_missing, l, "PRAGMA foreign_key_check", "");
}

static int load_counts(struct load *l)
{
	int err = load_profiles(l);

	for (size_t i = 0; !err && i < storetables_nr_epoch; i++)
		err = load_rows(l, &storetables_epoch[i]);
	return err ? err : load_names(l);
}

/* Of a fleet: what can be added up. */
static int load_added(struct load *l)
{
	int err = load_profiles(l);

	for (size_t i = 0; !err && i < storetables_nr_epoch; i++) {
		if (storetables_epoch[i].sums)
			err = load_sums(l, &storetables_epoch[i]);
	}
	return err ? err : load_names(l);
}

/* Loads table tally, the first one: a list of epochs shows their numbers of samples. */
static int load_tallies(struct load *l)
{
	if (!l->nr)
		return 0;
	buf_puts(&l->where, " WHERE host IN (");
	for (size_t i = 0; i < l->nr; i++) { /* they are in the order of hosts */
		l->epoch[i].selected = true;
		if (!i || l->epoch[i].host != l->epoch[i - 1].host)
			buf_printf(&l->where, "%s%" PRIu64, i ? "," : "",
				   l->epoch[i].host);
	}
	put_seconds(l);
	if (l->where.err)
		return l->where.err;
	return load_rows(l, &storetables_epoch[0]);
}

static int in_transaction(struct load *l, int (*fn)(struct load *l))
{
	int err = sql_exec(l->h, "BEGIN");

	return err ? err : sql_finish(l->h, fn(l));
}

/* Logs what the report lacks because some of its shipments are sums. */
static void tell_sums(const struct load *l)
{
	size_t nr = 0, chosen = 0;
	uint64_t least = UINT64_MAX, most = 0;
	char part[64] = "";

	for (size_t i = 0; i < l->nr; i++) {
		const struct load_epoch *e = &l->epoch[i];

		if (!e->selected)
			continue;
		chosen++;
		if (!e->one_in)
			continue;
		nr++;
		least = e->one_in < least ? e->one_in : least;
		most = e->one_in > most ? e->one_in : most;
	}
	if (most > 1)
		snprintf(part, sizeof(part), " of one in %s%" PRIu64 " samples",
			 least < most ? "up to " : "", most);
	if (nr)
		log_info("%s: %zu of %zu epochs are sums%s, as their machines sent "
			 "them: without contexts, call stacks, branches and windows",
			 db_path(l->db), nr, chosen, part);
}

static int load_all(struct load *l, const char *spec, const struct load_machines *of,
		    enum load_what what)
{
	bool is_fleet = false;
	int err;

	l->spec = spec;
	l->what = what;
	l->choice = (struct store_choice){ of->host, of->cluster, of->release,
					   of->machine };
	err = put_images(l, of->image);
	if (!err && what == LOAD_SUMS)
		err = load_fleet(l, of, &is_fleet);
	if (err)
		return err;
	if (is_fleet) {
		tell_sums(l);
		err = in_transaction(l, load_added);
		return err ? err : check_whole(l);
	}
	err = in_transaction(l, load_epochs);
	if (err)
		return err;
	if (what == LOAD_LIST)
		return in_transaction(l, load_tallies);
	err = choose(l, spec, of);
	if (err == -ENOENT || err == -EINVAL)
		return 0; /* the caller asks the same again */
	if (!err) {
		tell_sums(l);
		err = in_transaction(l, load_counts);
	}
	return err ? err : check_whole(l);
}

int store_load(const char *url, const char *spec, const struct load_machines *of,
	       enum load_what what, struct db **out)
{
	struct load l = { 0 };
	int err = ch_store_open(url, NULL, &l.store);
	char *name;

	if (err)
		return err;
	name = strndup(url, strcspn(url, "?"));
	err = name ? storeschema_check(l.store) : -ENOMEM;
	if (!err)
		err = db_open_temporary(name, &l.db);
	if (!err) {
		l.h = db_handle(l.db);
		err = fleetid_register(l.h);
	}
	if (!err) /* rows come before what they refer to: check_whole() */
		err = sql_exec(l.h, "PRAGMA foreign_keys = OFF");
	if (!err)
		err = load_all(&l, spec, of, what);
	sqlite3_finalize(l.insert);
	ch_store_close(l.store);
	buf_fini(&l.where);
	daysums_lots_fini(&l.days);
	buf_fini(&l.images);
	free(l.epoch);
	free(name);
	if (err)
		db_close(l.db);
	else
		*out = l.db;
	return err;
}
