/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_epochs.c - the complete shipments of a store, as epochs of a database
 *
 * An epoch keeps the id that its machine gave it while all are of one machine. Those of
 * several get the host's number in front. A machine whose database was made anew has
 * ids twice; the later ones get the next free ids.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/daysums.h"
#include "db/clickhouse/load_private.h"
#include "db/core/sql.h"

#define LONGEST_S 90000 /* of an epoch */

/* Columns of a row, by their place in COLUMNS. */
enum {
	HOST,
	AT,
	NR,
	ID,
	LABEL,
	FROM,
	TO,
	UNCERTAINTY,
	RUN_FROM,
	RUN_TO,
	RUN_STATE,
	NAME,
	ONE_IN = 18,
};

#define COLUMNS                                                               \
	"toUInt64(host), toUInt64(toUInt32(at)), toUInt64(nr), id, label,"    \
	" from_ns, to_ns, uncertainty_ms, run_from_ns, run_to_ns, run_state," \
	" name, arch, cpu, release, boot_id, clock_hz, nr_cpus, one_in"
#define TYPES LOAD_EPOCH_TYPES

void load_bind(sqlite3_stmt *st, int first, const char *types,
	       const struct rowbinary_cell *cells)
{
	double real;

	for (int i = 0; types[i]; i++) {
		const struct rowbinary_cell *c = &cells[i];

		switch (types[i]) {
		case 's':
			sqlite3_bind_text64(st, first + i, c->text, c->len,
					    SQLITE_TRANSIENT, SQLITE_UTF8);
			break;
		case 'b':
			sqlite3_bind_blob64(st, first + i, c->text, c->len,
					    SQLITE_TRANSIENT);
			break;
		case 'f':
			memcpy(&real, &c->n, sizeof(real));
			sqlite3_bind_double(st, first + i, real);
			break;
		default:
			sqlite3_bind_int64(st, first + i, (sqlite3_int64)c->n);
		}
	}
}

static int compare(const void *x, const void *y)
{
	const struct load_epoch *a = x, *b = y;

	if (a->host != b->host)
		return a->host < b->host ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->nr < b->nr ? -1 : a->nr > b->nr;
}

const struct load_epoch *load_find(const struct load *l,
				   const struct rowbinary_cell *address)
{
	const struct load_epoch key = { .host = address[0].n,
					.at = address[1].n,
					.nr = address[2].n };

	return l->nr ? bsearch(&key, l->epoch, l->nr, sizeof(key), compare) : NULL;
}

struct loading {
	struct load *load;
	bool several; /* machines */
	sqlite3_stmt *platform, *run, *epoch;
};

static int run_bound(sqlite3_stmt *st, const struct rowbinary_cell *cells, int last)
{
	char types[] = TYPES;

	types[last] = '\0';
	load_bind(st, 1, types, cells);
	return sql_run(st);
}

/* An id of 31 bits behind a host's number of 31 bits; else, or if it is taken, a free
 * one.
 */
static int take_id(struct loading *g, const struct rowbinary_cell *cells, int64_t *id)
{
	const uint64_t own = cells[ID].n, host = cells[HOST].n;
	int64_t found, max;
	int err = 0;

	if (own && own <= INT32_MAX && host <= INT32_MAX) {
		*id = g->several ? QUERY_EPOCH_ID(host, (int64_t)own) : (int64_t)own;
		err = sql_get(g->load->h, &found, "SELECT 1 FROM epoch WHERE id = ?1",
			      "i", *id);
		if (err)
			return err == -ENOENT ? 0 : err;
	}
	err = sql_get(g->load->h, &max, "SELECT coalesce(max(id), 0) FROM epoch", "");
	if (!err && __builtin_add_overflow(max, 1, id))
		err = -CPI_ELIMIT;
	return err;
}

static int note_epoch(void *ctx, const struct rowbinary_cell *cells)
{
	struct loading *g = ctx;
	struct load *l = g->load;
	struct rowbinary_cell row[ROWBINARY_MAX_COLUMNS];
	int64_t id = 0;
	int err;

	if (l->nr == LOAD_MAX_EPOCHS)
		return -CPI_ELIMIT;
	if (GROW(l->epoch, l->nr))
		return -ENOMEM;
	memcpy(row, cells, sizeof(row));
	err = take_id(g, cells, &id);
	row[ID].n = (uint64_t)id;
	if (!err)
		err = run_bound(g->platform, row, ONE_IN);
	if (!err)
		err = run_bound(g->run, row, ONE_IN);
	if (!err)
		err = run_bound(g->epoch, row, ONE_IN);
	if (!err)
		l->epoch[l->nr++] = (struct load_epoch){ .host = cells[HOST].n,
							 .at = cells[AT].n,
							 .nr = cells[NR].n,
							 .one_in = cells[ONE_IN].n,
							 .id = id };
	return err;
}

