/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * part_totals.h - reads streams and losses of the parts of a selection
 *
 * The caller divides the selected epochs into parts, for example the intervals of cpi
 * prof --over-time. This file reads the streams and losses of each part. One statement
 * for streams and one for losses read the rows of all parts. So the time does not
 * depend on the number of parts.
 */
#ifndef CPI_DB_PART_TOTALS_H
#define CPI_DB_PART_TOTALS_H

#include "db/query/query.h"

struct query_part {
	struct query_streams streams; /* in the order of the whole selection */
	struct query_losses losses;   /* likewise */
};

struct query_parts {
	struct query_part *part;
	size_t nr;
};

/*
 * Divides the samples of the epochs over nr_parts parts: part[i] is the index of epoch
 * i's part. streams and losses are those of all the epochs together, as query_streams()
 * and query_losses() read them; they give the order. Streams that are not in streams
 * are left out. Returns 0 or an error; then *out is untouched.
 */
int query_part_totals(struct db *db, const struct query_epochs *e, const uint32_t *part,
		      size_t nr_parts, const struct query_streams *streams,
		      const struct query_losses *losses, struct query_parts *out);
void query_parts_fini(struct query_parts *p); /* accepts { 0 } */

#endif
