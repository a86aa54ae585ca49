/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windows_codec.c - windows as a blob
 *
 * Straight lines are stored as lengths, which cannot be negative. So a decoded window
 * keeps I1 of windows.h, except for the bounds, which are checked.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/varint.h"
#include "db/profile/pack.h"
#include "db/profile/windows.h"

#define MAX_BODY    (1u << 26)
#define COLUMNS     5 /* of a window, before its jumps */
#define LEAST_BYTES (COLUMNS + 1)

/* Maps signed distances to unsigned numbers, small ones to small ones ("zigzag"). */
static uint64_t fold(uint64_t d)
{
	return d << 1 ^ -(d >> 63);
}

static uint64_t unfold(uint64_t v)
{
	return v >> 1 ^ -(v & 1);
}

/* Where control came to before jump i, or before the end. */
static uint64_t place_before(const struct window *w, uint32_t i)
{
	return i ? w->jump[i - 1].to : w->start;
}

static void put_windows(const struct window *w, size_t nr, struct buf *out)
{
	for (size_t i = 0; i < nr; i++)
		varint_put(out, w[i].start - (i ? w[i - 1].start : 0));
	for (size_t i = 0; i < nr; i++)
		varint_put(out, w[i].n);
	for (size_t i = 0; i < nr; i++)
		varint_put(out, w[i].nr_insns);
	for (size_t i = 0; i < nr; i++)
		varint_put(out, w[i].reason);
	for (size_t i = 0; i < nr; i++)
		varint_put(out, w[i].nr_jumps);
}

static void put_jumps(const struct window *w, size_t nr, struct buf *out)
{
	for (size_t i = 0; i < nr; i++)
		for (uint32_t k = 0; k < w[i].nr_jumps; k++)
			varint_put(out, w[i].jump[k].from - place_before(&w[i], k));
	for (size_t i = 0; i < nr; i++)
		for (uint32_t k = 0; k < w[i].nr_jumps; k++)
			varint_put(out, fold(w[i].jump[k].to - w[i].jump[k].from));
	for (size_t i = 0; i < nr; i++)
		for (uint32_t k = 0; k < w[i].nr_jumps; k++)
			varint_put(out, w[i].jump[k].image);
	for (size_t i = 0; i < nr; i++)
		varint_put(out, w[i].end - place_before(&w[i], w[i].nr_jumps));
}

int windows_encode(struct windows *set, struct buf *out)
{
	struct buf body = { 0 };
	const struct window *w;
	size_t nr;
	int err;

	if (!windows_seen(set))
		return 0;
	w = windows_sorted(set, &nr);
	varint_put(&body, windows_seen(set));
	varint_put(&body, nr);
	put_windows(w, nr, &body);
	put_jumps(w, nr, &body);
	err = pack_put(&body, out);
	buf_fini(&body);
	return err;
}

/* What is being read. */
struct windows_decoder {
	const uint8_t *at, *end;
	uint64_t seen, nr, nr_jumps;
	struct window *window;
	struct window_jump *jump; /* of all windows */
};

/* A number of at most most. */
static int get_varint(struct windows_decoder *r, uint64_t most, uint64_t *v)
{
	uint64_t read;
	int err = varint_get(&r->at, r->end, &read);

	if (err)
		return err;
	if (read > most)
		return -CPI_ECORRUPT;
	*v = read;
	return 0;
}

static int get_windows(struct windows_decoder *r)
{
	uint64_t v = 0, before = 0;
	int err = 0;

	for (size_t i = 0; !err && i < r->nr; i++) {
		err = get_varint(r, UINT64_MAX - before, &v);
		before = r->window[i].start = before + v;
	}
	for (size_t i = 0; !err && i < r->nr; i++)
		err = get_varint(r, WINDOWS_LIMIT, &r->window[i].n);
	for (size_t i = 0; !err && i < r->nr; i++) {
		err = get_varint(r, WINDOW_MAX_INSNS, &v);
		r->window[i].nr_insns = v;
	}
	for (size_t i = 0; !err && i < r->nr; i++) {
		err = get_varint(r, WINDOW_MAX_REASONS - 1, &v);
		r->window[i].reason = v;
	}
	for (size_t i = 0; !err && i < r->nr; i++) {
		err = get_varint(r, WINDOW_MAX_INSNS, &v);
		r->window[i].nr_jumps = v;
		r->nr_jumps += v;
	}
	return err;
}

