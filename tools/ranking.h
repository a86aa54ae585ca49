/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranking.h - a command that lists the places with the most of something
 */
#ifndef CPI_TOOLS_RANKING_H
#define CPI_TOOLS_RANKING_H

#include "tools/explaining.h"
#include "tools/spots.h"

struct ranking_kind;

struct ranking {
	const struct ranking_kind *kind;
	struct explainer *x;
	const struct explanation *ex; /* whose spots are being added */
	struct spots spots;
	double all; /* samples */
};

/* What a command ranks, and how it shows it. */
struct ranking_kind {
	const char *name; /* of the spots, in JSON */
	const struct column *columns;
	size_t nr_columns; /* RANKING_PLACE included */
	/* Adds the spots of r->ex. 0, or an error that ends it. */
	int (*add)(struct ranking *r);
	/* Fills the columns before RANKING_PLACE. */
	void (*cells)(struct table *t, const struct spot *spot, double percent,
		      bool text);
};

/* Columns of the place: the last of a table. */
#define RANKING_PLACE                                                         \
	{ "address", "address", COLUMN_NUMBER, COLUMN_EVERYWHERE },           \
		{ "", "offset", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },          \
		{ "procedure", "procedure", COLUMN_TEXT, COLUMN_EVERYWHERE }, \
		{ "instruction", "text", COLUMN_TEXT, COLUMN_EVERYWHERE },    \
		{ "image", "image", COLUMN_TEXT, COLUMN_EVERYWHERE },         \
		{ "", "build_id", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },          \
		{ "source", "", COLUMN_TEXT, COLUMN_ONLY_IN_TEXT },           \
		{ "", "file", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },              \
	{                                                                     \
		"", "line", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT                 \
	}

extern const struct opt ranking_opts[];

/*
 * Fills where a spot of r->ex is; insn of its cfg, or -1: only the offset is known.
 * 0 or -ENOMEM.
 */
int ranking_locate(const struct ranking *r, int insn, uint64_t offset,
		   struct spot *spot);

/* Fills the columns of RANKING_PLACE. */
void ranking_put_place(const struct spot *spot, struct table *t);

/* All of it, for explainer_run(). */
int ranking_run(struct explainer *x, const struct ranking_kind *kind);

#endif
