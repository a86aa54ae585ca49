/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inlines.h - which functions were inlined where, from debugging information
 */
#ifndef CPI_ANALYSIS_INLINES_H
#define CPI_ANALYSIS_INLINES_H

#include "analysis/image/debuginfo.h"

struct inlines;

struct inlines *inlines_new(struct debuginfo *d); /* NULL when out of memory */
void inlines_free(struct inlines *in);            /* accepts NULL */

/* As image_inlined_at(), for a link-time address. */
size_t inlines_at(struct inlines *in, uint64_t address, const struct inlined **out);

/* As image_origins_at(), for a link-time address. */
size_t inlines_origins_at(struct inlines *in, uint64_t address,
			  struct origin out[IMAGE_MAX_ORIGINS]);

#endif
