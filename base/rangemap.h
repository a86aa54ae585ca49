/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rangemap.h - address ranges that do not overlap, and what is there
 *
 * A sorted array: processes have tens of executable mappings, look-ups
 * outnumber changes, and one allocation holds all. The newest range wins, as
 * with mmap: what it covers of older ranges is cut away.
 *
 * I1  Ranges are sorted by start, none is empty, none overlaps the next.
 */
#ifndef CPI_BASE_RANGEMAP_H
#define CPI_BASE_RANGEMAP_H

#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t start;
	uint64_t end;   /* the first address after the range */
	uint64_t bias;  /* address + bias is the caller's offset (modulo 2^64) */
	uint64_t since; /* set by the caller: when the mapping began */
	void *value;    /* the caller's */
};

/* Starts as { 0 }. */
struct rangemap {
	struct range *range;
	size_t nr;
	size_t cap;
};

/*
 * Called with each piece that an insertion or removal takes away: the old range,
 * narrowed to the piece, and the change in the number of ranges with its value (-1: the
 * range went as a whole, 0: it was trimmed, +1: it was split).
 */
typedef void (*rangemap_cut_fn)(void *ctx, const struct range *piece, int nr_change);

void rangemap_fini(struct rangemap *m);

/* Makes to (empty) a copy of from; values are copied as they are. 0 or -ENOMEM. */
int rangemap_copy(struct rangemap *to, const struct rangemap *from);

/*
 * Inserts r over whatever is there; on_cut may be NULL. Returns 0, -EINVAL for
 * an empty range, or -ENOMEM; on failure m is unchanged.
 */
int rangemap_insert(struct rangemap *m, const struct range *r, rangemap_cut_fn on_cut,
		    void *ctx);

/* Removes [start, end). Arguments and errors as in rangemap_insert(). */
int rangemap_remove(struct rangemap *m, uint64_t start, uint64_t end,
		    rangemap_cut_fn on_cut, void *ctx);

/* The range that holds address, or NULL. Valid until the next change. */
const struct range *rangemap_find(const struct rangemap *m, uint64_t address);

#endif