/* Lengths and distances; places are made of them by place_jumps(). */
static int get_jumps(struct windows_decoder *r)
{
	uint64_t v = 0;
	int err = 0;

	for (size_t i = 0; !err && i < r->nr_jumps; i++)
		err = get_varint(r, WINDOW_INSN_BYTES * WINDOW_MAX_INSNS,
				 &r->jump[i].from);
	for (size_t i = 0; !err && i < r->nr_jumps; i++)
		err = get_varint(r, UINT64_MAX, &r->jump[i].to);
	for (size_t i = 0; !err && i < r->nr_jumps; i++) {
		err = get_varint(r, UINT32_MAX, &v);
		r->jump[i].image = v;
	}
	for (size_t i = 0; !err && i < r->nr; i++)
		err = get_varint(r, WINDOW_INSN_BYTES * WINDOW_MAX_INSNS,
				 &r->window[i].end);
	return err ? err : r->at != r->end ? -CPI_ECORRUPT : 0;
}

static void place_jumps(struct windows_decoder *r)
{
	struct window_jump *jump = r->jump;

	for (size_t i = 0; i < r->nr; i++) {
		struct window *w = &r->window[i];

		w->jump = jump;
		for (uint32_t k = 0; k < w->nr_jumps; k++, jump++) {
			jump->from += place_before(w, k);
			jump->to = jump->from + unfold(jump->to);
		}
		w->end += place_before(w, w->nr_jumps);
	}
}

static int read_body(struct windows_decoder *r)
{
	int err = get_varint(r, INT64_MAX, &r->seen);

	if (!err)
		err = get_varint(r, UINT64_MAX, &r->nr);
	if (err)
		return err;
	if (!r->seen || !r->nr || r->nr > WINDOWS_LIMIT)
		return -CPI_ECORRUPT;
	if (r->nr > (size_t)(r->end - r->at) / LEAST_BYTES)
		return -CPI_ETRUNCATED;
	r->window = calloc(r->nr + 1, sizeof(*r->window));
	err = r->window ? get_windows(r) : -ENOMEM;
	if (!err && r->nr_jumps > WINDOWS_MAX_JUMPS)
		err = -CPI_ELIMIT;
	if (!err && r->nr_jumps > (size_t)(r->end - r->at))
		err = -CPI_ETRUNCATED;
	if (err)
		return err;
	r->jump = calloc(r->nr_jumps + 1, sizeof(*r->jump));
	err = r->jump ? get_jumps(r) : -ENOMEM;
	if (!err)
		place_jumps(r);
	return err;
}

static int take_body(const struct windows_decoder *r, struct windows *read,
		     struct windows *set)
{
	uint64_t kept = 0;
	int err = 0;

	for (size_t i = 0; !err && i < r->nr; i++) {
		kept += r->window[i].n;
		err = kept > WINDOWS_LIMIT ? -CPI_ECORRUPT
					   : windows_add(read, &r->window[i]);
	}
	if (err == -EINVAL || (!err && kept > r->seen))
		err = -CPI_ECORRUPT;
	if (err)
		return err;
	windows_stand_for(read, r->seen);
	return windows_merge(set, read, NULL, 0);
}

int windows_decode(const void *blob, size_t size, struct windows *set)
{
	struct windows *read = windows_new(WINDOWS_LIMIT, 0);
	struct windows_decoder r = { 0 };
	struct buf memory = { 0 };
	size_t body_size;
	int err = read ? pack_get(blob, size, MAX_BODY, &memory, &r.at, &body_size)
		       : -ENOMEM;

	if (!err) {
		r.end = r.at + body_size;
		err = read_body(&r);
	}
	if (!err)
		err = take_body(&r, read, set);
	windows_free(read);
	free(r.window);
	free(r.jump);
	buf_fini(&memory);
	return err;
}
