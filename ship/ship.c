/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ship.c - one batch: finds epochs, takes addresses, sends rows, completes
 *
 * The order is what makes it exact (address.h): names first, so that no row refers to
 * what the store does not know; then rows; then table epoch; then what became void.
 */
#include "config.h"

#include "ship/ship.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/fleetid.h"
#include "db/clickhouse/storecluster.h"
#include "db/clickhouse/storesettings.h"
#include "db/clickhouse/storetables.h"
#include "db/core/sql.h"
#include "ship/address.h"
#include "ship/budget.h"
#include "ship/cursor.h"
#include "ship/due.h"
#include "ship/holes.h"
#include "ship/names.h"
#include "ship/notes.h"
#include "ship/origin.h"
#include "ship/rows.h"
#include "ship/sums.h"

#define SHIP_FIRST_EPOCHS 16

struct shipper {
	char *path;
	struct ch_store *store;
	struct ship_origin told;
	struct ship_how how;
	struct ship_budget budget;
	struct store_settings settings; /* when the batch began; id 0: not asked yet */
	/* What the store has answered; it need not be asked for this again. */
	struct ship_names *names;
	struct ship_notes *notes;
	struct ship_cursors cursors;
	size_t max_epochs;                /* of the next batch: about as many as fit */
	uint64_t rows_bytes, names_bytes; /* of the step */
	struct ship_stats stats;
};

struct batch {
	struct shipper *shipper;
	struct db *db;
	struct ship_due due;
	bool is_stale; /* the store lacks what it had */
	struct ship_rows rows;
	struct ship_holes holes;
};

struct shipper *shipper_new(const char *db_path, const struct ship_origin *told,
			    const struct ship_how *how, struct ch_store *store)
{
	struct shipper *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->store = store;
	s->max_epochs = SHIP_FIRST_EPOCHS;
	s->told = *told;
	s->how = *how;
	ship_budget_init(&s->budget);
	s->path = strdup(db_path);
	s->names = ship_names_new();
	s->notes = ship_notes_new();
	if (s->path && s->names && s->notes)
		return s;
	shipper_free(s);
	return NULL;
}

/* If the store was replaced or has lost rows: asks and sends everything again. */
static int forget_store(struct shipper *s)
{
	ship_cursors_forget(&s->cursors);
	ship_names_free(s->names);
	ship_notes_free(s->notes);
	s->names = ship_names_new();
	s->notes = ship_notes_new();
	return s->names && s->notes ? 0 : -ENOMEM;
}

void shipper_free(struct shipper *s)
{
	if (!s)
		return;
	ship_cursors_forget(&s->cursors);
	ship_names_free(s->names);
	ship_notes_free(s->notes);
	free(s->path);
	free(s);
}

const struct ship_stats *shipper_stats(const struct shipper *s)
{
	return &s->stats;
}

/* A run of the database. */
struct local_run {
	int64_t id;
	uint64_t from_ns;
	char *host, *boot_id;
};

struct local_runs {
	struct local_run *run;
	size_t nr;
};

/* id, from_ns, host, boot_id */
static int note_run(sqlite3_stmt *st, void *ctx)
{
	struct local_runs *list = ctx;
	struct local_run *r;

	if (GROW(list->run, list->nr))
		return -ENOMEM;
	r = &list->run[list->nr++];
	*r = (struct local_run){ .id = sqlite3_column_int64(st, 0),
				 .from_ns = (uint64_t)sqlite3_column_int64(st, 1),
				 .host = ship_copy_text(st, 2),
				 .boot_id = ship_copy_text(st, 3) };
	return r->host && r->boot_id ? 0 : -ENOMEM;
}

static void local_runs_fini(struct local_runs *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		free(list->run[i].host);
		free(list->run[i].boot_id);
	}
	free(list->run);
}

/* The name of a host in the store. */
static const char *name_of(const struct shipper *s, const char *host)
{
	return s->told.host && *s->told.host ? s->told.host : host;
}

