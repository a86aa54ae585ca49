/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cfg_dot.h - a control-flow graph with frequencies: in graphviz's language, and as
 * JSON
 */
#ifndef CPI_TOOLS_CFG_DOT_H
#define CPI_TOOLS_CFG_DOT_H

#include "analysis/explain/explain.h"
#include "base/buf.h"
#include "report/select/events.h"

struct cfg_picture {
	const struct explained *e;
	bool has_time; /* frequencies are known */
	struct isa *isa;
	const struct events *ev;
	const struct image_desc *image;
	const struct event_sum *tally; /* ev->nr sums for each block, then ev->nr of
					  samples in no block */
	double total; /* the weight of all samples of the first event */
};

/* Appends the whole graph; out->err tells when memory ran out. */
void cfg_dot(const struct cfg_picture *p, struct buf *out);

/*
 * Prints blocks and edges. dot is the same graph as above: if graphviz is installed,
 * each block has the place where its picture shows it. Returns 0 or -ENOMEM.
 */
int cfg_print_json(const struct cfg_picture *p, const struct buf *dot);

#endif
