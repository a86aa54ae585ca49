/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * set_query.h - the sets that a selection names, added up over its epochs
 *
 * Edges, stacks and windows are read the same way: rows are listed first, then those of
 * one group are added up and given to the caller. So one group is in memory at a time,
 * and no read transaction is open while the caller works.
 */
#ifndef CPI_DB_SET_QUERY_H
#define CPI_DB_SET_QUERY_H

#include "db/core/image_list.h"
#include "db/core/set_rows.h"
#include "db/query/query.h"

/* How rows of a kind are listed and added up. */
struct set_query {
	const struct set_kind *kind;
	/*
	 * Lists rows in the order of groups: key, name of the context, name of the
	 * image that a selection chooses by; the names are NULL where any will do. ?1
	 * are the epochs, ?2 the event or NULL, ?3 an image's id or NULL.
	 */
	const char *list;
	bool by_command; /* each set is in one of the contexts "" and "comm=NAME" */
	bool apart;      /* contexts are groups of their own */
	void *(*new_sum)(const struct set_key *key);
};

/* The rows of a group as one. */
struct set_sum {
	const struct set_key *key; /* of the group's first row */
	const char *context;       /* its context's name */
	void *set;
	const struct query_image *images; /* by their number in the set; else NULL */
	size_t nr_images;
};

/*
 * Calls fn for each group of a selection. The sum is freed after the call. fn's
 * non-zero return stops and is returned. 0 also where there is none; -CPI_ECORRUPT,
 * logged, when a row does not decode; -EAGAIN, logged, when retention works on some of
 * the epochs meanwhile; or -ENOMEM, ...
 */
typedef int (*set_sum_fn)(void *ctx, const struct set_sum *sum);
int set_query_each(struct db *db, const struct set_query *q,
		   const struct query_selection *sel, const int64_t *image,
		   set_sum_fn fn, void *ctx);

/* Reads an image by its id; to be ended by rows_image_fini(). -CPI_ECORRUPT: none. */
int set_query_image(struct db *db, int64_t id, struct query_image *image);

#endif
