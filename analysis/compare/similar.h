/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * similar.h - how similar the code of two procedures is
 *
 * Compares runs of three instructions by their mnemonics. Registers, offsets and
 * addresses do not count, because a compiler chooses them anew in each build; nor do
 * no-operations, which only align.
 */
#ifndef CPI_ANALYSIS_SIMILAR_H
#define CPI_ANALYSIS_SIMILAR_H

#include <stddef.h>

#include "analysis/image/image.h"
#include "analysis/isa/isa.h"

/*
 * From this score on, two codes are the same procedure; lower scores occur by chance.
 */
#define SIMILAR_ENOUGH 0.6
/* Code is a part of another one if at least this much of it is in there. */
#define SIMILAR_PART 0.7

struct similar; /* the runs of a procedure's code */

/* 0, -CPI_ENOCODE, -CPI_ELIMIT (longer than 1 MB), or -ENOMEM. */
int similar_new(struct image *im, struct isa *isa, uint64_t start, uint64_t end,
		struct similar **out);
void similar_free(struct similar *s); /* accepts NULL */

/* The part of all runs that both have equally often (Dice); 0 to 1. */
double similar_score(const struct similar *a, const struct similar *b);

/*
 * The share of part's runs that whole has equally often; 0 to 1. It is 0 for code
 * shorter than an eighth of the whole, which may be there by chance.
 */
double similar_part(const struct similar *part, const struct similar *whole);

/* The runs of both together. NULL when out of memory. */
struct similar *similar_join(const struct similar *a, const struct similar *b);

#endif
