/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query.h - reads epochs, and the profiles of a selection
 *
 * Read transactions are short: each function opens one, copies rows, and ends it.
 */
#ifndef CPI_DB_QUERY_H
#define CPI_DB_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "db/core/db.h"
#include "db/profile/codec.h"
#include "db/profile/flush.h"
#include "db/profile/selection.h"

/*
 * Epochs that spec names: "last" (the one that began last); NULL or "recent" (the last
 * one and, if it has no label, those of its run that begin in the hour that ends with
 * it); "all"; an id
 * (any number alone, so that "2026" is no year); "-N" (N before last); a label; a
 * moment or interval as time_parse() or time_parse_relative() takes it (epochs
 * that overlap it by more than a second; "now" alone is the open epoch); or "A..B" with
 * any of these at both ends (both included, but a time of B that has minutes is where
 * it ends; an empty end is open; "2026-11-20T10..12" ends in the same day); or a
 * comma-separated list of ids. Returns 0, -EINVAL (malformed) or -ENOENT (names
 * no epoch), neither logged.
 */
int query_epochs(struct db *db, const char *spec, struct query_epochs *out);

/*
 * The same among the epochs of some machines: "last" is the last epoch of these.
 * Globs are fnmatch(3)'s without flags; NULL does not restrict.
 */
struct query_machines {
	const char *host;
	const char *platform; /* on "arch/cpu/release", or on one of the three */
};

int query_epochs_of(struct db *db, const char *spec, const struct query_machines *of,
		    struct query_epochs *out);
void query_epochs_fini(struct query_epochs *e);

/*
 * The times that spec asks for, of a moment, an interval, or "A..B" of them; an open
 * end is 0 or INT64_MAX. Returns 0, or -ENOENT where spec names epochs in another way;
 * then both are untouched.
 */
int query_asked_times(const char *spec, uint64_t now_ns, uint64_t *from_ns,
		      uint64_t *to_ns);

/* Whether spec, an end of a range or alone, has a form that is no label. */
bool query_is_no_label(const char *spec);

/* Removes the epoch at an index from the list. */
void query_epochs_remove(struct query_epochs *e, size_t at);

struct query_stream {
	int64_t id;
	struct stream_desc desc; /* strings owned by the list */
	uint64_t received, stored;
	int64_t not_delivered;
	uint64_t enabled_ns, running_ns, throttled;
};

struct query_streams {
	struct query_stream *stream;
	size_t nr;
};

struct query_loss {
	int64_t stream;
	enum loss_class class;
	char *name;
	uint64_t n;
};

struct query_losses {
	struct query_loss *loss;
	size_t nr;
};

struct query_gap {
	uint64_t from_ns, to_ns;
	char *reason;
	char *host;
};

struct query_gaps {
	struct query_gap *gap;
	size_t nr;
};

/* Sums over the epochs. event NULL: all, else only streams of that event. */
int query_streams_of(struct db *db, enum tally_kind kind, const struct query_epochs *e,
		     const char *event, struct query_streams *out);
int query_streams(struct db *db, const struct query_epochs *e, const char *event,
		  struct query_streams *out); /* of TALLY_SAMPLES */
void query_streams_fini(struct query_streams *s);

/* The stream of an id; NULL if it is not in the list, as one that a later flush added.
 */
const struct query_stream *query_stream_by_id(const struct query_streams *s,
					      int64_t id);

int query_losses_of(struct db *db, enum tally_kind kind, const struct query_epochs *e,
		    struct query_losses *out);
int query_losses(struct db *db, const struct query_epochs *e, struct query_losses *out);
void query_losses_fini(struct query_losses *l);

/* Gaps that overlap [from_ns, to_ns). */
int query_gaps(struct db *db, uint64_t from_ns, uint64_t to_ns, struct query_gaps *out);

/* Gaps of the epochs' machines, from the first of the epochs to the last. */
int query_gaps_of(struct db *db, const struct query_epochs *e, struct query_gaps *out);
void query_gaps_fini(struct query_gaps *g);

struct query_profile {
	struct query_image image;
	int64_t stream;
	const char *context;     /* its name, where they are apart; NULL: everybody's */
	struct profile *profile; /* all kinds, merged over the selected epochs */
};

