/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rollup.c - moves the rows of several epochs into one, slice by slice
 *
 *	rollup_begin()  adds a row to table roll for each epoch
 *	profiles        by image and context, all epochs at once; the target's row in
 *			roll has the image and context of the last group that was moved
 *	other rows      epoch by epoch; removes the epoch and its row in roll
 *	end             removes the target's row in roll
 *
 * A group (the profiles of one image and context) is merged from all epochs at once,
 * because its spread needs them. This is done before the slice that writes it begins.
 */
#include "config.h"

#include "db/retain/rollup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "base/times.h"
#include "db/core/rows.h"
#include "db/core/sql.h"
#include "db/retain/rollup_private.h"

#define MAX_READY   64                   /* groups that are merged before writing */
#define MAX_BYTES   (256 << 10)          /* ... their size, at most */
#define PREPARED_NS (50 * NSEC_PER_MSEC) /* ... and the time for merging */

struct rollup {
	struct slice *slice;
	struct rollup_day day;
	struct profile_row *part; /* by image, context, stream, kind, epoch */
	size_t nr_parts;
	size_t next; /* the first part that is in no group yet */
	struct group ready[MAX_READY];
	size_t nr_ready, nr_written;
	size_t nr_finished; /* epochs */
	struct rollup_progress progress;
};

static int compare_parts(const void *a, const void *b)
{
	const struct profile_row *x = a, *y = b;

	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

static int read_part(sqlite3_stmt *st, void *ctx)
{
	struct rollup *r = ctx;

	if (GROW(r->part, r->nr_parts))
		return -ENOMEM;
	r->part[r->nr_parts++] = (struct profile_row){
		.image = sqlite3_column_int64(st, 0),
		.context = sqlite3_column_int64(st, 1),
		.stream = sqlite3_column_int64(st, 2),
		.kind = sqlite3_column_int64(st, 3),
		.epoch = sqlite3_column_int64(st, 4),
		.counted = sqlite3_column_int64(st, 5),
	};
	return 0;
}

/* Lists the parts of all groups that have not been moved yet. */
static int plan(struct rollup *r, int64_t target)
{
	static const char sql[] =
		"SELECT p.image, p.context, p.stream, p.kind, p.epoch,"
		" iif(p.kind = 0 AND p.context = 0, p.total, 0)"
		" FROM roll o JOIN profile p ON p.epoch = o.epoch WHERE o.target = ?1"
		" AND (p.image, p.context) >"
		" (SELECT image, context FROM roll WHERE epoch = ?1)";
	int err = sql_each(r->slice->h, read_part, r, sql, "i", target);

	if (!err && r->nr_parts)
		qsort(r->part, r->nr_parts, sizeof(*r->part), compare_parts);
	return err;
}

int rollup_resume(struct slice *s, struct rollup **out)
{
	struct rollup *r;
	int64_t target;
	int err =
		sql_get(s->h, &target,
			"SELECT target FROM roll WHERE target IS NOT NULL LIMIT 1", "");

	if (err == -ENOENT) {
		*out = NULL;
		return 0;
	}
	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->slice = s;
	r->nr_finished = 1; /* the first epoch is the target, which stays */
	err = day_load(s->h, target, &r->day);
	if (!err)
		err = plan(r, target);
	if (err)
		rollup_free(r);
	else
		*out = r;
	return err;
}

void rollup_free(struct rollup *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->nr_ready; i++)
		group_fini(&r->ready[i]);
	day_fini(&r->day);
	free(r->part);
	free(r);
}

static size_t group_bytes(const struct group *g)
{
	size_t bytes = 0;

	for (size_t i = 0; i < g->nr_merged; i++)
		bytes += g->merged[i].counts.len;
	return bytes;
}

/* Merges the next group. A damaged group is not merged and stays in its epochs. */
static int merge_next(struct rollup *r, size_t *bytes)
{
	struct profile_row *first = &r->part[r->next];
	struct group *g = &r->ready[r->nr_ready];
	int err;

	*g = (struct group){ .part = first };
	while (r->next < r->nr_parts && r->part[r->next].image == first->image &&
	       r->part[r->next].context == first->context) {
		r->next++;
		g->nr_parts++;
	}
	err = group_merge(r->slice->h, &r->day, g);
	if (err == -CPI_ECORRUPT)
		log_warn("db: %s: profiles of image %" PRId64 " are not rolled up",
			 sqlite3_db_filename(r->slice->h, "main"), first->image);
	if (err) {
		group_fini(g);
		return err == -CPI_ECORRUPT ? 0 : err;
	}
	r->nr_ready++;
	*bytes += group_bytes(g);
	return 0;
}

static int merge_some(struct rollup *r)
{
	const uint64_t begun_ns = time_mono_ns();
	size_t bytes = 0;
	int err = 0;

	for (size_t i = 0; i < r->nr_ready; i++)
		group_fini(&r->ready[i]);
	r->nr_ready = r->nr_written = 0;
	while (!err && r->next < r->nr_parts && r->nr_ready < MAX_READY &&
	       bytes < MAX_BYTES && time_mono_ns() - begun_ns < PREPARED_NS)
		err = merge_next(r, &bytes);
	return err;
}

static int write_some(struct rollup *r)
{
	size_t nr = r->nr_written;
	int err = slice_begin(r->slice);

	if (err)
		return err;
	do {
		err = group_write(r->slice->h, &r->day, &r->ready[nr++]);
	} while (!err && nr < r->nr_ready && !slice_is_full(r->slice));
	err = slice_end(r->slice, err);
	if (!err)
		r->nr_written = nr;
	return err;
}

static int finish_some(struct rollup *r)
{
	const int64_t target = r->day.epoch[0];
	struct rollup_progress progress = r->progress;
	size_t nr = r->nr_finished;
	int more = 0, err = slice_begin(r->slice);

	if (err)
		return err;
	while (nr < r->day.nr_epochs && !more && !slice_is_full(r->slice)) {
		more = rollup_finish_epoch(r->slice, r->day.epoch[nr], target,
					   &progress);
		nr += !more;
	}
	err = more < 0 ? more : 0;
	if (!err && nr == r->day.nr_epochs)
		err = sql_do(r->slice->h, "DELETE FROM roll WHERE epoch = ?1", "i",
			     target);
	err = slice_end(r->slice, err);
	if (err)
		return err;
	r->nr_finished = nr;
	r->progress = progress;
	return nr < r->day.nr_epochs;
}

/* Only a day has rows in table rolled (rollup_begin.c), and thus events. */
enum rollup_unit rollup_unit(const struct rollup *r)
{
	return r->day.nr_events ? ROLLUP_DAY : ROLLUP_HOUR;
}

int rollup_step(struct rollup *r)
{
	int err = 0;

	if (r->nr_written == r->nr_ready && r->next < r->nr_parts)
		err = merge_some(r);
	if (!err && r->nr_written < r->nr_ready)
		err = write_some(r);
	else if (!err && r->next == r->nr_parts)
		return finish_some(r);
	return err ? err : 1;
}
