/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_tree.h - weighted stacks put together where they have frames in common
 *
 * The outermost frames of a stack say where it is from: the machine, where there are
 * several, then the context; without one, the image.
 *
 * I1  A node's parent comes before it.
 * I2  Per column: Σ values of nodes = Σ values of the stacks.
 */
#ifndef CPI_REPORT_EXPORT_TREE_H
#define CPI_REPORT_EXPORT_TREE_H

#include "report/calls/export_samples.h"
#include "report/calls/strings.h"

#define EXPORT_NONE UINT32_MAX

struct export_tree_image {
	int64_t id;
	enum image_kind kind;
	uint32_t name, base_name; /* strings */
	uint32_t build_id;        /* hexadecimal; "" where it has none */
};

/* A procedure, or one of its instructions, or one that is inlined there. */
struct export_tree_frame {
	struct hnode node;
	uint32_t nr;
	uint32_t function; /* a string */
	uint32_t file;     /* a string, or EXPORT_NONE */
	uint32_t image;    /* an index, or EXPORT_NONE */
	int line;          /* 0: not known */
	int begin_line;    /* of the procedure; 0: not known, or inlined */
	uint32_t depth;    /* how many others it is inlined into, one after the other */
	uint64_t start;    /* of the procedure; UINT64_MAX: inlined, or not known */
	uint64_t address;  /* of an instruction, else 0 */
};

struct export_tree_node {
	struct hnode node;
	uint32_t nr, frame;
	uint32_t parent; /* or EXPORT_NONE */
	double value[];  /* per column: of the stacks that end here */
};

struct export_tree {
	bool exact; /* frames are instructions */
	bool hosts; /* there are several machines */
	size_t nr_columns;
	struct strings strings;
	struct export_tree_image *image;
	struct export_tree_frame **frame;
	struct export_tree_node **at;
	size_t nr_images, nr_frames, nr;
	struct hmap frames, nodes;
	struct arena memory;
};

/*
 * Gathers all stacks of a selection; exact tells instructions of a procedure apart.
 * 0, -ENOMEM, -CPI_ELIMIT, or what w->each returns; the caller frees t, also after an
 * error.
 */
int export_tree_gather(struct export_tree *t, struct export_samples *w, bool exact);
void export_tree_fini(struct export_tree *t);

#endif
