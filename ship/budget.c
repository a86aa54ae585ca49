/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * budget.c - keeps what is shipped of a day within a number of bytes
 */
#include "config.h"

#include "ship/budget.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/times.h"
#include "ship/sums.h"

#define DAY_NS      (24 * NSEC_PER_HOUR)
#define DAY_S       (DAY_NS / NSEC_PER_SEC)
#define MINUTE_NS   (60 * NSEC_PER_SEC)
#define FIRST_NS    (10 * MINUTE_NS) /* after the start, epochs are shipped whole */
#define LEAST_BYTES 2048             /* for the rows of a sum */
#define LOOKS       6                /* in the length of a sum, or more */
/* Often enough for the alert CpiShipBehind, which needs reports that none waits. */
#define MOST_EVERY_NS (30 * MINUTE_NS)
/* If a batch differs from the plan by a larger ratio, only this ratio is learned. */
#define MOST_RATIO 4.0

/* Before anything is measured: more than most machines need. */
#define BYTES_WHOLE 10.0
#define BYTES_KEPT  6.0
#define BYTES_BATCH 12000.0
#define BYTES_ROW   4.5 /* of table profile, with all that belongs to it */

/* Bounds of what is measured. */
#define LEAST_PER_SAMPLE 0.25
#define MOST_PER_SAMPLE  64.0

void ship_budget_init(struct ship_budget *b)
{
	*b = (struct ship_budget){ .begun_ns = time_real_ns(),
				   .begun_mono_ns = time_mono_ns(),
				   .day = time_real_ns() / DAY_NS,
				   .per_whole = BYTES_WHOLE,
				   .per_kept = BYTES_KEPT,
				   .batch = BYTES_BATCH };
}

static void begin_day(struct ship_budget *b, uint64_t day)
{
	b->day = day;
	b->spent = b->planned_of_day = 0;
	b->has_read = false;
}

/* rows, epochs */
static int take_spent(void *ctx, const struct rowbinary_cell *cells)
{
	struct ship_budget *b = ctx;

	b->spent += BYTES_ROW * (double)cells[0].n + b->batch * (double)cells[1].n;
	return 0;
}

int ship_budget_ask(struct ship_budget *b, const struct ship_how *how, uint32_t host,
		    uint64_t at_ns, struct ch_store *store)
{
	char sql[256];
	int err;

	if (!how->bytes || (b->has_read && at_ns / DAY_NS == b->day))
		return 0;
	begin_day(b, at_ns / DAY_NS);
	snprintf(sql, sizeof(sql),
		 "SELECT toUInt64(sum(nr_rows)), toUInt64(count()) FROM epoch WHERE"
		 " host = %" PRIu32 " AND toUInt32(at) >= %llu AND toUInt32(at) < %llu"
		 " FORMAT RowBinary",
		 host, b->day * DAY_S, (b->day + 1) * DAY_S);
	err = ch_store_query(store, sql, "88", 1024, take_spent, b);
	b->has_read = !err;
	return err;
}

void ship_budget_begin(struct ship_budget *b)
{
	b->reserved = b->planned = b->planned_of_day = 0;
	b->has_whole = b->has_sums = false;
}

static double day_bytes(const struct ship_how *how, uint32_t nr_cpus)
{
	return (double)how->bytes * (nr_cpus ? nr_cpus : 1);
}

/* At most a quarter of a day's bytes goes to what each batch takes besides its rows. */
uint64_t ship_budget_length(const struct ship_how *how, uint32_t nr_cpus)
{
	static const uint64_t hours[] = { 1, 2, 3, 4, 6, 8, 12 };

	if (how->sums_ns || !how->bytes)
		return how->sums_ns;
	for (size_t i = 0; i < sizeof(hours) / sizeof(hours[0]); i++) {
		if (24 / hours[i] * BYTES_BATCH <= day_bytes(how, nr_cpus) / 4)
			return hours[i] * NSEC_PER_HOUR;
	}
	return DAY_NS;
}

/* The epoch is one of the first that the process sees end, and small enough. */
static bool is_whole(struct ship_budget *b, const struct ship_how *how,
		     const struct ship_epoch *e)
{
	const double size = (double)e->stored * b->per_whole + b->batch;
	const double spent = e->from_ns / DAY_NS == b->day ? b->spent : 0;

	if (how->sums_ns || e->to_ns + MINUTE_NS * 2 < b->begun_ns ||
	    e->to_ns > b->begun_ns + FIRST_NS ||
	    spent + b->reserved + size > day_bytes(how, e->platform.nr_cpus) / 2)
		return false;
	b->reserved += size;
	return true;
}

