/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windows.h - the path of a thread after a sampled instruction
 *
 * A window begins at a sampled instruction and has what its thread executed from there:
 * straight lines between taken jumps. It is proof that each instruction on its path was
 * executed once. A branch stack tells the same of the past.
 *
 * A set has the windows that began in one image. It keeps a random sample of those it
 * is given: each kept window stands for windows_seen() / windows_kept() windows.
 *
 * I1  A straight line never goes backwards: from each jump's from is at or behind where
 *     control was, and so is end. A window of n instructions has at most n jumps, and
 *     straight lines of at most WINDOW_INSN_BYTES * n bytes together.
 * I2  kept <= seen <= INT64_MAX, kept <= the limit of the set, and kept > 0
 *     unless nothing was seen.
 */
#ifndef CPI_DB_WINDOWS_H
#define CPI_DB_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define WINDOW_MAX_INSNS   1024
#define WINDOW_MAX_REASONS 64    /* values of window.reason stay below that */
#define WINDOW_INSN_BYTES  16    /* no instruction is longer */
#define WINDOWS_LIMIT      16384 /* kept of an epoch, start image, stream, context */
#define WINDOWS_MAX_JUMPS  (1u << 21) /* of a set, all together */

/* A taken jump, call or return. Offsets are in the images that control is in. */
struct window_jump {
	uint64_t from; /* of the jumping instruction, where control was before it */
	uint64_t to;
	uint32_t image; /* of to: a number that the set's owner gives */
};

struct window {
	uint64_t start; /* of the first instruction, in the set's image */
	const struct window_jump *jump;
	uint32_t nr_jumps;
	uint32_t nr_insns; /* that were followed, the first one included; not 0 */
	uint8_t reason; /* why it ended: enum cpi_window_end; 0: it was long enough */
	uint64_t end;   /* what control came to then, and was not followed any more */
	uint64_t n;     /* how many like this; not 0 */
};

struct windows;

/*
 * A set that keeps at most limit windows, from 8 to WINDOWS_LIMIT. If there are more,
 * seed decides which are kept. NULL when out of memory.
 */
struct windows *windows_new(uint32_t limit, uint64_t seed);
void windows_free(struct windows *set); /* accepts NULL */

/*
 * Adds w and copies its jumps. 0, -EINVAL if it breaks I1 or cannot be a window,
 * -EOVERFLOW or -ENOMEM; on failure the set is unchanged.
 */
int windows_add(struct windows *set, const struct window *w);

/*
 * Adds all windows that from stands for. Image i of from is map[i] in set; map = NULL
 * means i. 0, -CPI_ECORRUPT for an image that is not in the map, -EOVERFLOW or -ENOMEM;
 * on failure set may have lost windows. Only the order of from changes.
 */
int windows_merge(struct windows *set, struct windows *from, const uint32_t *map,
		  uint32_t nr_map);

/* Makes the kept windows stand for seen ones, which are at least windows_kept(). */
void windows_stand_for(struct windows *set, uint64_t seen);

uint64_t windows_seen(const struct windows *set); /* <= INT64_MAX */
uint64_t windows_kept(const struct windows *set); /* sum of n */
size_t windows_memory(const struct windows *set); /* bytes */

/* The kept windows, each once, in an order made of their contents; until a change. */
const struct window *windows_sorted(struct windows *set, size_t *nr);

/*
 * As a blob, packed (db/profile/pack.h). The body, all numbers LEB128: how many were
 * seen; how many different ones are kept; then, column by column, of each window the
 * distance of its start from the one before, n, number of instructions, reason, number
 * of jumps; of each jump how far straight on it stands, the distance from there to its
 * target (as 2 d, or -2 d - 1 below 0), the target's image; of each window how far
 * straight on its end is. cpi-db(5) documents it; t/fixtures/ has a golden file. A set
 * that has seen nothing gives nothing at all. 0 or -ENOMEM.
 */
int windows_encode(struct windows *set, struct buf *out);

/*
 * Adds a blob's windows, with its numbers of images. Returns 0, -CPI_ETRUNCATED,
 * -CPI_ECORRUPT, -CPI_EVERSION, -CPI_ELIMIT, -EOVERFLOW or -ENOMEM. The blob is checked
 * whole before.
 */
int windows_decode(const void *blob, size_t size, struct windows *set);

#endif
