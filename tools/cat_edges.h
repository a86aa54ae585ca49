/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cat_edges.h - where control went, as it is stored
 */
#ifndef CPI_TOOLS_CAT_EDGES_H
#define CPI_TOOLS_CAT_EDGES_H

#include "tools/select.h"

/* Prints the edges of a selection. 0 or a negative error. */
int cat_edges(const struct cmd_context *ctx, const struct selection *sel);

#endif
