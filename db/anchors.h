/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * anchors.h - how often instructions ran that had a breakpoint for a while
 *
 * A visit is one breakpoint in one thread, for some milliseconds or hits. Visits of one
 * place and command add up; none of them is kept by itself.
 */
#ifndef CPI_DB_ANCHORS_H
#define CPI_DB_ANCHORS_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "db/anchorsums.h"
#include "db/model.h"

struct db;
struct query_epochs;

struct flush_anchor {
	const struct image_desc *image;
	uint64_t start; /* image offset */
	const char *comm;
	struct anchor_sums sums;
};

struct flush_anchor_loss {
	const char *name;
	uint64_t n;
};

/* visits = Σ visits of the anchors + Σ losses. */
struct flush_anchors {
	uint64_t visits;
	const struct flush_anchor *anchor;
	size_t nr_anchors;
	const struct flush_anchor_loss *loss;
	size_t nr_losses;
};

/* Whether that adds up. 0, or -EINVAL, logged with the path. */
int anchors_check_flush(const struct flush_anchors *f, uint64_t seq, const char *path);

/* Adds them to an epoch; search finds images (intern.h). 0 or a negative error. */
int anchors_merge(sqlite3 *h, int64_t epoch, const struct flush_anchors *f,
		  sqlite3_stmt *search);

/* Moves an epoch's to another one. */
int anchors_move(sqlite3 *h, int64_t epoch, int64_t target);

/* An anchor of a selection, merged over its epochs. */
struct query_anchor {
	int64_t image;
	uint64_t start;
	const char *comm;
	struct anchor_sums sums;
};

/*
 * Calls fn for each anchor of some epochs, by image, start and command. fn's non-zero
 * return ends it and is returned; else 0 or a negative error.
 */
typedef int (*query_anchor_fn)(void *ctx, const struct query_anchor *a);
int query_anchors(struct db *db, const struct query_epochs *e, query_anchor_fn fn,
		  void *ctx);

#endif
