/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - header and footer of call-stack reports; how inlined functions are
 * shown
 *
 * Functions that return an int return 0 or -ENOMEM, unless stated otherwise.
 */
#ifndef CPI_TOOLS_WRITE_CALLS_H
#define CPI_TOOLS_WRITE_CALLS_H

#include "report/calls/calls.h"
#include "report/calls/children.h"
#include "report/calls/inlined.h"
#include "report/calls/tree.h"
#include "tools/ui/cmd.h"
#include "tools/ui/json.h"
#include "tools/ui/table.h"

/*
 * Prints the rows with the report's header and footer. In text, out says whether
 * to use colour.
 */
int calls_print(const struct calls *c, struct table *rows,
		const struct out_options *out);

/* Whether so many stacks have unknown callers that it needs an explanation. */
bool tree_has_many_unknown(const struct tree *t);

/* Appends that explanation: how many, what their names mean, and what helps. */
void tree_put_unknown(const struct tree *t, struct buf *out);

/* A row for each node of a finished tree. */
int tree_print(struct tree *t, const struct out_options *out);

/* A row for each procedure or image. */
int children_print(const struct children *c, const struct out_options *out);

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
