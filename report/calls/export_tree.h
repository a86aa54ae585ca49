/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_tree.h - merges weighted stacks into a tree by their common outer frames
 *
 * The outermost frames of a stack are: the machine, if there are several; then the
 * context or, without context, the image.
 *
 * I1  A node's parent comes before it.
 * I2  For each column: Σ values of nodes = Σ values of the stacks.
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
	uint32_t build_id;        /* string: hexadecimal, or "" */
};

/* A procedure, an instruction of a procedure, or a function inlined there. */
struct export_tree_frame {
	struct hnode node;
	uint32_t nr;
	uint32_t function; /* a string */
	uint32_t file;     /* a string, or EXPORT_NONE */
	uint32_t image;    /* an index, or EXPORT_NONE */
	int line;          /* 0: not known */
	int begin_line;    /* of the procedure; 0: not known, or inlined */
	uint32_t depth;    /* the number of inlined calls that lead to it */
	uint64_t start;    /* of the procedure; UINT64_MAX: inlined, or not known */
	uint64_t address;  /* of an instruction, else 0 */
};

struct export_tree_node {
	struct hnode node;
	uint32_t nr, frame;
	uint32_t parent; /* or EXPORT_NONE */
	double value[];  /* by column: Σ of the stacks that end here */
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
 * Gathers all stacks of a selection. exact: each instruction is a frame, else each
 * procedure. Returns 0, -ENOMEM, -CPI_ELIMIT, or an error of w->each. The caller frees
 * t, also after an error.
 */
int export_tree_gather(struct export_tree *t, struct export_samples *w, bool exact);
void export_tree_fini(struct export_tree *t);

#endif
