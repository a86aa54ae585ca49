/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windows.c - an array that is sorted and summed up, and thinned out when it is full
 *
 * The kept windows are a simple random sample of those that were seen. A new window is
 * kept with the same probability as those before it. When there are too many, a random
 * part is dropped. To merge two sets, the one with the higher rate is first thinned out
 * to the rate of the other.
 */
#include "config.h"

#include "db/profile/windows.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"

#define BY_LOT 1024 /* up to so many equal windows are drawn one by one */

struct windows {
	struct window *window; /* jumps are the window's own */
	size_t nr, cap;
	size_t nr_merged; /* at the front: sorted, each once */
	uint64_t seen, kept;
	size_t nr_jumps;
	uint32_t limit;
	uint64_t random;
};

struct windows *windows_new(uint32_t limit, uint64_t seed)
{
	struct windows *set = calloc(1, sizeof(*set));

	if (set) {
		set->limit = limit;
		set->random = seed;
	}
	return set;
}

void windows_free(struct windows *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->nr; i++)
		free((void *)set->window[i].jump);
	free(set->window);
	free(set);
}

/* In [0, 1). */
static double draw(struct windows *set)
{
	set->random += 0x9e3779b97f4a7c15ULL;
	return (double)(hash_u64(set->random) >> 11) * 0x1p-53;
}

/* x rounded up or down so that the mean is x. */
static uint64_t round_by_lot(struct windows *set, double x)
{
	return (uint64_t)(x + draw(set));
}

/*
 * If `wanted` of `left` windows are drawn at random, how many of them are among
 * these n.
 */
static uint64_t draw_some(struct windows *set, uint64_t n, uint64_t wanted,
			  uint64_t left)
{
	uint64_t some = 0;

	if (n > BY_LOT) {
		some = round_by_lot(set, (double)n * ((double)wanted / (double)left));
		some = some < wanted ? some : wanted;
		some = some < n ? some : n;
		return wanted - some > left - n ? wanted - (left - n) : some;
	}
	for (; n; n--, left--)
		some += draw(set) * (double)left < (double)(wanted - some);
	return some;
}

/* How many of n are kept with a probability of p each. */
static uint64_t keep_some(struct windows *set, uint64_t n, double p)
{
	uint64_t some = 0;

	if (n > BY_LOT)
		return round_by_lot(set, (double)n * p);
	for (; n; n--)
		some += draw(set) < p;
	return some;
}

static int compare_jumps(const struct window_jump *a, const struct window_jump *b)
{
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	return (a->image > b->image) - (a->image < b->image);
}

static int compare(const void *va, const void *vb)
{
	const struct window *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	for (uint32_t i = 0; i < a->nr_jumps && i < b->nr_jumps; i++) {
		int order = compare_jumps(&a->jump[i], &b->jump[i]);

		if (order)
			return order;
	}
	if (a->nr_jumps != b->nr_jumps)
		return a->nr_jumps < b->nr_jumps ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	if (a->nr_insns != b->nr_insns)
		return a->nr_insns < b->nr_insns ? -1 : 1;
	return (a->reason > b->reason) - (a->reason < b->reason);
}

static void drop(struct windows *set, struct window *w)
{
	set->nr_jumps -= w->nr_jumps;
	free((void *)w->jump);
}

static void merge_equal(struct windows *set)
{
	size_t kept = 0;

	if (set->nr_merged == set->nr)
		return;
	qsort(set->window, set->nr, sizeof(*set->window), compare);
	for (size_t i = 0; i < set->nr; i++) {
		struct window *w = &set->window[i];

		if (kept && !compare(&set->window[kept - 1], w)) {
			set->window[kept - 1].n += w->n;
			drop(set, w);
		} else {
			set->window[kept++] = *w;
		}
	}
	set->nr = set->nr_merged = kept;
}

/* Keeps so many, chosen by lot. */
static void thin(struct windows *set, uint64_t wanted)
{
	uint64_t left = set->kept, need = wanted;
	size_t nr = 0;

	if (wanted >= set->kept)
		return;
	for (size_t i = 0; i < set->nr; i++) {
		struct window w = set->window[i];
		uint64_t n = w.n;

		w.n = draw_some(set, n, need, left);
		left -= n;
		need -= w.n;
		if (w.n)
			set->window[nr++] = w;
		else
			drop(set, &w);
	}
	set->nr_merged = set->nr_merged == set->nr ? nr : 0;
	set->nr = nr;
	set->kept = wanted;
}

