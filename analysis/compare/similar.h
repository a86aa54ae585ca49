/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * similar.h - how similar the code of two procedures is
 *
 * It compares runs of three instructions by their mnemonics. Registers, offsets and
 * addresses do not count, because a compiler chooses them anew in each build. Neither
 * do no-operations, which only align code.
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
/* Code is a part of other code if at least this share of its runs is in there. */
#define SIMILAR_PART 0.7

struct similar; /* the hashed runs of a procedure */

/* Returns 0, -CPI_ENOCODE, -CPI_ELIMIT (longer than 1 MB), or -ENOMEM. */
int similar_new(struct image *im, struct isa *isa, uint64_t start, uint64_t end,
		struct similar **out);
void similar_free(struct similar *s); /* accepts NULL */

/* The share of all runs that both have (Dice's coefficient); 0 to 1. */
double similar_score(const struct similar *a, const struct similar *b);

/*
 * The share of part's runs that whole has, too; 0 to 1. It is 0 if part is shorter than
 * an eighth of whole, because then it may be found there by chance.
 */
double similar_part(const struct similar *part, const struct similar *whole);

/* The runs of both. NULL when out of memory. */
struct similar *similar_join(const struct similar *a, const struct similar *b);

#endif