/* Fills temp.cursor, for use in SQL, with the last shipped flush of each run. */
static int set_cursors(struct batch *b)
{
	static const char runs[] =
		"SELECT r.id, r.from_ns, p.host, p.boot_id FROM run r JOIN platform p"
		" ON p.id = r.platform WHERE EXISTS"
		" (SELECT 1 FROM flush f WHERE f.run = r.id)";
	struct shipper *s = b->shipper;
	struct local_runs list = { 0 };
	sqlite3 *h = db_handle(b->db);
	int err = sql_exec(h, "CREATE TEMP TABLE cursor (run INTEGER PRIMARY KEY,"
			      " seq INTEGER NOT NULL, last INTEGER NOT NULL,"
			      " had INTEGER NOT NULL, again INTEGER NOT NULL)");

	if (!err)
		err = sql_each(h, note_run, &list, runs, "");
	if (!err)
		err = db_read_check(b->db);
	for (size_t i = 0; !err && i < list.nr; i++) {
		const struct local_run *r = &list.run[i];
		const char *host = name_of(s, r->host);
		const struct ship_run run = { host, r->boot_id, r->from_ns };
		struct ship_cursor *c;

		err = ship_cursors_get(&s->cursors, s->store, h, r->id, &run,
				       &s->stats.nr_void, &c);
		if (!err)
			err = sql_do(
				h,
				"INSERT INTO temp.cursor VALUES (?1, ?2, ?3, ?4, ?5)",
				"iiiii", r->id, c->next, c->last, (int64_t)c->had,
				(int64_t)(c->rewound != 0));
	}
	local_runs_fini(&list);
	return err;
}

static struct ship_cursor *cursor_of(const struct shipper *s,
				     const struct ship_epoch *e)
{
	const struct ship_run run = { e->platform.host, e->platform.boot_id,
				      e->run_from_ns };

	return ship_cursors_find(&s->cursors, &run);
}

/* Replaces the host name, which the epoch owns, by that in the store. */
static void name_host(const struct shipper *s, struct platform_desc *p)
{
	char *name;

	if (!p->host || name_of(s, p->host) == p->host)
		return;
	name = strdup(name_of(s, p->host));
	free((char *)p->host);
	p->host = name;
}

/* Sets the name and the number of the epoch's host in the store. */
static int name_epoch(const struct shipper *s, struct ship_epoch *e)
{
	const struct ship_cursor *c;

	name_host(s, &e->platform);
	if (!e->platform.host)
		return -ENOMEM;
	c = cursor_of(s, e);
	if (!c)
		return -CPI_ECORRUPT; /* names differ from those of the run */
	e->address.host = c->number;
	return 0;
}

/*
 * The columns of ship_epoch_read(), then whether it is open or being rolled up, and
 * whether its run is sent again.
 */
static int note_epoch(sqlite3_stmt *st, void *ctx)
{
	struct batch *b = ctx;
	struct ship_how how;
	struct ship_epoch e;
	int err = -ENOMEM;

	ship_epoch_read(st, &e);
	if (ship_epoch_is_whole(&e)) {
		how = ship_budget_of(&b->shipper->budget, &b->shipper->how, &e);
		err = ship_due_take(&b->due, &how, &e, sqlite3_column_int(st, 21));
	}
	/*
	 * If the run is sent again, its sum is sent although epochs may be added to it:
	 * it replaces a shipment that had some of them.
	 */
	if (!err && b->due.nr && sqlite3_column_int(st, 22) &&
	    b->due.epoch[b->due.nr - 1].run == sqlite3_column_int64(st, 20))
		b->due.epoch[b->due.nr - 1].is_complete = true;
	ship_epoch_fini(&e);
	return err;
}

/*
 * Finds epochs in the order of their last flush, so that no unshipped epoch falls
 * behind the cursor: an hour's epoch comes after labelled epochs in its middle.
 * Those that the store no longer keeps are left out.
 */