/* The body of I1. */
static bool is_window(const struct window *w)
{
	uint64_t at = w->start, bytes = 0;

	if (!w->n || !w->nr_insns || w->nr_insns > WINDOW_MAX_INSNS ||
	    w->nr_jumps > w->nr_insns || w->reason >= WINDOW_MAX_REASONS)
		return false;
	for (uint32_t i = 0; i <= w->nr_jumps; i++) {
		const uint64_t to = i < w->nr_jumps ? w->jump[i].from : w->end;

		if (to < at || to - at > WINDOW_INSN_BYTES * (uint64_t)w->nr_insns)
			return false;
		bytes += to - at;
		at = i < w->nr_jumps ? w->jump[i].to : at;
	}
	return bytes <= WINDOW_INSN_BYTES * (uint64_t)w->nr_insns;
}

/* Appends n windows like w, whose images map translates. */
static int append(struct windows *set, const struct window *w, uint64_t n,
		  const uint32_t *map)
{
	struct window *grown = grow(set->window, set->nr, &set->cap, sizeof(*grown));
	struct window_jump *jump = calloc(w->nr_jumps + 1, sizeof(*jump));

	if (grown)
		set->window = grown;
	if (!grown || !jump) {
		free(jump);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < w->nr_jumps; i++) {
		jump[i] = w->jump[i];
		if (map)
			jump[i].image = map[jump[i].image];
	}
	set->window[set->nr] = *w;
	set->window[set->nr].jump = jump;
	set->window[set->nr++].n = n;
	set->kept += n;
	set->nr_jumps += w->nr_jumps;
	return 0;
}

static int add_seen(struct windows *set, uint64_t n)
{
	if (n > INT64_MAX - set->seen)
		return -EOVERFLOW;
	set->seen += n;
	return 0;
}

/* Drops an eighth more than it must, so that it has to be done less often. */
static void bound(struct windows *set)
{
	if (set->kept > set->limit)
		thin(set, set->limit - set->limit / 8);
	if (set->nr_jumps > WINDOWS_MAX_JUMPS)
		merge_equal(set);
	while (set->nr_jumps > WINDOWS_MAX_JUMPS)
		thin(set, set->kept - set->kept / 8);
}

static double rate(const struct windows *set)
{
	return set->seen ? (double)set->kept / (double)set->seen : 1;
}

int windows_add(struct windows *set, const struct window *w)
{
	uint64_t n = w->n;
	int err;

	if (!is_window(w))
		return -EINVAL;
	if (set->kept < set->seen)
		n = keep_some(set, n, rate(set));
	err = add_seen(set, w->n);
	if (err)
		return err;
	if (n)
		err = append(set, w, n, NULL);
	if (err)
		set->seen -= w->n;
	else
		bound(set);
	return err;
}

static bool maps_all(const struct windows *set, uint32_t nr)
{
	for (size_t i = 0; i < set->nr; i++) {
		for (uint32_t k = 0; k < set->window[i].nr_jumps; k++) {
			if (set->window[i].jump[k].image >= nr)
				return false;
		}
	}
	return true;
}

/* How many of what a set keeps are left at a rate. */
static uint64_t left_at(struct windows *set, double r, const struct windows *of)
{
	uint64_t n;

	if (r >= rate(of))
		return of->kept;
	n = round_by_lot(set, r * (double)of->seen);
	return n < of->kept ? n : of->kept;
}

int windows_merge(struct windows *set, struct windows *from, const uint32_t *map,
		  uint32_t nr_map)
{
	uint64_t wanted, left = from->kept;
	double r = fmin(rate(set), rate(from));
	int err = 0;

	if (map && !maps_all(from, nr_map))
		return -CPI_ECORRUPT;
	if (from->seen > INT64_MAX - set->seen)
		return -EOVERFLOW;
	if (from->seen + set->seen)
		r = fmin(r, set->limit / (double)(from->seen + set->seen));
	merge_equal(from);
	thin(set, left_at(set, r, set));
	wanted = left_at(set, r, from);
	for (size_t i = 0; !err && i < from->nr && wanted; i++) {
		const uint64_t n = draw_some(set, from->window[i].n, wanted, left);

		if (n)
			err = append(set, &from->window[i], n, map);
		left -= from->window[i].n;
		wanted -= n;
	}
	if (!err)
		err = add_seen(set, from->seen);
	bound(set);
	return err;
}

void windows_stand_for(struct windows *set, uint64_t seen)
{
	if (seen > set->kept)
		set->seen = seen;
}

uint64_t windows_seen(const struct windows *set)
{
	return set->seen;
}

uint64_t windows_kept(const struct windows *set)
{
	return set->kept;
}

size_t windows_memory(const struct windows *set)
{
	return sizeof(*set) + set->cap * sizeof(*set->window) +
	       set->nr_jumps * sizeof(struct window_jump);
}

const struct window *windows_sorted(struct windows *set, size_t *nr)
{
	merge_equal(set);
	*nr = set->nr;
	return set->window;
}
