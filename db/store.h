/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * store.h - writing: runs, epochs, and flushes that count exactly once
 *
 * A run is one life of a collector. Its flushes are numbered; a flush's
 * (run, seq) is inserted in the transaction that merges its counts, so a
 * flush that is stored again after a crash or an unclear error changes nothing.
 *
 * I1  Per stream and epoch: received = Σ profile totals (PROFILE_COUNT) +
 *     Σ losses. store_flush() refuses a flush that breaks it.
 * I2  Intervals of one run do not overlap; what lies between two runs, where
 *     the first did not end cleanly, has a gap row. So has the moment at which
 *     the clock stepped back during an interval: that one is stored with length
 *     0 (its duration is right), and later ones may lie before it.
 */
#ifndef CPI_DB_STORE_H
#define CPI_DB_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/anchors.h"
#include "db/db.h"
#include "db/edges.h"
#include "db/model.h"
#include "db/profile.h"
#include "db/stacktree.h"
#include "db/windows.h"

/* Every way to lose a sample has a name; UNKNOWN was sampled but has no image. */
enum loss_class { LOSS_UNKNOWN = 0, LOSS_LOST = 1 };

struct flush_profile {
	const struct image_desc *image;
	int stream;          /* index into streams */
	const char *context; /* "" for the profile of all, else "comm=NAME" */
	struct profile *profile;
};

/* Totals by command: cheap where per-context profiles are not kept. */
struct flush_comm {
	const struct image_desc *image; /* NULL for unknown ones */
	int stream;
	const char *comm;
	uint64_t n;
};

/* Where control went: from one image into the same or another one. */
struct flush_edges {
	const struct image_desc *image, *target; /* NULL for unknown ones */
	int stream;
	enum edges_kind kind;
	struct edges *edges; /* not empty */
};

struct flush_loss {
	int stream;
	enum loss_class class;
	const char *name; /* "ambiguous", "map_gap", "ring_lost", … */
	uint64_t n;
};

struct flush_stream {
	struct stream_desc desc;
	uint64_t received;     /* at the handler's entry */
	int64_t not_delivered; /* event count / mean period - received */
	uint64_t enabled_ns;   /* Σ over CPUs: the event was wanted, … */
	uint64_t running_ns;   /* … and was counting (less when multiplexed) */
	uint64_t throttled;    /* how often the kernel throttled it */
};

/* Streams, and what was lost of them. */
struct flush_streams {
	const struct flush_stream *stream;
	size_t nr;
	const struct flush_loss *losses;
	size_t nr_losses;
};

/* Code and names that will be gone later: the kernel's symbols, the vDSO's file. */
struct flush_symbol {
	const struct image_desc *image;
	uint64_t start, size; /* image offsets */
	const char *name;
};

struct flush_code {
	const struct image_desc *image;
	uint64_t start; /* image offset; 0 with a whole ELF file for a vDSO */
	const void *bytes;
	size_t size;
};

/* What a trace calls an instruction. */
struct flush_instruction {
	const struct image_desc *image;
	uint64_t start; /* image offset */
	const char *text;
};

/*
 * Call stacks, by streams of their own. I1 holds for them with the totals of the trees
 * of context "" and of "comm=NAME": each stack is in one of these.
 */
struct flush_tree {
	int stream; /* index into the stacks' streams */
	const char *context;
	const struct stack_tree *tree;
};

struct flush_stacks {
	struct flush_streams streams;
	const struct flush_tree *trees;
	size_t nr_trees;
	/* By their number in the trees; NULL: unknown, an offset says why. */
	const struct image_desc *const *images;
	size_t nr_images;
};

/*
 * Windows, by streams of their own, of which I1 holds with what the sets of context ""
 * have seen. Edges are all that was seen on their way, before sets kept some of them:
 * these, too, are by the windows' streams.
 */
struct flush_window_set {
	const struct image_desc *image; /* that they began in */
	int stream;                     /* index into the windows' streams */
	const char *context;            /* "" for those of all, else "comm=NAME" */
	struct windows *windows;        /* not empty; may have more afterwards */
};

struct flush_windows {
	struct flush_streams streams;
	const struct flush_window_set *sets;
	size_t nr_sets;
	const struct flush_edges *edges;
	size_t nr_edges;
	/* By their number in the windows' jumps; NULL: unknown. */
	const struct image_desc *const *images;
	size_t nr_images;
};

struct flush {
	uint64_t seq;            /* 1, 2, 3, … within the run */
	uint64_t from_ns, to_ns; /* real time */
	uint64_t duration_ns;    /* monotonic */
	const struct flush_stream *streams;
	size_t nr_streams;
	const struct flush_profile *profiles;
	size_t nr_profiles;
	const struct flush_comm *comms;
	size_t nr_comms;
	const struct flush_edges *edges;
	size_t nr_edges;
	const struct flush_loss *losses;
	size_t nr_losses;
	const struct flush_symbol *symbols;
	size_t nr_symbols;
	const struct flush_code *codes;
	size_t nr_codes;
	const struct flush_instruction *instructions;
	size_t nr_instructions;
	const struct flush_stacks *stacks;   /* NULL: none */
	const struct flush_windows *windows; /* NULL: none */
	const struct flush_anchors *anchors; /* NULL: none */
};

struct store;

/*
 * Begins a run: records the platform, and a gap row when the run before ended
 * without store_end(). db stays the caller's and must outlive the store.
 * Returns 0, -errno or -CPI_E….
 */
int store_begin(struct db *db, const struct platform_desc *platform, uint64_t now_ns,
		struct store **out);

/*
 * Begins an epoch at now_ns and ends the one before. label may be NULL;
 * uncertainty_ms says how sharp the edge is. The first epoch of a run is begun
 * like any other.
 */
int store_epoch(struct store *s, uint64_t now_ns, uint32_t uncertainty_ms,
		const char *label);

/*
 * Merges f into the current epoch, in one transaction. Returns 0 when f is
 * stored, now or earlier; -ENOSPC, -EIO, -EBUSY … when it is not: keep f and
 * try again. -EINVAL when f breaks I1.
 */
int store_flush(struct store *s, const struct flush *f);

/* Ends the epoch and the run cleanly (0 or -errno); then frees s in any case. */
int store_end(struct store *s, uint64_t now_ns);
void store_free(struct store *s); /* without ending: what a crash leaves */

/* Names an epoch. -ENOENT when there is none with this id. For a DB_WRITE handle. */
int store_label_epoch(struct db *db, int64_t epoch, const char *label);

#endif
