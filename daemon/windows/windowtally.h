/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowtally.h - the windows that were attributed since the last flush
 *
 * I1  Σ windows in the sets of context "" (which has all windows) + Σ losses = windows
 *     and losses that were added.
 * I2  Memory: when WINDOWTALLY_MAX_BYTES are used, further windows are lost as
 *     SAMPLE_NO_SPACE. When there are WINDOWTALLY_SETS sets, windows of new contexts go
 *     to the coarser contexts of context_make_try().
 */
#ifndef CPI_DAEMON_WINDOWTALLY_H
#define CPI_DAEMON_WINDOWTALLY_H

#include <stdbool.h>

#include "daemon/attribute/tally.h"
#include "daemon/stacks/imagenumbers.h"
#include "db/profile/accesses.h"
#include "db/profile/context.h"
#include "db/profile/windows.h"

#define WINDOWTALLY_MAX_BYTES (16u << 20)
#define WINDOWTALLY_SETS      4096

struct tally_site {
	struct known_image *image;
	uint64_t offset;
};

struct tally_jump {
	struct tally_site from, to;
};

/* Like struct access. */
struct tally_access {
	struct tally_site at;
	uint32_t address;
	uint8_t size, nr;
	bool store, writes, known;
};

/* Like struct operand. */
struct tally_operand {
	struct tally_site at;
	uint8_t kind, size;
	bool known, taken;
	uint8_t more;
	int64_t value;
};

/* Like struct window, with images instead of their numbers. */
struct tally_window {
	struct tally_site start;
	struct tally_site last; /* interpreted instruction */
	uint64_t end; /* offset of the next instruction after the window, in the same
			 image */
	const struct tally_jump *jump;
	uint32_t nr_jumps, nr_insns;
	const struct tally_access *access;
	uint32_t nr_accesses;
	const struct tally_operand *operand;
	uint32_t nr_operands;
	uint32_t tid;
	uint8_t reason;
	const char *const *contexts; /* by kind, or NULL; NULL for none of any kind */
};

/* The windows that began in an image. */
struct windowtally_set {
	struct hnode node;
	struct known_image *image;
	struct windows *windows;
	struct accesses *accesses; /* and operands; NULL: none yet */
	char context[];
};

struct windowtally {
	struct hmap sets;
	struct imagenumbers images; /* of the windows' jumps, accesses and operands */
	/*
	 * Edges and losses, of event 0; windows that lack an edge, a context, their
	 * accesses or operands are cut.
	 */
	struct tally *tally;
	uint64_t kept;
	size_t memory; /* of the sets */
};

struct windowtally *windowtally_new(void);    /* NULL when out of memory */
void windowtally_free(struct windowtally *t); /* accepts NULL */

/*
 * Adds a window, and its jumps and the straight runs between them as edges. Without
 * memory the window is counted as lost, or as cut if only edges or accesses are
 * missing.
 */
void windowtally_add(struct windowtally *t, const struct tally_window *w);
void windowtally_lose(struct windowtally *t, enum loss loss, uint64_t n);

/* Turns every window into this loss, and frees the windows. */
void windowtally_drop(struct windowtally *t, enum loss loss);

uint64_t windowtally_nr_lost(const struct windowtally *t);
size_t windowtally_memory(const struct windowtally *t);

/* Whether a flush is due, before windows are lost. */
bool windowtally_is_half_full(const struct windowtally *t);
void windowtally_mark_images(const struct windowtally *t);

#endif
