/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_rows.h - the rows of a struct prof: found, made, summed, ordered
 */
#ifndef CPI_REPORT_PROF_ROWS_H
#define CPI_REPORT_PROF_ROWS_H

#include "report/profile/prof.h"
#include "report/select/imagecache.h"

/* The start of a row that no symbol covers. */
#define NO_SYMBOL UINT64_MAX

/* Where a row's procedure begins, as far as that tells it apart. */
uint64_t prof_row_start(const struct query_image *image, const struct symbol *symbol);

/* What tells rows apart; strings are copied into a new row. */
struct row_key {
	enum row_kind kind;
	const struct query_image *image; /* NULL for none */
	uint64_t start;
	const char *procedure, *inlined, *context, *file;
	const struct cgroup_container *container; /* of context; tells no rows apart */
	int line;
	bool kernel; /* the samples are the kernel's; tells no rows apart */
};

/* The row of key, made when it is new. 0 or -ENOMEM. */
int prof_row(struct prof *p, const struct row_key *key, struct prof_row **out);

/* The row of a procedure, or with NULL of what no symbol covers; NULL: none. */
const struct prof_row *prof_procedure_row(const struct prof *p,
					  const struct query_image *image,
					  const struct symbol *symbol);

/* The row of p that stands for the same as one of another prof; NULL: none. */
struct prof_row *prof_same_row(const struct prof *p, const struct prof_row *row);

/* Adds n samples of event, of which the amount is that of all, to row and totals. */
void prof_add(struct prof *p, struct prof_row *row, size_t event, uint64_t n,
	      double weight);

/*
 * The same for the row of key; amount is what n samples stand for together, weight what
 * each does. 0 or -ENOMEM.
 */
int prof_add_amount(struct prof *p, const struct row_key *key, size_t event, uint64_t n,
		    double amount);
int prof_add_to(struct prof *p, const struct row_key *key, size_t event, uint64_t n,
		double weight);
int prof_add_idle(struct prof *p, size_t event, uint64_t n, double weight);

/* Fills p->row in the order of --sort, busiest first. 0 or -ENOMEM. */
int prof_sort(struct prof *p);
void prof_free_rows(struct prof *p);

#endif