/*
 * Whether the epochs have profiles by these kinds (1 << kind) of contexts, by several
 * of them together: 0, -CPI_EEMPTY, -errno.
 */
int query_need_contexts(struct db *db, const struct query_epochs *e,
			unsigned int kinds);

/*
 * Calls fn for each image and stream of the selection, and for each context of one that
 * is apart, with its merged profile, which is freed after the call. The order does not
 * depend on ids, so a copy gives the same. A non-zero return of fn stops and is
 * returned. -CPI_ECORRUPT, logged, for a blob that does not decode; -EAGAIN, logged, if
 * retention works on some of the epochs meanwhile. Each row is read in a transaction of
 * its own, so later rows of an open epoch may have a newer flush. progress, if not
 * NULL, is called with the number of images that are done, and of all.
 */
typedef int (*query_profile_fn)(void *ctx, const struct query_profile *row);
int query_profiles(struct db *db, const struct query_selection *sel,
		   query_profile_fn fn, void *ctx,
		   void (*progress)(void *ctx, size_t done, size_t all));

/* The edges from one image into the same or another one. */
struct query_edges {
	struct query_image image,
		target; /* id 0 and name "[unknown]" for unknown ones */
	int64_t stream;
	enum edges_kind kind;
	struct edges *edges; /* merged over the selected epochs */
};

/*
 * Calls fn for each pair of images, stream and kind of the selected epochs and event,
 * in the order of images. The selection's image and context do not matter. If image is
 * not 0, only edges that stay in this image are read. The row is freed after the call.
 * Else as query_profiles().
 */
typedef int (*query_edges_fn)(void *ctx, const struct query_edges *row);
int query_edges(struct db *db, const struct query_selection *sel, int64_t image,
		query_edges_fn fn, void *ctx);

/* Samples of a command or context on an image. */
struct query_comm {
	char *comm;               /* a command, or a context's name */
	struct query_image image; /* id 0 and name "[unknown]" for unknown ones */
	int64_t stream;
	uint64_t n;
};

struct query_comms {
	struct query_comm *comm;
	size_t nr;
};

/*
 * Totals by command, which every epoch has, whether or not profiles are kept by
 * context. What is selected by other kinds is ignored.
 */
int query_comms(struct db *db, const struct query_selection *sel,
		struct query_comms *out);
void query_comms_fini(struct query_comms *c);

/*
 * Totals by the contexts of the selection, apart by kinds (1 << kind). If none is
 * restricted, the samples in no such context come, too, with the name "". -CPI_EEMPTY
 * as in selection.h.
 */
int query_contexts(struct db *db, const struct query_selection *sel, unsigned int kinds,
		   struct query_comms *out);

/* Captured symbols and code of an image. Ascending starts; bytes and names are copies.
 */
struct query_symbol {
	uint64_t start, size;
	char *name;
};

struct query_code {
	uint64_t start;
	size_t size;
	uint8_t *bytes;
};

struct query_capture {
	struct query_symbol *symbol;
	size_t nr_symbols;
	struct query_code *code;
	size_t nr_codes;
};

int query_capture(struct db *db, int64_t image, struct query_capture *out);
void query_capture_fini(struct query_capture *c);

/* What a trace calls the instructions of an image. Ascending; texts are copies. */
struct query_instruction {
	uint64_t start;
	char *text;
};

struct query_instructions {
	struct query_instruction *instruction;
	size_t nr;
};

int query_instructions(struct db *db, int64_t image, struct query_instructions *out);
void query_instructions_fini(struct query_instructions *list);

/*
 * Flushes, for cpi cat and the tests: each is an interval that is stored completely. A
 * roll-up makes one of those that follow each other; seq is then that of the last.
 */
struct query_interval {
	int64_t run, seq, epoch, nr_flushes;
	uint64_t from_ns, to_ns, duration_ns;
	uint64_t received, stored, lost; /* Σ over streams; stored + lost = received */
};

typedef int (*query_interval_fn)(void *ctx, const struct query_interval *row);
int query_intervals(struct db *db, const struct query_epochs *e, query_interval_fn fn,
		    void *ctx);

#endif
