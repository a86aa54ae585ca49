/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush_kind.h - the kinds of streams in a flush: samples, stacks and windows
 *
 * Each kind has rows and streams. The numbers of each stream must add up:
 * received = samples in rows + losses (I1 of store.h). struct flush_kind
 * describes the differences between the kinds; flush_merge.c has the common code.
 */
#ifndef CPI_DB_FLUSH_KIND_H
#define CPI_DB_FLUSH_KIND_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"
#include "db/core/set_rows.h"
#include "db/profile/flush.h"

/* The state of merging a flush into an epoch. */
struct merge {
	sqlite3 *h;
	int64_t run, epoch;
	const struct flush *f;
	struct hmap images; /* ids of images, found so far */
	sqlite3_stmt *image_search;
	struct set_adder adder[NR_SET_KINDS]; /* of set_kinds[] */
	uint64_t nr_stored;                   /* stored samples of all streams */
};

/* The part of a flush that belongs to one kind. */
struct flush_part {
	struct flush_streams streams;
	const struct image_desc *const
		*images; /* images to which rows refer by number; may be NULL */
	size_t nr_images;
	uint64_t *stored; /* stored samples, by stream */
	int64_t *id;      /* by stream: its id in the database */
	uint32_t *map;    /* by image: its number in the epoch */
};

struct flush_kind {
	enum tally_kind tally;
	/* Whether the flush has this kind; sets streams and images. */
	bool (*describe)(const struct flush *f, struct flush_part *part);
	/*
	 * Adds the rows' samples to part->stored. Returns -EINVAL if a row's stream is
	 * not in the flush.
	 */
	int (*add_up)(const struct flush *f, const struct flush_part *part);
	/* Adds the rows to the epoch. */
	int (*merge)(struct merge *m, const struct flush_part *part);
};

extern const struct flush_kind flush_samples, flush_stacks, flush_windows;

/*
 * Gets the id of an image in the database; inserts the image if it is new. desc must
 * stay valid.
 */
int merge_image_id(struct merge *m, const struct image_desc *desc, int64_t *id);

/* Adds edges to an epoch; their streams are those of part. */
int merge_edges(struct merge *m, const struct flush_part *part,
		const struct flush_edges *edges, size_t nr);

#endif
