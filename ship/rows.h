/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rows.h - converts an epoch to rows of a store
 */
#ifndef CPI_SHIP_ROWS_H
#define CPI_SHIP_ROWS_H

#include <stdbool.h>

#include "base/buf.h"
#include "db/core/db.h"
#include "db/profile/model.h"

#define SHIP_MAX_TABLES 16

/* The address of an epoch's rows in the store. */
struct ship_address {
	uint32_t host, at; /* at: seconds since 1970 */
	uint16_t nr;
};

/* The configured origin of this machine's epochs. Members are NULL or "" if not set. */
struct ship_origin {
	const char *cluster, *machine, *release;
	const char *host; /* the machine's name, instead of that in the database */
};

/* What is shipped of an epoch (sums.h). */
struct ship_how {
	/* The length of sums. 0: without a budget, each epoch is shipped with all that
	 * it has; with a budget, the length is chosen to fit (ship_budget_length()). */
	uint64_t sums_ns;
	/* Of sums: of so many samples one is kept. 1: all; 0: the budget decides. */
	uint64_t one_in;
	uint64_t bytes; /* the budget (budget.h), of each CPU and day; 0: none */
};

/* An epoch of a sum. */
struct ship_member {
	int64_t id;
	uint64_t from_ns, to_ns, uncertainty_ms, last_flush;
	uint64_t received, stored, lost;
	bool damaged; /* it is not in the sum any more */
};

/* A complete epoch of the database, or the sum of several. */
struct ship_epoch {
	int64_t id, run;
	struct ship_address address;
	char *label;
	char *machine,
		*release; /* its origin; the cluster is that of struct ship_origin */
	uint64_t from_ns, to_ns, uncertainty_ms;
	uint64_t run_from_ns, run_to_ns, run_state;
	struct platform_desc platform; /* its texts belong to the epoch */
	uint64_t first_flush, last_flush;
	uint32_t turn;                   /* address.h, I4 */
	uint64_t received, stored, lost; /* of the epoch's flushes */
	uint64_t nr_rows;                /* of profiles */
	bool damaged;     /* it cannot be shipped, because it is damaged */
	bool is_complete; /* no epoch can be added any more */
	/* Of a sum. */
	uint64_t one_in; /* of so many samples one is kept; final when rows are read.
			    0: it is not a sum */
	struct ship_member *member;
	size_t nr_members;
	int64_t *image, *stream; /* that its rows refer to */
	size_t nr_images, nr_streams;
};

struct sqlite3_stmt;

/* A column's text; NULL when out of memory. One that is long beyond reason is cut. */
char *ship_copy_text(struct sqlite3_stmt *st, int column);

/*
 * Takes the columns of the current row: those of find_due() in ship.c. If memory runs
 * out, texts are missing.
 */
void ship_epoch_read(struct sqlite3_stmt *st, struct ship_epoch *e);
/* Whether all texts are there. ("Whole" in budget.h: shipped with all that it has.) */
bool ship_epoch_is_whole(const struct ship_epoch *e);
void ship_epoch_fini(struct ship_epoch *e);

/* Rows of several epochs, by table, in the order of storetables_epoch. */
struct ship_rows {
	struct buf profile, thin; /* thin: of table thin_profile */
	struct buf table[SHIP_MAX_TABLES];
};

/* A profile, by the ids that the store has for its image, stream and context. */
struct ship_profile {
	struct ship_epoch *epoch;
	uint64_t image, stream, context;
};

size_t ship_rows_bytes(const struct ship_rows *r);
void ship_rows_fini(struct ship_rows *r);

/*
 * Appends the rows of e, each after its address, and counts those of profiles. The
 * caller has begun a transaction. Returns 0; -EAGAIN if the epoch has changed since it
 * was found (try again later); or -CPI_ECORRUPT, logged, for a damaged profile.
 */
int ship_rows_read(struct db *db, struct ship_epoch *e, struct ship_rows *out);

/* Inserts the rows into the tables of the store. */
struct ch_store;
int ship_rows_send(const struct ship_rows *r, struct ch_store *store);

/* Whether an epoch is as it was found; -EAGAIN if not. Of e, id, to_ns and last_flush
 * count. */
struct sqlite3;
int ship_rows_check(struct sqlite3 *h, const struct ship_epoch *e);

/* Appends the rows of a profile, and thinned ones; state is that of draws. */
struct profile;
void ship_rows_put_profile(const struct ship_profile *p, uint64_t *state,
			   struct profile *profile, struct ship_rows *out);

/* Appends the columns host, at and nr. */
void ship_put_address(const struct ship_address *a, struct buf *out);

/* Appends the current row of a statement; types are those of rowbinary.h. */
void ship_rows_put(struct sqlite3_stmt *st, const char *types, struct buf *out);

#endif
