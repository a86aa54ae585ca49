/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sums.h - reads the numbers of samples of images and commands, in parts of a selection
 *
 * One statement reads all rows in the order of the table, for any number of parts. It
 * reads no counts by offset.
 */
#ifndef CPI_DB_SUMS_H
#define CPI_DB_SUMS_H

#include "db/query/query.h"

/* A row of the result: samples are added up by these. */
struct query_sum {
	const char *comm; /* set by query_comm_sums(); else NULL */
	const struct query_image *image;
	int64_t stream;
};

/*
 * The number of samples of query_sums.sum[of] in a part. A part may have several
 * entries with the same of.
 */
struct query_part_sum {
	uint32_t of;
	uint64_t n;
};

struct query_sum_part {
	struct query_part_sum *sum;
	size_t nr;
};

struct query_sums {
	struct query_sum *sum; /* sorted by command, image and stream */
	size_t nr;
	struct query_sum_part *part;
	size_t nr_parts;
	struct query_image *image;
	size_t nr_images;
	char **comm; /* by sum: its command; or NULL */
};

/*
 * part[i] is the index of the part, of nr_parts, to which the selected epoch i belongs.
 * query_sums() adds up the totals of profiles. query_comm_sums() adds up the totals by
 * command, which all epochs have, and ignores selections by other kinds of contexts.
 * Image 0 has the samples without an image whose context or command is known. They
 * return 0, or an error as query_profiles() does, and then out is untouched.
 */
int query_sums(struct db *db, const struct query_selection *sel, const uint32_t *part,
	       size_t nr_parts, struct query_sums *out);
int query_comm_sums(struct db *db, const struct query_selection *sel,
		    const uint32_t *part, size_t nr_parts, struct query_sums *out);
void query_sums_fini(struct query_sums *s); /* accepts { 0 } */

#endif
