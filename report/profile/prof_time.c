/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_time.c - the time of each row over the epochs
 *
 * The rows of the whole selection exist already. They are gathered again for each
 * interval, and their values are added to the rows of the whole.
 */
#include "config.h"

#include "report/profile/prof_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/query/part_totals.h"
#include "report/profile/prof_rows.h"

#define BUCKETS   48   /* if no length is given */
#define LOOK_BACK 4096 /* epochs that are searched for a machine's previous one */
#define START_NS  (2 * NSEC_PER_SEC) /* from a run's beginning to its first epoch's */

/* The share of some epochs that each bucket gets; 0 outside first to last. */
struct bucket_shares {
	double share[PROF_MAX_INTERVALS];
	size_t first, last;
};

/* Returns the number of intervals of a length between two times; 0: too many. */
static size_t count_intervals(uint64_t from_ns, uint64_t to_ns, uint64_t length_ns)
{
	const uint64_t nr = (to_ns - from_ns + length_ns - 1) / length_ns;

	return nr > PROF_MAX_INTERVALS ? 0 : nr ? (size_t)nr : 1;
}

static int too_many(const struct prof *p, uint64_t ns)
{
	char length[DURATION_TEXT_SIZE], whole[DURATION_TEXT_SIZE];

	time_format_duration(p->req->interval_ns, length);
	time_format_duration(ns, whole);
	log_err("--interval: %s has more than %d intervals of %s: choose longer ones, "
		"or a shorter time",
		whole, PROF_MAX_INTERVALS, length);
	return -EINVAL;
}

int prof_make_buckets(struct prof *p)
{
	const struct query_epochs *e = &p->sel.epochs;
	const uint64_t length_ns = p->req->interval_ns;
	uint64_t from_ns = e->epoch[0].from_ns, to_ns = from_ns, width_ns;

	for (size_t i = 0; i < e->nr; i++)
		to_ns = e->epoch[i].to_ns > to_ns ? e->epoch[i].to_ns : to_ns;
	if (length_ns) {
		width_ns = length_ns;
		from_ns -= from_ns % length_ns;
		p->nr_buckets = count_intervals(from_ns, to_ns, length_ns);
	} else {
		p->nr_buckets = e->nr < BUCKETS ? e->nr : BUCKETS;
		width_ns = (to_ns - from_ns) / p->nr_buckets + 1;
	}
	if (!p->nr_buckets)
		return too_many(p, to_ns - from_ns);
	p->bucket = calloc(p->nr_buckets, sizeof(*p->bucket));
	if (!p->bucket)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_buckets; i++)
		p->bucket[i] = (struct prof_bucket){
			.from_ns = from_ns + i * width_ns,
			.to_ns = from_ns + (i + 1) * width_ns,
		};
	return 0;
}

static uint64_t overlap_ns(const struct query_epoch *e, const struct prof_bucket *b)
{
	const uint64_t from = e->from_ns > b->from_ns ? e->from_ns : b->from_ns;
	const uint64_t to = e->to_ns < b->to_ns ? e->to_ns : b->to_ns;

	return to > from ? to - from : 0;
}

static bool is_within(const struct query_epoch *e, const struct prof_bucket *b)
{
	return e->from_ns >= b->from_ns && e->from_ns < b->to_ns &&
	       e->to_ns <= b->to_ns;
}

size_t prof_slot(const struct prof *p, size_t epoch)
{
	const struct query_epoch *e = &p->sel.epochs.epoch[epoch];
	const uint64_t width_ns = p->bucket[0].to_ns - p->bucket[0].from_ns;
	const size_t bucket = (e->from_ns - p->bucket[0].from_ns) / width_ns;

	return bucket < p->nr_buckets && is_within(e, &p->bucket[bucket])
		       ? bucket
		       : PROF_MAX_INTERVALS + epoch;
}

/* The epoch before of the same machine, or NULL. */
static const struct query_epoch *epoch_before(const struct prof *p, size_t epoch)
{
	const struct query_epoch *e = p->sel.epochs.epoch;

	for (size_t i = epoch; i-- > 0 && epoch - i < LOOK_BACK;) {
		if (!strcmp(e[i].host, e[epoch].host))
			return &e[i];
	}
	return NULL;
}

