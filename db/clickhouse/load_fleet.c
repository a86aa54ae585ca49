/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * load_fleet.c - lets the store select and add up more epochs than can be loaded
 *
 * spec becomes a condition in the store's SQL, which selects the epochs that
 * db/query/epochs.c would select. Then each run becomes one epoch, from the begin of
 * its first selected epoch to the end of its last. If there is time between these
 * epochs, the run becomes two: the last epoch, and one as long as all others together.
 * Later the caller applies spec to the result, which selects all of it.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/clickhouse/daysums.h"
#include "db/clickhouse/load_private.h"
#include "db/core/sql.h"

#define SLACK_NS NSEC_PER_SEC

/* Epochs that overlap the times; see SLACK of db/query/epochs.c. */
static void put_overlap(const struct load *l, uint64_t from_ns, uint64_t to_ns,
			struct buf *sql)
{
	uint64_t slack = (to_ns - from_ns) / 2;

	load_put_times(l, sql);
	if (slack > SLACK_NS)
		slack = SLACK_NS;
	buf_printf(sql,
		   " AND (to_ns > %" PRIu64 " + least(%" PRIu64
		   ", intDiv(to_ns - from_ns, 2)) OR from_ns >= %" PRIu64
		   ") AND from_ns + least(%" PRIu64
		   ", intDiv(to_ns - from_ns, 2)) < %" PRIu64,
		   from_ns, slack, from_ns, slack, to_ns);
}

/* Whether spec chooses by what a row of table epoch has; then appends that. */
static bool put_spec(const struct load *l, struct buf *sql)
{
	const char *spec = l->spec;
	uint64_t from_ns, to_ns;

	if (!spec)
		return false;
	if (!strcmp(spec, "all"))
		return true;
	if (!query_asked_times(spec, db_now_ns(l->db), &from_ns, &to_ns)) {
		put_overlap(l, from_ns, to_ns, sql);
		return true;
	}
	if (query_is_no_label(spec) || strchr(spec, ',') || strstr(spec, ".."))
		return false;
	buf_puts(sql, " AND label = ");
	ch_put_literal(sql, spec);
	return true;
}

static int count_epochs(struct load *l, struct buf *where, uint64_t *nr)
{
	struct buf sql = { 0 };
	int err;

	*nr = 0;
	buf_printf(&sql, "SELECT count() FROM epoch%s FORMAT RowBinary",
		   buf_str(where));
	err = ch_store_query_buf(l->store, &sql, "8", 1024, rowbinary_take_number, nr);
	buf_fini(&sql);
	return err;
}

/*
 * A run becomes one epoch (piece 1). If its epochs have gaps, it becomes two: piece
 * 0 for all but the last epoch, piece 2 for the last.
 */
static int load_runs(struct load *l, struct buf *where)
{
	struct buf sql = { 0 };
	int err;

	buf_printf(
		&sql,
		"SELECT first_host, first_at, toUInt64(piece), first_id, one_label,"
		" if(piece = 2, toUInt64(end - tail), begin), if(piece = 0,"
		" toUInt64(begin + length - tail), end), sharp, run_from_ns, run_end,"
		" state, name, arch, cpu, release, boot_id, clock_hz, nr_cpus, kept_of "
		"FROM "
		"(SELECT toUInt64(argMin(host,"
		" from_ns)) AS first_host, min(toUInt64(toUInt32(at))) AS first_at,"
		" argMin(id, from_ns) AS first_id, if(min(label) = max(label),"
		" min(label), '') AS one_label, min(from_ns) AS begin, max(to_ns) AS"
		" end, toUInt64(argMax(to_ns - from_ns, to_ns)) AS tail, toUInt64(sum("
		"to_ns - from_ns)) AS length, max(uncertainty_ms) AS sharp, "
		"run_from_ns,"
		" max(run_to_ns) AS run_end, max(run_state) AS state, max(one_in) AS "
		"kept_of, name, arch, cpu,"
		" release, boot_id, clock_hz, nr_cpus FROM epoch%s GROUP BY "
		"run_from_ns,"
		" name, arch, cpu, release, boot_id, clock_hz, nr_cpus) AS runs ARRAY"
		" JOIN if(end - begin > length, [0, 2], [1]) AS piece ORDER BY begin,"
		" first_host, piece LIMIT %u FORMAT RowBinary",
		buf_str(where), LOAD_MAX_EPOCHS);
	err = load_epochs_by(l, &sql);
	buf_fini(&sql);
	for (size_t i = 0; i < l->nr; i++)
		l->epoch[i].selected = true;
	if (!err && !l->nr) { /* they were removed meanwhile */
		log_err("%s: there is no such epoch any more", db_path(l->db));
		err = -ENOENT;
	}
	if (!err && l->nr == LOAD_MAX_EPOCHS) {
		log_err("%s: these are more than %u runs: choose fewer hosts",
			db_path(l->db), LOAD_MAX_EPOCHS);
		err = -CPI_ELIMIT;
	}
	return err;
}

/* What to add up: the lots of days that have one, and rows of the others. */
static int choose_rows(struct load *l, struct buf *where)
{
	int err = daysums_find(l->store, buf_str(where), &l->days, NULL);

	if (err)
		return err;
	buf_printf(&l->where,
		   " WHERE (host, at, nr) GLOBAL IN (SELECT host, at, nr FROM epoch%s)",
		   buf_str(where));
	load_put_times(l, &l->where);
	return l->where.err;
}

static int in_transaction(struct load *l, struct buf *where)
{
	int err = sql_exec(l->h, "BEGIN");

	return err ? err : sql_finish(l->h, load_runs(l, where));
}

int load_fleet(struct load *l, const struct load_machines *of, bool *found)
{
	struct buf where = { 0 };
	uint64_t nr = 0;
	int err = 0;

	buf_puts(&where, " WHERE" DAYSUMS_VALID);
	*found = !of->platform && put_spec(l, &where);
	if (*found)
		err = store_choice_put(l->store, &l->choice, &where);
	if (*found && !err)
		err = count_epochs(l, &where, &nr);
	*found &= nr > LOAD_MAX_SELECTED;
	if (*found && !err)
		err = in_transaction(l, &where);
	if (*found && !err)
		err = choose_rows(l, &where);
	if (*found && !err)
		log_info("%s: %" PRIu64 " epochs, added up by the store: without call "
			 "stacks, branches and windows",
			 db_path(l->db), nr);
	buf_fini(&where);
	return err;
}
