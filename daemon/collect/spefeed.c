/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spefeed.c - decodes Arm SPE data that comes in pieces
 *
 * Bytes are decoded in place. Only a record that begins in one piece and ends in
 * the next is copied: its beginning is kept in rest, and joined with the first
 * bytes of the next piece.
 */
#include "config.h"

#include "daemon/collect/spefeed.h"

#include <linux/perf_event.h>
#include <string.h>

const struct spefeed_loss spefeed_losses[SPEFEED_NR_LOSSES] = {
	{ PERF_AUX_FLAG_TRUNCATED, SAMPLE_AUX_TRUNCATED },
	{ PERF_AUX_FLAG_COLLISION, SAMPLE_AUX_COLLISION },
	{ PERF_AUX_FLAG_PARTIAL, SAMPLE_AUX_PARTIAL },
};

uint64_t spe_clock_ns(const struct spe_clock *c, uint64_t ticks)
{
	uint64_t high, low;

	if (c->is_short)
		ticks = c->cycles + ((ticks - c->cycles) & c->mask);
	high = ticks >> c->shift;
	low = ticks & (((uint64_t)1 << c->shift) - 1);
	return c->zero + high * c->mult + ((low * c->mult) >> c->shift);
}

/*
 * Calls fn for the records that end in s, beginning at *at. Moves *at past the last
 * one.
 */
static int read_records(struct spefeed *f, const struct spe_stream *s, size_t *at,
			spefeed_fn fn, void *ctx)
{
	struct spe_reader r = { .stream = *s,
				.common_sources = f->common_sources,
				.damaged = f->damaged,
				.at = *at };
	struct hw_record hw;
	int err = 0;

	while (!err && spe_next(&r, &hw))
		err = fn(ctx, &hw);
	f->nr_damaged += r.nr_damaged;
	f->damaged = r.damaged;
	*at = r.at;
	return err;
}

/*
 * Keeps the beginning of a record. If it does not fit into rest, it can only be
 * padding, and counts as damaged.
 */
static void keep_rest(struct spefeed *f, const uint8_t *data, size_t size)
{
	f->nr_rest = 0;
	if (size > sizeof(f->rest)) {
		f->damaged = true;
		return;
	}
	memmove(f->rest, data, size);
	f->nr_rest = size;
}

/*
 * Decodes the record that began in an earlier piece; *used bytes of data belong to it.
 */
static int finish_rest(struct spefeed *f, const uint8_t *data, size_t size,
		       size_t *used, spefeed_fn fn, void *ctx)
{
	uint8_t joined[2 * SPEFEED_REST];
	const size_t before = f->nr_rest;
	const size_t more = size < SPEFEED_REST ? size : SPEFEED_REST;
	const struct spe_stream s = { joined, before + more, f->end - before };
	size_t at = 0;
	int err;

	memcpy(joined, f->rest, before);
	memcpy(joined + before, data, more);
	err = read_records(f, &s, &at, fn, ctx);
	if (at >= before) {
		f->nr_rest = 0;
		*used = at - before;
	} else {
		keep_rest(f, joined + at, s.size - at);
		*used = more;
	}
	return err;
}

void spefeed_end(struct spefeed *f)
{
	f->nr_damaged += f->nr_rest || f->damaged;
	f->nr_rest = 0;
	f->damaged = false;
}

int spefeed_take(struct spefeed *f, const void *data, size_t size, uint64_t offset,
		 spefeed_fn fn, void *ctx)
{
	const struct spe_stream s = { data, size, offset };
	size_t at = 0, used;
	int err = 0;

	if (offset != f->end)
		spefeed_end(f);
	f->end = offset;
	while (!err && f->nr_rest && at < size) {
		err = finish_rest(f, s.data + at, size - at, &used, fn, ctx);
		at += used;
		f->end = offset + at;
	}
	if (!err)
		err = read_records(f, &s, &at, fn, ctx);
	if (!err && !f->nr_rest)
		keep_rest(f, s.data + at, size - at);
	f->end = offset + size;
	return err;
}
