/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush_kind.h - the kinds of streams in a flush: samples, stacks and windows
 *
 * Each kind has streams, which must add up, and rows that these streams stored. The
 * differences between the kinds are in struct flush_kind; flush_merge.c does the rest.
 */
#ifndef CPI_DB_FLUSH_KIND_H
#define CPI_DB_FLUSH_KIND_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"
#include "db/profile/flush.h"

/* A flush on its way into an epoch. */
struct merge {
	sqlite3 *h;
	int64_t run, epoch;
	const struct flush *f;
	struct hmap images; /* ids that are known */
	sqlite3_stmt *image_search;
	uint64_t nr_stored; /* samples, of all streams */
};

/* What a flush has of one kind. */
struct flush_part {
	struct flush_streams streams;
	const struct image_desc *const
		*images; /* those that rows number; may be NULL */
	size_t nr_images;
	uint64_t *stored; /* by stream */
	int64_t *id;      /* of a stream in the database */
	uint32_t *map;    /* by image: its number in the epoch */
};

struct flush_kind {
	enum tally_kind tally;
	/* Whether the flush has this kind; sets streams and images. */
	bool (*describe)(const struct flush *f, struct flush_part *part);
	/* Adds to part->stored; -EINVAL where something is of none of the streams. */
	int (*add_up)(const struct flush *f, const struct flush_part *part);
	/* Adds the rows to the epoch. */
	int (*merge)(struct merge *m, const struct flush_part *part);
};

extern const struct flush_kind flush_samples, flush_stacks, flush_windows;

/* The id of an image in the database, which may be new; desc must stay. */
int merge_image_id(struct merge *m, const struct image_desc *desc, int64_t *id);

/* Adds edges to an epoch; by the streams of a part. */
int merge_edges(struct merge *m, const struct flush_part *part,
		const struct flush_edges *edges, size_t nr);

#endif