bool prof_is_restart(const struct prof *p, size_t epoch)
{
	const struct query_epoch *before = epoch_before(p, epoch);

	return before && strcmp(before->boot_id, p->sel.epochs.epoch[epoch].boot_id);
}

/* Older epochs of its run may be gone, so the run's own beginning decides. */
bool prof_is_start(const struct prof *p, size_t epoch)
{
	const struct query_epoch *before = epoch_before(p, epoch),
				 *e = &p->sel.epochs.epoch[epoch];

	return before && !strcmp(before->boot_id, e->boot_id) &&
	       before->run_ns != e->run_ns && e->run_ns > before->run_ns &&
	       e->from_ns < e->run_ns + START_NS;
}

/*
 * Adds the rows of a part of the epochs to over_time of the rows of p, divided over the
 * buckets by share. A row's value is that of the primary event.
 */
static int take_rows(struct prof *p, const struct prof *part,
		     const struct bucket_shares *s)
{
	const size_t event =
		prof_is_one_time(p)
			? part->primary
			: events_named(&part->ev, p->ev.event[p->primary].name);

	for (size_t i = 0; i < part->nr_rows; i++) {
		struct prof_row *row = prof_same_row(p, part->row[i]);

		if (!row)
			continue;
		if (!row->over_time)
			row->over_time = calloc(p->nr_buckets, sizeof(*row->over_time));
		if (!row->over_time)
			return -ENOMEM;
		for (size_t b = s->first; b <= s->last; b++)
			row->over_time[b] +=
				s->share[b] * part->row[i]->tally[event].weight;
	}
	return 0;
}

/* Adds lost samples of the primary event; with combined time, of the first event. */
static void take_losses(struct prof *p, const struct prof *part,
			const struct bucket_shares *s)
{
	const size_t event = prof_is_one_time(p) ? 0 : p->primary;

	for (size_t i = 0; i < part->sel.losses.nr; i++) {
		const struct query_loss *l = &part->sel.losses.loss[i];
		double weight;
		size_t found;

		if (l->class != LOSS_LOST ||
		    !events_find(&part->ev, l->stream, &found, &weight) ||
		    strcmp(part->ev.event[found].name, p->ev.event[event].name) != 0)
			continue;
		for (size_t b = s->first; b <= s->last; b++)
			p->bucket[b].lost += s->share[b] * (double)l->n * weight;
	}
}

static bool has_stream(const struct query_streams *streams, const char *event)
{
	for (size_t i = 0; i < streams->nr; i++) {
		if (!strcmp(streams->stream[i].desc.event, event))
			return true;
	}
	return false;
}

/* Whether the streams have the primary event, or one that measures time. */
static bool has_primary(const struct prof *p, const struct query_streams *streams)
{
	if (!prof_is_one_time(p))
		return has_stream(streams, p->ev.event[p->primary].name);
	return has_stream(streams, p->ev.event[0].name) ||
	       (p->evidence.both && has_stream(streams, EVENT_TICKS));
}

/* totals: of these epochs */
static int gather(struct prof *p, const struct query_epochs *epochs, size_t slot,
		  const struct query_part *totals, const struct bucket_shares *s)
{
	struct prof part = { .req = p->req,
			     .sel = p->sel,
			     .whole = p,
			     .quiet = true,
			     .parts = p->parts,
			     .slot = slot };
	int err = 0;

	part.sel.epochs = *epochs;
	part.sel.query.epochs = &part.sel.epochs;
	part.sel.streams = totals->streams;
	part.sel.losses = totals->losses;
	if (has_primary(p, &part.sel.streams)) {
		err = prof_gather(&part);
		if (!err)
			err = take_rows(p, &part, s);
		if (!err)
			take_losses(p, &part, s);
	}
	prof_free_rows(&part);
	events_fini(&part.ev);
	return err;
}

/*
 * Reads the totals of the buckets, and behind them those of epochs that overlap several
 * buckets.
 */
static int read_totals(struct prof *p, struct query_parts *out)
{
	const struct query_epochs *e = &p->sel.epochs;
	uint32_t *part = calloc(e->nr + 1, sizeof(*part));
	size_t nr = p->nr_buckets;
	int err = part ? 0 : -ENOMEM;

	for (size_t i = 0; i < e->nr && !err; i++) {
		const size_t slot = prof_slot(p, i);

		part[i] = (uint32_t)(slot < PROF_MAX_INTERVALS ? slot : nr++);
	}
	if (!err)
		err = query_part_totals(p->sel.db, e, part, nr, &p->sel.streams,
					&p->sel.losses, out);
	free(part);
	return err;
}