static int find_due(struct batch *b)
{
	static const char due[] =
		"SELECT e.id, e.label, e.from_ns, e.to_ns, e.uncertainty_ms, r.from_ns,"
		" r.to_ns, r.state, p.host, p.arch, p.cpu, p.release, p.boot_id,"
		" p.clock_hz, p.nr_cpus, min(f.seq - f.merged), max(f.seq),"
		" sum(f.received), sum(f.stored), sum(f.lost), r.id, e.open OR EXISTS"
		" (SELECT 1 FROM roll WHERE roll.epoch = e.id OR roll.target = e.id),"
		" (SELECT again FROM temp.cursor WHERE run = r.id)"
		" FROM (SELECT n.epoch, n.run, max(n.seq) AS seq FROM temp.cursor c"
		" JOIN flush n ON n.run = c.run AND n.seq > c.seq GROUP BY n.epoch"
		" HAVING (SELECT to_ns FROM epoch WHERE id = n.epoch) >= ?2"
		" ORDER BY n.run, 3 LIMIT ?1) d JOIN epoch e ON e.id = d.epoch"
		" JOIN run r ON r.id = e.run JOIN platform p ON p.id = r.platform"
		" JOIN flush f ON f.epoch = e.id GROUP BY e.id ORDER BY d.run, d.seq";

	const uint64_t oldest_s = store_settings_oldest_s(&b->shipper->settings);
	int err;

	b->due.max = b->shipper->max_epochs;
	ship_budget_begin(&b->shipper->budget);
	err = sql_each(db_handle(b->db), note_epoch, b, due, "ii", SHIP_MAX_DUE,
		       oldest_s * NSEC_PER_SEC);
	if (!err)
		ship_due_end(&b->due);
	for (size_t i = 0; !err && i < b->due.nr; i++)
		err = name_epoch(b->shipper, &b->due.epoch[i]);
	return err;
}

static int find_once(struct batch *b)
{
	sqlite3 *h = db_handle(b->db);
	int err = sql_exec(h, "BEGIN");

	if (!err)
		err = find_due(b);
	if (!err)
		err = ship_holes_find(&b->holes, b->db);
	sql_rollback(h);
	return err;
}

/* The first flush of the batch's epochs of a run. */
static uint64_t first_flush(const struct batch *b, int64_t run)
{
	uint64_t first = UINT64_MAX;

	for (size_t i = 0; i < b->due.nr; i++) {
		if (b->due.epoch[i].run == run && b->due.epoch[i].first_flush < first)
			first = b->due.epoch[i].first_flush;
	}
	return first;
}

/* *again: the due epochs have to be found again. */
static int rewind_runs(struct batch *b, bool *again)
{
	sqlite3 *h = db_handle(b->db);
	int err = 0;

	for (size_t i = 0; !err && i < b->due.nr; i++) {
		const struct ship_epoch *e = &b->due.epoch[i];
		struct ship_cursor *c = cursor_of(b->shipper, e);

		if (c->rewound || e->first_flush > c->last)
			continue;
		err = ship_cursor_rewind(c, b->shipper->store, h,
					 first_flush(b, e->run));
		if (err || !c->rewound)
			continue;
		*again = true;
		err = sql_do(h,
			     "UPDATE temp.cursor SET seq = ?2, again = 1"
			     " WHERE run = ?1",
			     "ii", e->run, (int64_t)c->next);
	}
	return err;
}

static void forget_due(struct batch *b)
{
	for (size_t i = 0; i < b->due.nr; i++)
		ship_epoch_fini(&b->due.epoch[i]);
	memset(&b->due, 0, sizeof(b->due));
	ship_holes_fini(&b->holes);
}

static int find_epochs(struct batch *b)
{
	bool again = false;
	struct shipper *s = b->shipper;
	int err = set_cursors(b);

	if (!err && s->cursors.nr && !s->budget.has_read)
		err = ship_budget_ask(&s->budget, &s->how,
				      s->cursors.cursor[s->cursors.nr - 1].number,
				      time_real_ns(), s->store);
	if (!err)
		err = find_once(b);
	if (!err)
		err = rewind_runs(b, &again);
	if (err || !again)
		return err;
	forget_due(b);
	return find_once(b);
}

