/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * similar.h - how alike is the code of two procedures?
 *
 * By runs of three instructions, each as its mnemonic: registers, offsets and
 * addresses, which a compiler chooses anew with each build, do not count.
 * No-operations, which align, do not either.
 */
#ifndef CPI_ANALYSIS_SIMILAR_H
#define CPI_ANALYSIS_SIMILAR_H

#include <stddef.h>

#include "analysis/image.h"
#include "analysis/isa.h"

/* Codes this alike are one procedure's; less than that is chance. */
#define SIMILAR_ENOUGH 0.6
/* Code of which so much is in another is a part of that. */
#define SIMILAR_PART 0.7

struct similar; /* what of a procedure's code is compared */

/* 0, -CPI_ENOCODE, -CPI_ELIMIT (longer than 1 MB), or -ENOMEM. */
int similar_new(struct image *im, struct isa *isa, uint64_t start, uint64_t end,
		struct similar **out);
void similar_free(struct similar *s); /* accepts NULL */

/* The part of all runs that both have, each as often (Dice); 0 to 1. */
double similar_score(const struct similar *a, const struct similar *b);

/* The part of part's runs that whole has, each as often; 0 to 1. Code that is less than
 * an eighth of the whole, which may be there by chance, has none. */
double similar_part(const struct similar *part, const struct similar *whole);

/* The runs of both together. NULL when out of memory. */
struct similar *similar_join(const struct similar *a, const struct similar *b);

#endif