struct ship_how ship_budget_of(struct ship_budget *b, const struct ship_how *how,
			       const struct ship_epoch *e)
{
	struct ship_how of = *how;

	if (!how->bytes)
		return of;
	of.sums_ns = ship_budget_length(how, e->platform.nr_cpus);
	b->sums_ns = of.sums_ns;
	if (is_whole(b, how, e))
		of.sums_ns = 0;
	return of;
}

/*
 * 1, 2, 3, 5, 7, 10, 20 and so on, not less than n: each is a stream of its own in the
 * store, so there are only a few.
 */
static uint64_t round_up(double n)
{
	static const uint64_t steps[] = { 1, 2, 3, 5, 7 };

	for (uint64_t ten = 1; ten < SHIP_MAX_THIN; ten *= 10) {
		for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			if ((double)(steps[i] * ten) >= n)
				return steps[i] * ten;
		}
	}
	return SHIP_MAX_THIN;
}

/* Bytes for the rows of a sum: its share of what is left of its day. */
static double share_of(const struct ship_budget *b, const struct ship_how *how,
		       const struct ship_epoch *e)
{
	const double left = day_bytes(how, e->platform.nr_cpus) - b->spent;
	const double length = (double)(e->to_ns - e->from_ns);
	const double rest = (double)((b->day + 1) * DAY_NS - e->from_ns);
	const double share = left * (length < rest ? length / rest : 1) - b->batch;

	return share < LEAST_BYTES ? LEAST_BYTES : share;
}

static void add(struct ship_budget *b, double bytes)
{
	b->planned += bytes;
	b->planned_of_day += bytes;
	b->spent += bytes;
}

void ship_budget_plan(struct ship_budget *b, const struct ship_how *how,
		      struct ship_epoch *e)
{
	const uint64_t day = e->from_ns / DAY_NS;
	double all;

	if (!how->bytes)
		return;
	if (day != b->day)
		begin_day(b, day);
	if (!e->one_in) {
		b->has_whole = true;
		add(b, (double)e->stored * b->per_whole);
		return;
	}
	all = (double)e->stored * b->per_kept;
	if (!how->one_in)
		e->one_in = round_up(all / share_of(b, how, e));
	b->has_sums = true;
	add(b, all / (double)e->one_in);
}

static double bounded(double n)
{
	return n < LEAST_PER_SAMPLE  ? LEAST_PER_SAMPLE
	       : n > MOST_PER_SAMPLE ? MOST_PER_SAMPLE
				     : n;
}

/*
 * Moves the estimate half of the way to the measured value, on a logarithmic scale. A
 * ratio beyond MOST_RATIO is taken for an accident, and limited.
 */
static double closer(double per_sample, double ratio)
{
	return bounded(per_sample *
		       sqrt(fmax(1.0 / MOST_RATIO, fmin(MOST_RATIO, ratio))));
}

void ship_budget_note(struct ship_budget *b, bool is_committed, uint64_t rows,
		      uint64_t others)
{
	const double ratio = b->planned > 0 ? (double)rows / b->planned : 1;
	/* Else the batch had an epoch that could not be read, or next to no samples. */
	const bool is_typical = is_committed && rows && b->planned >= LEAST_BYTES;

	b->spent += b->planned_of_day * (ratio - 1) + (double)others;
	if (is_typical)
		b->batch += ((double)others - b->batch) / 4;
	if (is_typical && b->has_whole)
		b->per_whole = closer(b->per_whole, ratio);
	if (is_typical && b->has_sums)
		b->per_kept = closer(b->per_kept, ratio);
	ship_budget_begin(b);
}

uint64_t ship_budget_every_ns(const struct ship_budget *b, const struct ship_how *how)
{
	const uint64_t sums_ns = how->sums_ns || !how->bytes ? how->sums_ns
				 : b->sums_ns                ? b->sums_ns
							     : NSEC_PER_HOUR;
	const bool has_first = how->bytes && !how->sums_ns &&
			       time_mono_ns() - b->begun_mono_ns < FIRST_NS;

	if (!sums_ns || has_first)
		return MINUTE_NS;
	return sums_ns / LOOKS < MOST_EVERY_NS ? sums_ns / LOOKS : MOST_EVERY_NS;
}