/* Gathers the epochs that lie in one bucket together. epochs gets shallow copies. */
static int gather_bucket(struct prof *p, size_t bucket, const struct query_part *totals,
			 struct query_epochs *epochs, struct bucket_shares *s)
{
	struct prof_bucket *b = &p->bucket[bucket];

	epochs->nr = 0;
	for (size_t i = 0; i < p->sel.epochs.nr; i++) {
		const struct query_epoch *e = &p->sel.epochs.epoch[i];

		b->seconds += (double)overlap_ns(e, b) / NSEC_PER_SEC;
		if (is_within(e, b))
			epochs->epoch[epochs->nr++] = *e;
	}
	s->first = s->last = bucket;
	s->share[bucket] = 1;
	return epochs->nr ? gather(p, epochs, bucket, totals, s) : 0;
}

/* Spreads an epoch that overlaps several buckets evenly over them. */
static int gather_spread(struct prof *p, size_t epoch, const struct query_part *totals,
			 struct bucket_shares *s)
{
	const struct query_epoch *e = &p->sel.epochs.epoch[epoch];
	struct query_epoch copy = *e;
	const struct query_epochs one = { .epoch = &copy, .nr = 1 };
	const uint64_t width_ns = p->bucket[0].to_ns - p->bucket[0].from_ns;

	if (e->to_ns <= e->from_ns)
		return 0;
	s->first = (e->from_ns - p->bucket[0].from_ns) / width_ns;
	s->last = s->first;
	for (size_t b = s->first; b < p->nr_buckets; b++) {
		if (is_within(e, &p->bucket[b]))
			return 0;
		s->share[b] = (double)overlap_ns(e, &p->bucket[b]) /
			      (double)(e->to_ns - e->from_ns);
		if (s->share[b] > 0)
			s->last = b;
		else if (b > s->first)
			break;
	}
	return gather(p, &one, PROF_MAX_INTERVALS + epoch, totals, s);
}

/* Divides the sums by the buckets' seconds. */
static void divide_by_seconds(struct prof *p)
{
	const double unit = prof_primary_is_time(p) ? NSEC_PER_SEC : 1;

	for (size_t b = 0; b < p->nr_buckets; b++) {
		if (p->bucket[b].seconds > 0)
			p->bucket[b].lost /= unit * p->bucket[b].seconds;
	}
	for (size_t i = 0; i < p->nr_rows; i++) {
		double *over_time = p->row[i]->over_time;

		for (size_t b = 0; over_time && b < p->nr_buckets; b++)
			over_time[b] =
				p->bucket[b].seconds > 0
					? over_time[b] / unit / p->bucket[b].seconds
					: 0;
	}
}

int prof_over_time(struct prof *p)
{
	struct query_parts totals = { 0 };
	struct query_epochs epochs;
	struct bucket_shares *s = calloc(1, sizeof(*s));
	size_t next = 0; /* behind the totals of buckets */
	int err = 0;

	epochs.epoch = calloc(p->sel.epochs.nr, sizeof(*epochs.epoch));
	if (!epochs.epoch || !s)
		err = -ENOMEM;
	else if (!p->bucket)
		err = prof_make_buckets(p);
	if (!err)
		err = read_totals(p, &totals);
	for (size_t i = 0; !err && i < p->nr_buckets; i++)
		err = gather_bucket(p, i, &totals.part[i], &epochs, s);
	for (size_t i = 0; !err && i < p->sel.epochs.nr; i++) {
		if (prof_slot(p, i) >= PROF_MAX_INTERVALS)
			err = gather_spread(p, i, &totals.part[p->nr_buckets + next++],
					    s);
	}
	if (!err)
		divide_by_seconds(p);
	query_parts_fini(&totals);
	free(epochs.epoch);
	free(s);
	if (err == -ENOMEM)
		log_err("prof: %s", err_str(err));
	return err;
}

void prof_free_buckets(struct prof *p)
{
	free(p->bucket);
}

double prof_at(const struct prof_row *row, size_t bucket)
{
	return row->over_time ? row->over_time[bucket] : 0;
}