/* Skips an epoch, or all epochs of a sum. */
static int pass_over(struct batch *b, struct ship_epoch *e)
{
	e->damaged = true;
	e->nr_rows = 0;
	for (size_t i = 0; i < e->nr_members; i++)
		e->member[i].damaged = true;
	return e->nr_members ? 0 : ship_holes_lose(&b->holes, b->db, e->id);
}

/*
 * The next maximum. Addresses of epochs that do not fit into a batch are wasted, and
 * cost space in the store.
 */
static size_t next_max(const struct batch *b, size_t nr)
{
	const size_t max = nr < b->due.nr ? nr : 2 * b->shipper->max_epochs;

	return max > SHIP_MAX_EPOCHS ? SHIP_MAX_EPOCHS : max ? max : 1;
}

/* Reads rows until there are enough; the others wait for the next batch. */
static int read_rows(struct batch *b)
{
	size_t nr = 0;
	int err = 0;

	for (; !err && nr < b->due.nr; nr++) {
		if (ship_rows_bytes(&b->rows) >= SHIP_MAX_BYTES)
			break;
		ship_budget_plan(&b->shipper->budget, &b->shipper->how,
				 &b->due.epoch[nr]);
		err = ship_rows_read(b->db, &b->due.epoch[nr], &b->rows);
		if (err == -CPI_ECORRUPT)
			err = pass_over(b, &b->due.epoch[nr]);
		if (!err)
			err = ship_holes_lose_members(&b->holes, b->db,
						      &b->due.epoch[nr]);
		if (!err)
			err = ship_origin_read(b->db, &b->shipper->told,
					       &b->due.epoch[nr]);
		if (err)
			break;
	}
	if (err == -EAGAIN) /* those before it are there; later ones wait for it */
		err = 0;
	for (size_t i = nr; i < b->due.nr; i++)
		ship_epoch_fini(&b->due.epoch[i]);
	b->shipper->max_epochs = next_max(b, nr);
	b->due.nr = nr;
	return err;
}

/* In one transaction: retention may remove a name once no epoch refers to it. */
static int read_batch(struct batch *b)
{
	sqlite3 *h = db_handle(b->db);
	int err = sql_exec(h, "BEGIN");

	if (err)
		return err;
	err = read_rows(b);
	if (!err)
		err = ship_names_read(b->shipper->names, b->db, b->due.epoch,
				      b->due.nr);
	sql_rollback(h);
	return err;
}

/* The batch is in the store: moves the cursors, and voids what the batch replaces. */
static int advance(struct batch *b)
{
	struct shipper *s = b->shipper;
	int err = 0;

	for (size_t i = 0; !err && i < b->due.nr; i++) {
		struct ship_epoch *e = &b->due.epoch[i];
		const bool is_last = i + 1 == b->due.nr || e->run != e[1].run;
		struct ship_cursor *c = cursor_of(s, e);

		ship_cursor_advance(c, e);
		s->stats.nr_epochs += !e->damaged;
		s->stats.nr_rows += e->nr_rows;
		if (is_last && c->rewound && c->next >= c->until)
			err = ship_cursor_end_rewind(c, s->store, db_handle(b->db),
						     &s->stats.nr_void);
		else if (is_last)
			err = ship_cursor_void(c, s->store, first_flush(b, e->run),
					       &s->stats.nr_void);
	}
	return err;
}

/* If nothing is due, ends going back for all runs that went back. */
static int end_rewinds(struct batch *b)
{
	struct shipper *s = b->shipper;
	int err = 0;

	for (size_t i = 0; !err && !b->due.nr && i < s->cursors.nr; i++) {
		if (s->cursors.cursor[i].rewound)
			err = ship_cursor_end_rewind(&s->cursors.cursor[i], s->store,
						     db_handle(b->db),
						     &s->stats.nr_void);
	}
	return err;
}

