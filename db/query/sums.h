/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - how many samples images and commands have, in parts of a selection
 *
 * One statement reads all rows, in the order of the table, whatever the number of
 * parts. No counts by offset are read.
 */
#ifndef CPI_DB_SUMS_H
#define CPI_DB_SUMS_H

#include "db/query/query.h"

/* What is summed up. */
struct query_sum {
	const char *comm; /* of query_comm_sums(); else NULL */
	const struct query_image *image;
	int64_t stream;
};

/* What a part has of query_sums.sum[of], which may be in it several times. */
struct query_part_sum {
	uint32_t of;
	uint64_t n;
};

struct query_part {
	struct query_part_sum *sum;
	size_t nr;
};

struct query_sums {
	struct query_sum *sum; /* by command, image and stream */
	size_t nr;
	struct query_part *part;
	size_t nr_parts;
	struct query_image *image;
	size_t nr_images;
	char **comm; /* by sum, or NULL */
};

/*
 * part says for each of the selected epochs which of nr_parts parts it belongs to.
 * query_sums() adds up the totals of profiles, query_comm_sums() those by command,
 * which every epoch has; the latter ignores what is selected by other kinds of context.
 * Image 0 has samples without an image, as far as their context or command is known.
 * Returns 0, or an error as query_profiles()
 * does; then out is untouched.
 */
int query_sums(struct db *db, const struct query_selection *sel, const uint32_t *part,
	       size_t nr_parts, struct query_sums *out);
int query_comm_sums(struct db *db, const struct query_selection *sel,
		    const uint32_t *part, size_t nr_parts, struct query_sums *out);
void query_sums_fini(struct query_sums *s); /* accepts { 0 } */

#endif
