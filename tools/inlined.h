/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * inlined.h - the functions that were inlined somewhere, for people and programs
 */
#ifndef CPI_TOOLS_INLINED_H
#define CPI_TOOLS_INLINED_H

#include "analysis/image.h"
#include "tools/json.h"
#include "tools/table.h"

/* As image_inlined_at() gives it: the innermost first. { NULL, 0 } for none. */
struct inlined_chain {
	const struct inlined *at;
	size_t nr;
};

struct inlined_chain inlined_at(struct image *im, uint64_t offset);

/* Orders by what they say. */
int inlined_compare(const struct inlined_chain *a, const struct inlined_chain *b);

/*
 * A line between the rows for each function, the outermost first; where nothing is
 * inlined, the procedure's name.
 */
void inlined_put_lines(struct table *t, const struct inlined_chain *chain,
		       const char *procedure);

/* A cell: "inner called at a.c:3, outer called at b.c:4". */
void inlined_put_cell(struct table *t, const struct inlined_chain *chain);

/* The member "inlined": an array of objects. */
void inlined_json(struct json *j, const struct inlined_chain *chain);

#endif
