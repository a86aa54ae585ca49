/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * graphviz.h - runs graphviz's dot, which lays out a graph
 */
#ifndef CPI_TOOLS_GRAPHVIZ_H
#define CPI_TOOLS_GRAPHVIZ_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Writes the graph to the descriptor out. form is an output format of dot -T, such as
 * "svg" or "plain". Returns 0, -ENOENT if dot is not installed, -EIO if it failed, or
 * -errno.
 */
int graphviz_run(const struct buf *dot, const char *form, int out);

/*
 * Where a node is in the picture, from the top left. All four are fractions of the
 * picture's width or height.
 */
struct graphviz_box {
	double x, y, width, height;
};

/*
 * Finds the boxes of the nodes "b0" to "b<nr - 1>"; the width of a node that is not in
 * the graph is 0. Errors as above, and -ENOMEM.
 */
int graphviz_boxes(const struct buf *dot, size_t nr, struct graphviz_box *box);

#endif
