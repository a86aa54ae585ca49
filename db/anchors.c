/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/anchors.h"

#include <errno.h>
#include <inttypes.h>

#include "base/log.h"
#include "db/db.h"
#include "db/intern.h"
#include "db/query.h"
#include "db/rows.h"
#include "db/sql.h"

/* Two rows of one place and command become one. */
#define ADD_UP                                                             \
	" ON CONFLICT DO UPDATE SET visits = visits + excluded.visits,"    \
	" hits = hits + excluded.hits,"                                    \
	" enabled_ns = enabled_ns + excluded.enabled_ns,"                  \
	" running_ns = running_ns + excluded.running_ns,"                  \
	" hit_ns = hit_ns + excluded.hit_ns, rate = rate + excluded.rate," \
	" squares = squares + excluded.squares"
#define COLUMNS                                                                   \
	"image, start, comm, visits, hits, enabled_ns, running_ns, hit_ns, rate," \
	" squares"
#define ADD_VISITS " ON CONFLICT DO UPDATE SET visits = visits + excluded.visits"
#define ADD_LOSS   " ON CONFLICT DO UPDATE SET n = n + excluded.n"

void anchor_sums_add(struct anchor_sums *to, const struct anchor_sums *from)
{
	to->visits += from->visits;
	to->hits += from->hits;
	to->enabled_ns += from->enabled_ns;
	to->running_ns += from->running_ns;
	to->hit_ns += from->hit_ns;
	to->rate += from->rate;
	to->squares += from->squares;
}

int anchors_check_flush(const struct flush_anchors *f, uint64_t seq, const char *path)
{
	uint64_t stored = 0, lost = 0;

	for (size_t i = 0; i < f->nr_anchors; i++)
		stored += f->anchor[i].sums.visits;
	for (size_t i = 0; i < f->nr_losses; i++)
		lost += f->loss[i].n;
	if (f->visits == stored + lost && f->visits <= INT64_MAX)
		return 0;
	log_err("db: %s: flush %" PRIu64 ": anchors do not add up: visits %" PRIu64
		", stored %" PRIu64 ", lost %" PRIu64,
		path, seq, f->visits, stored, lost);
	return -EINVAL;
}

static int add_anchor(sqlite3 *h, int64_t epoch, const struct flush_anchor *a,
		      sqlite3_stmt *search)
{
	const struct anchor_sums *s = &a->sums;
	int64_t image;
	int err = intern_image(search, a->image, &image);

	if (err)
		return err;
	return sql_do(h,
		      "INSERT INTO anchor (epoch, " COLUMNS ") VALUES"
		      " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)" ADD_UP,
		      "iiisiiiiirr", epoch, image, a->start, a->comm, s->visits,
		      s->hits, s->enabled_ns, s->running_ns, s->hit_ns, s->rate,
		      s->squares);
}

int anchors_merge(sqlite3 *h, int64_t epoch, const struct flush_anchors *f,
		  sqlite3_stmt *search)
{
	int err = 0;

	if (f->visits)
		err = sql_do(h,
			     "INSERT INTO anchor_tally (epoch, visits)"
			     " VALUES (?1, ?2)" ADD_VISITS,
			     "ii", epoch, f->visits);
	for (size_t i = 0; !err && i < f->nr_anchors; i++)
		err = add_anchor(h, epoch, &f->anchor[i], search);
	for (size_t i = 0; !err && i < f->nr_losses; i++) {
		if (f->loss[i].n)
			err = sql_do(h,
				     "INSERT INTO anchor_loss (epoch, name, n)"
				     " VALUES (?1, ?2, ?3)" ADD_LOSS,
				     "isi", epoch, f->loss[i].name, f->loss[i].n);
	}
	return err;
}

/* All of it is short: places that had a breakpoint. */
int anchors_move(sqlite3 *h, int64_t epoch, int64_t target)
{
	static const char *const statements[] = {
		"INSERT INTO anchor (epoch, " COLUMNS ") SELECT ?2, " COLUMNS
		" FROM anchor WHERE epoch = ?1" ADD_UP,
		"INSERT INTO anchor_loss (epoch, name, n) SELECT ?2, name, n"
		" FROM anchor_loss WHERE epoch = ?1" ADD_LOSS,
		"INSERT INTO anchor_tally (epoch, visits) SELECT ?2, visits"
		" FROM anchor_tally WHERE epoch = ?1" ADD_VISITS,
		"DELETE FROM anchor WHERE epoch = ?1 AND ?2",
		"DELETE FROM anchor_loss WHERE epoch = ?1 AND ?2",
		"DELETE FROM anchor_tally WHERE epoch = ?1 AND ?2",
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(statements) / sizeof(statements[0]); i++)
		err = sql_do(h, statements[i], "ii", epoch, target);
	return err;
}

struct reading {
	query_anchor_fn fn;
	void *ctx;
};

static int read_row(sqlite3_stmt *st, void *ctx)
{
	const struct reading *r = ctx;
	const struct query_anchor a = {
		.image = sqlite3_column_int64(st, 0),
		.start = sqlite3_column_int64(st, 1),
		.comm = sql_text(st, 2),
		.sums = {
			.visits = sqlite3_column_int64(st, 3),
			.hits = sqlite3_column_int64(st, 4),
			.enabled_ns = sqlite3_column_int64(st, 5),
			.running_ns = sqlite3_column_int64(st, 6),
			.hit_ns = sqlite3_column_int64(st, 7),
			.rate = sqlite3_column_double(st, 8),
			.squares = sqlite3_column_double(st, 9),
		},
	};

	return r->fn(r->ctx, &a);
}

int query_anchors(struct db *db, const struct query_epochs *e, query_anchor_fn fn,
		  void *ctx)
{
	static const char sql[] =
		"SELECT image, start, comm, sum(visits), sum(hits), sum(enabled_ns),"
		" sum(running_ns), sum(hit_ns), total(rate), total(squares) FROM anchor"
		" WHERE epoch IN (SELECT value FROM json_each(?1))"
		" GROUP BY image, start, comm ORDER BY image, start, comm";
	struct reading r = { fn, ctx };
	struct buf ids = { 0 };
	int err = rows_epoch_ids(e, &ids);

	if (!err)
		err = sql_each(db_handle(db), read_row, &r, sql, "s", ids.data);
	buf_fini(&ids);
	return err;
}