/*
 * Asks who the store is, and what it keeps. Another database may have taken the place
 * of the one that was known, or another server of the URL may answer.
 */
static int meet_store(struct shipper *s)
{
	const uint64_t known = s->settings.id;
	int err = ch_store_cluster(s->store) ? storecluster_find(s->store) : 0;

	if (!err)
		err = store_settings_read(s->store, &s->settings);
	if (err || !known || known == s->settings.id)
		return err;
	log_warn("ship: the store is another one than before: it gets all epochs that "
		 "this machine still has");
	err = storecluster_find(s->store);
	return err ? err : forget_store(s);
}

/*
 * Whether the store still is the one that the batch was begun for. Its cluster may have
 * grown meanwhile: the row in table epoch must be on all servers.
 */
static int check_identity(struct shipper *s)
{
	struct store_settings now;
	int err = ch_store_cluster(s->store) ? storecluster_find(s->store) : 0;

	if (!err)
		err = store_settings_read(s->store, &now);
	if (err || now.id == s->settings.id)
		return err;
	log_warn("ship: the store was replaced while a batch was sent, which is sent "
		 "again");
	return -EAGAIN;
}

struct checking {
	struct shipper *shipper;
	const char *host;
	uint64_t turn; /* the highest of the host */
};

static int note_found(void *ctx, const char *boot_id, uint64_t run_from_ns,
		      uint64_t last, uint64_t turn)
{
	struct checking *k = ctx;
	const struct ship_run run = { k->host, boot_id, run_from_ns };
	struct ship_cursor *c = ship_cursors_find(&k->shipper->cursors, &run);

	if (c)
		c->found = last;
	if (turn > k->turn)
		k->turn = turn;
	return 0;
}

/* Whether a run can be gone because it is older than the store keeps. */
static bool is_expired(const struct shipper *s, const struct ship_cursor *c)
{
	return !c->found && c->run.run_from_ns / NSEC_PER_SEC <
				    store_settings_oldest_s(&s->settings);
}

/* Checks that the store still has what it had of a host's runs; sets epochs' turns. */
static int check_host(struct batch *b, const char *host)
{
	struct shipper *s = b->shipper;
	struct checking k = { s, host, 0 };
	int err;

	for (size_t i = 0; i < s->cursors.nr; i++)
		s->cursors.cursor[i].found = 0;
	err = ship_last_flushes(s->store, host, note_found, &k);
	for (size_t i = 0; !err && !b->is_stale && i < s->cursors.nr; i++) {
		const struct ship_cursor *c = &s->cursors.cursor[i];

		if (strcmp(c->host, host) != 0 || c->found >= c->committed ||
		    is_expired(s, c))
			continue;
		log_warn("ship: the store had flush %" PRIu64 " of host %s, but has "
			 "its run only up to flush %" PRIu64 " now: the rest is sent "
			 "again",
			 c->committed, c->host, c->found);
		b->is_stale = true;
	}
	for (size_t i = 0; i < b->due.nr; i++) {
		struct ship_epoch *e = &b->due.epoch[i];

		if (!strcmp(e->platform.host, host))
			e->turn =
				k.turn < UINT32_MAX ? (uint32_t)k.turn + 1 : UINT32_MAX;
	}
	return err;
}

/* A store that was restored from a backup lacks what it had. */
static int check_cursors(struct batch *b)
{
	const char *host = NULL;
	int err = 0;

	for (size_t i = 0; !err && !b->is_stale && i < b->due.nr; i++) {
		const char *next = b->due.epoch[i].platform.host;

		if (!host || strcmp(host, next) != 0)
			err = check_host(b, next);
		host = next;
	}
	return err;
}

