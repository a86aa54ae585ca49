/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windows.h - sets of windows: which path a thread took after a sampled instruction
 *
 * A window begins at a sampled instruction. It records what the thread executed from
 * there: taken jumps, and the straight lines between them. It proves that each
 * instruction on its path was executed once. A branch stack proves the same for the
 * instructions before a sample.
 *
 * A set has windows that began in one image. It keeps a random sample of the windows
 * that are added: each kept window stands for windows_seen() / windows_kept() windows.
 *
 * I1  A straight line never goes backwards: the from of each jump, and end, are at or
 *     after the place where the line began. A window of n instructions has at most n
 *     jumps, and straight lines of at most WINDOW_INSN_BYTES * n bytes together.
 * I2  kept <= seen <= INT64_MAX, kept <= the limit of the set, and kept > 0
 *     unless nothing was seen.
 */
#ifndef CPI_DB_WINDOWS_H
#define CPI_DB_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define WINDOW_MAX_INSNS   1024
#define WINDOW_MAX_REASONS 64 /* window.reason is less than this */
#define WINDOW_INSN_BYTES  16 /* the longest instruction */
#define WINDOWS_LIMIT \
	16384 /* windows kept for each epoch, start image, stream and context */
#define WINDOWS_MAX_JUMPS (1u << 21) /* of a set, all together */

/*
 * A taken jump, call or return. from and to are offsets in the images of these
 * instructions.
 */
struct window_jump {
	uint64_t from; /* the jump, in the image that was executed before it */
	uint64_t to;
	uint32_t image; /* image of to: a number that the set's owner assigns */
};

struct window {
	uint64_t start; /* of the first instruction, in the set's image */
	const struct window_jump *jump;
	uint32_t nr_jumps;
	uint32_t nr_insns; /* number of instructions, including the first one; not 0 */
	uint8_t reason; /* why it ended: enum cpi_window_end; 0: it was long enough */
	uint64_t end;   /* the next instruction, which is not part of the window */
	uint64_t n;     /* how many windows are equal to this one; not 0 */
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
 * Adds all windows of the set from, including those that it did not keep. Image i of
 * from is map[i] in set; map = NULL means i. 0, -CPI_ECORRUPT for an image that is not
 * in the map, -EOVERFLOW or -ENOMEM; on failure set may have lost windows. Only the
 * order of from changes.
 */
int windows_merge(struct windows *set, struct windows *from, const uint32_t *map,
		  uint32_t nr_map);

/* Sets windows_seen(). seen is at least windows_kept(). */
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
 * of jumps; of each jump the length of the straight line before it, the distance from
 * it to its target (as 2 d, or -2 d - 1 below 0), the target's image; of each window
 * the length of the last straight line. cpi-db(5) documents it; t/fixtures/ has a
 * golden file. For an empty set nothing is appended. Returns 0 or -ENOMEM.
 */
int windows_encode(struct windows *set, struct buf *out);

/*
 * Adds a blob's windows, with its numbers of images. Returns 0, -CPI_ETRUNCATED,
 * -CPI_ECORRUPT, -CPI_EVERSION, -CPI_ELIMIT, -EOVERFLOW or -ENOMEM. The whole blob is
 * checked first.
 */
int windows_decode(const void *blob, size_t size, struct windows *set);

#endif
