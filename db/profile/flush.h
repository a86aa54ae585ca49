/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flush.h - the counts of one interval, which the daemon stores in one transaction
 *
 * These are plain structs. The caller owns everything that they point to.
 *
 * I1  Per stream: received = Σ totals (PROFILE_COUNT) of the profiles with context "" +
 *     Σ losses. Profiles with another context contain some of these samples a second
 *     time. Profiles without an image contain samples that Σ losses counts as unknown.
 */
#ifndef CPI_DB_FLUSH_H
#define CPI_DB_FLUSH_H

#include <stddef.h>
#include <stdint.h>

#include "db/profile/accesses.h"
#include "db/profile/edges.h"
#include "db/profile/model.h"
#include "db/profile/profile.h"
#include "db/profile/stacktree.h"
#include "db/profile/windows.h"

/* What a stream samples: tally.kind of cpi-db(5). */
enum tally_kind { TALLY_SAMPLES = 0, TALLY_STACKS = 1, TALLY_WINDOWS = 2 };

/*
 * Losses: samples that no profile with context "" has, by reason. UNKNOWN: they have no
 * image.
 */
enum loss_class { LOSS_UNKNOWN = 0, LOSS_LOST = 1 };

struct flush_profile {
	/*
	 * NULL: samples without an image; their offsets are of enum stack_unknown. Only
	 * with a context.
	 */
	const struct image_desc *image;
	int stream;          /* index into streams */
	const char *context; /* "" for the profile of all samples, otherwise a name
				(context.h) */
	struct profile *profile;
};

/* Totals by command. They exist even if no profiles by command are kept. */
struct flush_comm {
	const struct image_desc *image; /* NULL for unknown ones */
	int stream;
	const char *comm;
	uint64_t n;
};

/* Edges from an image to the same or another image. */
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
	uint64_t enabled_ns; /* Σ over CPUs of the time that the event was enabled … */
	uint64_t running_ns; /* … and was counting (less when multiplexed) */
	uint64_t throttled;  /* how often the kernel throttled it */
};

/* Streams, and their losses. */
struct flush_streams {
	const struct flush_stream *stream;
	size_t nr;
	const struct flush_loss *losses;
	size_t nr_losses;
};

/*
 * Symbols and code that cannot be read later, such as those of the kernel and the vDSO.
 */
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

/* The text of an instruction in a pipeline trace. */
struct flush_instruction {
	const struct image_desc *image;
	uint64_t start; /* image offset */
	const char *text;
};

/*
 * Call stacks, which have streams of their own. Each stack is in one tree, so I1 holds
 * with the totals of all trees.
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
	/*
	 * Images by their number in the trees. NULL: unknown; then the offsets are the
	 * reasons.
	 */
	const struct image_desc *const *images;
	size_t nr_images;
};

/*
 * Windows, which have streams of their own. I1 holds with the number of windows that
 * the sets of context "" have seen. Edges are those of all windows, also of windows
 * that a set did not keep. Their stream numbers are those of the windows' streams.
 */
struct flush_window_set {
	const struct image_desc *image; /* in which the windows began */
	int stream;                     /* index of the windows' streams */
	const char *context;       /* "" for those of all, else a name (context.h) */
	struct windows *windows;   /* not empty; storing may add windows to it */
	struct accesses *accesses; /* which data they touched; NULL: not known */
};

struct flush_windows {
	struct flush_streams streams;
	const struct flush_window_set *sets;
	size_t nr_sets;
	const struct flush_edges *edges;
	size_t nr_edges;
	/* Images by their number in the windows' jumps. NULL: unknown. */
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
};

#endif