#define VALID DAYSUMS_VALID
#define PLATFORM                                                                \
	"host = ?12 AND arch = ?13 AND cpu = ?14 AND release = ?15 AND boot_id" \
	" = ?16 AND clock_hz = ?17 AND nr_cpus = ?18"

static int prepare(struct loading *g)
{
	sqlite3 *h = g->load->h;
	int err =
		sql_prepare(h,
			    "INSERT OR IGNORE INTO platform (host, arch, cpu, release,"
			    " boot_id, clock_hz, nr_cpus)"
			    " VALUES (?12, ?13, ?14, ?15, ?16, ?17, ?18)",
			    &g->platform);

	if (!err)
		err = sql_prepare(
			h,
			"INSERT INTO run (platform, from_ns, to_ns, state)"
			" SELECT id, ?9, ?10, ?11 FROM platform p WHERE " PLATFORM
			" AND NOT EXISTS (SELECT 1 FROM run"
			" WHERE platform = p.id AND from_ns = ?9)",
			&g->run);
	if (!err)
		err = sql_prepare(h,
				  "INSERT INTO epoch (id, run, label, from_ns, to_ns,"
				  " open, uncertainty_ms) SELECT ?4, id, ?5, ?6, ?7, 0,"
				  " ?8 FROM run WHERE from_ns = ?9 AND platform ="
				  " (SELECT id FROM platform WHERE " PLATFORM ")",
				  &g->epoch);
	return err;
}

/* The times that spec asks for; an epoch that began a day before may reach into them.
 */
void load_put_times(const struct load *l, struct buf *sql)
{
	uint64_t from_ns, to_ns, from_s, to_s;

	if (!l->spec || query_asked_times(l->spec, db_now_ns(l->db), &from_ns, &to_ns))
		return;
	from_s = from_ns / NSEC_PER_SEC;
	to_s = to_ns / NSEC_PER_SEC;
	buf_printf(sql, " AND at >= toDateTime(%" PRIu64 ")",
		   from_s > LONGEST_S ? from_s - LONGEST_S : 0);
	if (to_s < UINT32_MAX)
		buf_printf(sql, " AND at <= toDateTime(%" PRIu64 ")", to_s);
}

static int count_hosts(struct loading *g)
{
	struct buf sql = { 0 };
	uint64_t names = 0;
	int err;

	buf_puts(&sql, "SELECT uniqExact(name) FROM epoch WHERE" VALID);
	err = store_choice_put(g->load->store, &g->load->choice, &sql);
	buf_puts(&sql, " FORMAT RowBinary");
	if (!err)
		err = ch_store_query_buf(g->load->store, &sql, "8", 1024,
					 rowbinary_take_number, &names);
	g->several = names > 1;
	buf_fini(&sql);
	return err;
}

static int ask_epochs(struct load *l)
{
	struct buf sql = { 0 };
	int err;

	buf_puts(&sql, "SELECT " COLUMNS " FROM (SELECT * FROM epoch WHERE" VALID);
	err = store_choice_put(l->store, &l->choice, &sql);
	load_put_times(l, &sql);
	buf_printf(
		&sql,
		" ORDER BY from_ns DESC LIMIT %u) AS newest ORDER BY from_ns, host, nr"
		" FORMAT RowBinary",
		LOAD_MAX_EPOCHS);
	if (!err)
		err = load_epochs_by(l, &sql);
	buf_fini(&sql);
	return err;
}

int load_epochs_by(struct load *l, struct buf *sql)
{
	struct loading g = { .load = l };
	int err = count_hosts(&g);

	if (!err)
		err = prepare(&g);
	if (!err)
		err = sql->err;
	if (!err)
		err = ch_store_query(l->store, buf_str(sql), TYPES, LOAD_MAX_BYTES,
				     note_epoch, &g);
	sqlite3_finalize(g.platform);
	sqlite3_finalize(g.run);
	sqlite3_finalize(g.epoch);
	if (l->nr)
		qsort(l->epoch, l->nr, sizeof(*l->epoch), compare);
	return err;
}

int load_epochs(struct load *l)
{
	int err = ask_epochs(l);

	if (!err && l->nr == LOAD_MAX_EPOCHS)
		log_warn("%s: only the newest %u epochs are looked at: --host or times "
			 "choose among others",
			 db_path(l->db), LOAD_MAX_EPOCHS);
	return err;
}
