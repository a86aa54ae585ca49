/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_rows.h - finds, makes, sums and orders the rows of a struct prof
 */
#ifndef CPI_REPORT_PROF_ROWS_H
#define CPI_REPORT_PROF_ROWS_H

#include "report/profile/prof.h"
#include "report/select/imagecache.h"

/* The start of the row of offsets that no symbol covers. */
#define NO_SYMBOL UINT64_MAX

/* Returns the procedure's start in the key of its row: 0 for symbols of a JIT image. */
uint64_t prof_row_start(const struct query_image *image, const struct symbol *symbol);

/* The key of a row. A new row gets copies of the strings. */
struct row_key {
	enum row_kind kind;
	const struct query_image *image; /* NULL: no image */
	uint64_t start;
	const char *procedure, *inlined, *context, *file;
	const struct cgroup_container *container; /* of context; not part of the key */
	int line;
	bool kernel; /* the samples are in the kernel; not part of the key */
};

/* Finds the row of key, or makes it. Returns 0 or -ENOMEM. */
int prof_row(struct prof *p, const struct row_key *key, struct prof_row **out);

/*
 * Returns the row of a procedure or, if symbol is NULL, of offsets without a symbol;
 * NULL if there is no such row.
 */
const struct prof_row *prof_procedure_row(const struct prof *p,
					  const struct query_image *image,
					  const struct symbol *symbol);

/* Returns the row of p with the same key as a row of another prof; or NULL. */
struct prof_row *prof_same_row(const struct prof *p, const struct prof_row *row);

/* Adds n samples of event to the row and the totals; amount is Σ of their weights. */
void prof_add(struct prof *p, struct prof_row *row, size_t event, uint64_t n,
	      double amount);

/*
 * Do the same for the row of key. amount is Σ of the weights of n samples; weight is
 * the weight of each. Return 0 or -ENOMEM.
 */
int prof_add_amount(struct prof *p, const struct row_key *key, size_t event, uint64_t n,
		    double amount);
int prof_add_to(struct prof *p, const struct row_key *key, size_t event, uint64_t n,
		double weight);
int prof_add_idle(struct prof *p, size_t event, uint64_t n, double weight);

/* Fills p->row in the order of --sort, busiest first. Returns 0 or -ENOMEM. */
int prof_sort(struct prof *p);
void prof_free_rows(struct prof *p);

#endif
