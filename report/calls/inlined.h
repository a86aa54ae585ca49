/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inlined.h - the functions that are inlined at an offset
 */
#ifndef CPI_REPORT_INLINED_H
#define CPI_REPORT_INLINED_H

#include "analysis/image/image.h"

/* As image_inlined_at() gives it: the innermost first. { NULL, 0 } for none. */
struct inlined_chain {
	const struct inlined *at;
	size_t nr;
};

struct inlined_chain inlined_at(struct image *im, uint64_t offset);

/* Orders by names and lines, the outermost call first. */
int inlined_compare(const struct inlined_chain *a, const struct inlined_chain *b);

#endif
