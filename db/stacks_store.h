/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacks_store.h - stacks in the transactions of flushes and retention
 */
#ifndef CPI_DB_STACKS_STORE_H
#define CPI_DB_STACKS_STORE_H

#include <sqlite3.h>
#include <stdint.h>

#include "db/slice.h"
#include "db/store.h"

/*
 * An epoch's trees take no new frames when they have so many bytes together: further
 * stacks are counted as STACK_NO_ROOM.
 */
#define STACKS_EPOCH_BYTES (64 << 20)

/* Adds what each stream stores; -EINVAL where a tree is of none. */
int stacks_add_up(const struct flush_stacks *f, uint64_t *stored);

/* Adds stacks to an epoch; search finds images (intern.h). 0 or a negative error. */
int stacks_merge(sqlite3 *h, int64_t epoch, const struct flush_stacks *f,
		 sqlite3_stmt *search);

/* An epoch's images by their number in its trees. */
struct stack_images {
	int64_t *id;
	uint32_t *map; /* room for what else they are called; 0 at first */
	uint32_t nr;
};

/* 0, -CPI_ECORRUPT when numbers are missing (logged), -ENOMEM, ... */
int stacks_images(sqlite3 *h, int64_t epoch, struct stack_images *out);
void stacks_images_fini(struct stack_images *im);

/* The number of an image in an epoch, which may be new. */
int stacks_number(sqlite3 *h, int64_t epoch, int64_t image, uint32_t *nr);

/* The numbers of a flush's images, NULL for unknown ones; search as in stacks_merge().
 */
int stacks_number_all(sqlite3 *h, int64_t epoch, const struct image_desc *const *images,
		      size_t nr, sqlite3_stmt *search, uint32_t *map);

/*
 * Adds what an epoch has for (epoch, stream, context) to t, with the epoch's numbers.
 * -CPI_ECORRUPT, logged, when that does not decode.
 */
int stacks_read(sqlite3 *h, const int64_t key[3], struct stack_tree *t);

/* Adds a tree to what the epoch has; its images are numbered there as map says. */
int stacks_add(sqlite3 *h, const int64_t key[3], const struct stack_tree *tree,
	       const uint32_t *map, uint32_t nr_map);

/*
 * In a slice: moves what an epoch has of stacks to another. 1: there is more; 0: done,
 * but for trees that do not decode.
 */
int stacks_move(struct slice *s, int64_t epoch, int64_t target);

/* In a slice: removes some of an epoch's stacks. 1: there is more; 0: done. */
int stacks_remove(struct slice *s, int64_t epoch);

#endif
