/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cover.h - which of several nested or overlapping ranges owns an address
 *
 * Of all ranges that hold an address, the one that starts last owns it; with nested
 * ranges that is the innermost. The ranges are flattened into pieces that do not
 * overlap, so a look-up is one binary search.
 */
#ifndef CPI_ANALYSIS_COVER_H
#define CPI_ANALYSIS_COVER_H

#include <stddef.h>
#include <stdint.h>

struct cover_range {
	uint64_t start, end; /* end is the first address after it */
	uint32_t id;         /* chosen by the caller */
};

/* Starts as { 0 }. */
struct cover {
	struct cover_range *range; /* ascending, no two overlap */
	size_t nr;
};

/*
 * Flattens in[0..nr), which it sorts. Of equal starts the shorter range is the
 * inner one. Empty ranges own nothing. Returns 0 or -ENOMEM.
 */
int cover_build(struct cover_range *in, size_t nr, struct cover *out);
void cover_fini(struct cover *c);

/* The piece that holds at, or NULL. */
const struct cover_range *cover_find(const struct cover *c, uint64_t at);

/* The first piece that ends after at: an index into range, or nr. */
size_t cover_next(const struct cover *c, uint64_t at);

#endif
