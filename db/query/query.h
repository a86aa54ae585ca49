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
 * Finds the epochs that spec names:
 *	"last"		the epoch that began last
 *	NULL, "recent"	the last epoch and, if it has no label, those of its run that
 *			begin in the hour that ends with it
 *	"all"		all epochs
 *	N		an id (so "2026" is not a year)
 *	N,N,…		a list of ids
 *	"-N"		the Nth epoch before the last one
 *	a label		all epochs with this label
 *	"mark:TEXT"	the epochs that contain the mark
 *	a time		a moment or interval as in time_parse() or
 *			time_parse_relative(): epochs that overlap it by more than a
 *			second; "now" alone is the open epoch
 *	"A..B"		all epochs from A to B, with any of these at both ends. An
 *			empty end is open. If B is a time with minutes, the range ends
 *			there. "2026-11-20T10..12" ends on the same day.
 * Returns 0, -EINVAL (malformed) or -ENOENT (names no epoch), neither logged.
 */
int query_epochs(struct db *db, const char *spec, struct query_epochs *out);

/*
 * query_epochs_of() considers only the epochs of some machines: "last" is the last
 * epoch of these. The patterns are those of fnmatch(3) without flags; NULL means all.
 */
struct query_machines {
	const char *host;
	const char *platform; /* matches "arch/cpu/release", or one of the three */
};

int query_epochs_of(struct db *db, const char *spec, const struct query_machines *of,
		    struct query_epochs *out);
void query_epochs_fini(struct query_epochs *e);

/*
 * Gets the times in spec: a moment, an interval, or "A..B" with these. An open end is 0
 * or INT64_MAX. Returns 0, or -ENOENT if spec names epochs in another way; then both
 * are untouched.
 */
int query_asked_times(const char *spec, uint64_t now_ns, uint64_t *from_ns,
		      uint64_t *to_ns);

/* Whether spec, alone or as an end of a range, has a form that cannot be a label. */
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

/*
 * Read the streams, with sums over the epochs; only streams of event, unless it is
 * NULL. They return 0 or an error.
 */
int query_streams_of(struct db *db, enum tally_kind kind, const struct query_epochs *e,
		     const char *event, struct query_streams *out);
int query_streams(struct db *db, const struct query_epochs *e, const char *event,
		  struct query_streams *out); /* of TALLY_SAMPLES */
void query_streams_fini(struct query_streams *s);

/*
 * Returns the stream with an id; NULL if it is not in the list, for example because a
 * later flush added it.
 */
const struct query_stream *query_stream_by_id(const struct query_streams *s,
					      int64_t id);

int query_losses_of(struct db *db, enum tally_kind kind, const struct query_epochs *e,
		    struct query_losses *out);
int query_losses(struct db *db, const struct query_epochs *e, struct query_losses *out);
void query_losses_fini(struct query_losses *l);

/* Reads the gaps that overlap [from_ns, to_ns). */
int query_gaps(struct db *db, uint64_t from_ns, uint64_t to_ns, struct query_gaps *out);

/*
 * Reads the gaps of the epochs' machines, between the first epoch's begin and the last
 * one's end.
 */
int query_gaps_of(struct db *db, const struct query_epochs *e, struct query_gaps *out);
void query_gaps_fini(struct query_gaps *g);

struct query_profile {
	struct query_image image;
	int64_t stream;
	/* the context's name if contexts are separate rows; NULL: all samples */
	const char *context;
	struct profile *profile; /* all kinds, merged over the selected epochs */
};

/*
 * Checks that the epochs have profiles by these kinds (1 << kind) of contexts, and by
 * several of them together. Returns 0, -CPI_EEMPTY if not, or -errno.
 */
int query_need_contexts(struct db *db, const struct query_epochs *e,
			unsigned int kinds);

/*
 * Calls fn for each image and stream of the selection, and, if the selection asks for
 * separate contexts, for each context, with the merged profile, which is freed after
 * the call. The order does not depend on ids, so a copy of the database gives the same
 * order. A non-zero return of fn stops and is returned. Returns 0; -CPI_ECORRUPT
 * (logged) if a blob does not decode; -EAGAIN (logged) if retention changes some of the
 * epochs during the query; or another error. Without db_begin_read() each row is read
 * in its own transaction, so later rows of an open epoch may include a newer flush.
 * progress, if not NULL, is called with the number of finished images, and of all.
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
 * in the order of images. Ignores the selection's image and context. If image is not 0,
 * only edges within this image are read, and its EDGES_PACE_START into any image. The
 * row is freed after the call. Otherwise as query_profiles().
 */
typedef int (*query_edges_fn)(void *ctx, const struct query_edges *row);
int query_edges(struct db *db, const struct query_selection *sel, int64_t image,
		query_edges_fn fn, void *ctx);

/* The samples of a command or context in an image. */
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
 * Reads the totals by command, which all epochs have, even without profiles by context.
 * Ignores selections by other kinds of contexts. Returns as query_profiles().
 */
int query_comms(struct db *db, const struct query_selection *sel,
		struct query_comms *out);
void query_comms_fini(struct query_comms *c);

/*
 * Reads the totals by the contexts of the selection, with separate rows for these kinds
 * (1 << kind). If the selection restricts no context, the samples without such a
 * context are included, with the name "". Returns -CPI_EEMPTY as in selection.h;
 * otherwise as query_profiles().
 */
int query_contexts(struct db *db, const struct query_selection *sel, unsigned int kinds,
		   struct query_comms *out);

/*
 * Captured symbols and code of an image, sorted by start. Bytes and names are copies.
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

/*
 * The texts of an image's instructions, as a trace had them, sorted by start. Texts are
 * copies.
 */
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
 * Flushes, for cpi cat and the tests. Each is an interval that is completely stored. A
 * roll-up merges consecutive flushes into one; seq is then the last one's.
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
