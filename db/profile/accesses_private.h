/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses_private.h - what a set of accesses consists of; for accesses*.c only
 */
#ifndef CPI_DB_ACCESSES_PRIVATE_H
#define CPI_DB_ACCESSES_PRIVATE_H

#include "db/profile/accesses.h"

#define ACCESSES_HASH_BITS 32

/* When a place of the sample was touched last, on the clock of the set. */
struct accesses_touch {
	uint32_t hash, number;
	uint64_t when;
};

struct accesses {
	struct accesses_insn **insn; /* by image and offset */
	size_t nr;
	uint32_t limit;
	uint64_t windows, seen, left_out;
	uint64_t bound[ACCESSES_NR_GRANULES]; /* a power of two */
	/* Of all instructions; and of these, those beyond ACCESSES_LEAST of each. */
	size_t nr_places[ACCESSES_NR_GRANULES], nr_extra[ACCESSES_NR_GRANULES];
	uint64_t clock; /* accesses that accesses_add() added, with a known address */
	struct accesses_touch
		*touch[ACCESSES_NR_GRANULES]; /* by hash, below the bound */
	size_t nr_touches[ACCESSES_NR_GRANULES];
	struct operands *operands; /* NULL: none yet */
};

/* Appends nr instructions without contents to an empty set. 0 or -ENOMEM. */
int accesses_add_empty(struct accesses *set, size_t nr);

/* Sets how many places an instruction of the set has. */
void accesses_set_places(struct accesses *set, struct accesses_reuse *r, int g,
			 uint32_t nr);

/* For qsort() of struct accesses_place: by hash, then by number. */
int accesses_compare_places(const void *a, const void *b);

/* The room of an array of nr elements that base/grow.h's GROW() can extend. */
size_t accesses_room(size_t nr);

#endif