static int send_batch(struct batch *b)
{
	struct shipper *s = b->shipper;
	uint64_t nr_dropped = 0;
	const struct ship_epoch *first = &b->due.epoch[0];
	int err = ship_take_addresses(s->store, b->due.epoch, b->due.nr);

	if (!err)
		err = ship_budget_ask(&s->budget, &s->how, first->address.host,
				      first->from_ns, s->store);
	if (!err)
		err = read_batch(b);
	if (!err)
		err = db_read_check(b->db);
	if (err || !b->due.nr)
		return err;
	s->names_bytes -= ch_store_carried(s->store);
	err = ship_names_send(s->names, s->store);
	s->names_bytes += ch_store_carried(s->store);
	s->rows_bytes -= ch_store_sent(s->store);
	if (!err)
		err = ship_rows_send(&b->rows, s->store);
	s->rows_bytes += ch_store_sent(s->store);
	if (!err)
		err = ship_holes_send(&b->holes, s->store, b->due.epoch, b->due.nr,
				      &nr_dropped);
	if (!err)
		err = ship_origin_send(s->store, &s->told, b->due.epoch, b->due.nr);
	if (!err)
		err = check_identity(s);
	if (!err)
		err = ship_commit(s->store, b->due.epoch, b->due.nr);
	if (!err)
		s->stats.nr_dropped += nr_dropped;
	return err ? err : advance(b);
}

static void batch_free(struct batch *b)
{
	for (size_t i = 0; i < b->due.nr; i++)
		ship_epoch_fini(&b->due.epoch[i]);
	ship_rows_fini(&b->rows);
	ship_holes_fini(&b->holes);
	db_close(b->db);
	free(b);
}

/* One attempt; *is_stale: the store lacks what it had, and nothing was sent. */
static int step(struct shipper *s, size_t *nr, bool *is_stale)
{
	struct batch *b = calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->shipper = s;
	err = db_open(s->path, DB_READ_CHECKED, &b->db);
	if (!err)
		err = fleetid_register(db_handle(b->db));
	if (!err)
		err = ship_sums_prepare(db_handle(b->db));
	if (!err)
		err = find_epochs(b);
	if (!err && b->due.nr)
		err = check_cursors(b);
	*is_stale = b->is_stale;
	if (err || b->is_stale)
		goto out;
	s->names_bytes -= ch_store_carried(s->store);
	err = ship_names_ask(s->names, b->db, s->store);
	s->names_bytes += ch_store_carried(s->store);
	if (!err)
		err = b->due.nr ? send_batch(b) : end_rewinds(b);
	if (!err && s->cursors.nr) /* a machine without runs has no number */
		err = ship_notes_send(s->notes, b->db, s->told.host, s->store);
	s->names_bytes -= ch_store_carried(s->store);
	if (!err)
		err = ship_names_of_images(s->names, b->db, s->store,
					   s->how.sums_ns || s->how.bytes);
	s->names_bytes += ch_store_carried(s->store);
	if (!err)
		*nr = b->due.nr;
out:
	if ((err || b->is_stale) && b->db && db_read_check(b->db) == -EAGAIN)
		err = -EAGAIN; /* whatever it was */
	batch_free(b);
	return err;
}

uint64_t shipper_every_ns(const struct shipper *s)
{
	return ship_budget_every_ns(&s->budget, &s->how);
}

int shipper_step(struct shipper *s, size_t *nr)
{
	const uint64_t carried = ch_store_carried(s->store);
	bool is_stale = false;
	int err = meet_store(s);

	s->rows_bytes = s->names_bytes = 0;
	if (!err)
		err = step(s, nr, &is_stale);
	if (!err && is_stale) {
		err = forget_store(s);
		if (!err)
			err = step(s, nr, &is_stale);
		if (!err && is_stale)
			err = -EAGAIN;
	}
	if (err) /* the store knows better how far it is */
		ship_cursors_forget(&s->cursors);
	ship_budget_note(&s->budget, !err, s->rows_bytes,
			 ch_store_carried(s->store) - carried - s->rows_bytes -
				 s->names_bytes);
	return err;
}
