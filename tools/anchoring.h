/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * anchoring.h - the anchors of a selection, beside its commands' time
 */
#ifndef CPI_TOOLS_ANCHORING_H
#define CPI_TOOLS_ANCHORING_H

#include "analysis/anchored.h"
#include "tools/following.h"

struct anchoring {
	struct anchored *anchored; /* by image, then offset */
	int64_t *image;            /* of each */
	size_t nr;
};

/*
 * seconds is a sample's worth of amount's unit. A selection by another kind of context
 * than comm has none. 0 or a negative error; then *out is untouched.
 */
int anchoring_load(struct db *db, const struct query_selection *sel,
		   following_amount_fn amount, void *ctx, double seconds,
		   struct anchoring *out);
void anchoring_fini(struct anchoring *a);

/* Those of an image: how many, and the first. */
size_t anchoring_image(const struct anchoring *a, int64_t image,
		       const struct anchored **first);

#endif
