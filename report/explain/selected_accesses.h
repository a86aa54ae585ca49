/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selected_accesses.h - the data accesses of a selection's windows, and which miss
 */
#ifndef CPI_REPORT_SELECTED_ACCESSES_H
#define CPI_REPORT_SELECTED_ACCESSES_H

#include "analysis/data/data_model.h"
#include "db/query/query.h"

struct selected_accesses;

/*
 * Reads the accesses of all images, including those that sel leaves out, because all
 * share the caches; epoch tells which machine it was. *out is NULL if there are none;
 * else the caller frees it. 0 or a negative error.
 */
int selected_accesses_load(struct db *db, const struct query_selection *sel,
			   const struct query_epoch *epoch,
			   struct selected_accesses **out);
void selected_accesses_free(struct selected_accesses *f); /* accepts NULL */

/* The model, and an image's number in it; NULL if f is NULL or the image has none. */
const struct data_model *selected_accesses_model(const struct selected_accesses *f,
						 int64_t image, uint32_t *number);

/* The operands, and an image's number in them; NULL likewise, or without operands. */
const struct operands *selected_accesses_operands(const struct selected_accesses *f,
						  int64_t image, uint32_t *number);

#endif
