/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * set_query.h - reads edges, call stacks, windows and accesses, added up over the
 * epochs of a selection
 *
 * A set is what one row of the tables edge, stack, window_set or access_set holds
 * (db/core/set_rows.h). A group is the rows whose keys differ only in the epoch (and in
 * the context, if contexts are not separate). Rows are listed first, then the rows of
 * one group are added up and passed to the caller. So only one group is in memory at a
 * time, and without db_begin_read() no read transaction is open while the caller works.
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
	 * Lists rows in the order of groups: the key, the name of the context, and the
	 * name of the image to which the selection's image applies. A name is NULL if
	 * the selection does not apply to it. ?1 has the epochs, ?2 the event or NULL,
	 * ?3 an image's id or NULL.
	 */
	const char *list;
	bool by_command; /* each set is in one of the contexts "" and "comm=NAME" */
	bool apart;      /* each context is a separate group */
	void *(*new_sum)(const struct set_key *key);
};

/* The sum of the rows of a group. */
struct set_sum {
	const struct set_key *key; /* of the group's first row */
	const char *context;       /* its context's name */
	void *set;
	/* by their number in the set; NULL if sets do not number images */
	const struct query_image *images;
	size_t nr_images;
};

/*
 * Calls fn for each group of a selection. The sum is freed after the call. A non-zero
 * return of fn stops and is returned. Returns 0, also if there are no groups;
 * -CPI_ECORRUPT (logged) if a row does not decode; -EAGAIN (logged) if retention
 * changes some of the epochs during the query; or another error.
 */
typedef int (*set_sum_fn)(void *ctx, const struct set_sum *sum);
int set_query_each(struct db *db, const struct set_query *q,
		   const struct query_selection *sel, const int64_t *image,
		   set_sum_fn fn, void *ctx);

/*
 * Reads an image by its id; rows_image_fini() frees it. Returns 0, -CPI_ECORRUPT if
 * there is none, or another error.
 */
int set_query_image(struct db *db, int64_t id, struct query_image *image);

#endif
