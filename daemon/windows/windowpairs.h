/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowpairs.h - turns pairs of samples into loop iterations per time
 *
 * A pair (abi/pair.h) has the changes of a thread's registers in a known time.
 * The profiled program's code shows which register is a loop counter
 * (analysis/windows/steps.h). What is kept of a pair is an instruction, how often
 * it ran, and how long that took (EDGES_PACE, EDGES_PACE_START in
 * db/profile/edges.h); the changes are thrown away.
 *
 * Between the two samples a loop may be left. If that happens in half of eight pairs of
 * a loop, only pairs of half their length are used, and if it happens in none of eight,
 * those of twice that length are used again. So it happens in about a quarter, where
 * the one is as likely as the other.
 *
 * I1  Pairs taken = Σ outcomes. The outcome "stored" means that something of the pair
 *     was stored.
 */
#ifndef CPI_DAEMON_WINDOWPAIRS_H
#define CPI_DAEMON_WINDOWPAIRS_H

#include "abi/pair.h"
#include "analysis/windows/walk.h"
#include "base/buf.h"
#include "daemon/windows/windowtally.h"

/* What became of a pair. */
#define WINDOWPAIRS_OUTCOMES(X)                                                        \
	X(STORED, "stored")                                                            \
	X(SWITCHED, "switched")     /* the next sample was of another thread */        \
	X(RING_LOST, "ring_lost")   /* the ring was full */                            \
	X(STALE, "stale")           /* the code is not known any more */               \
	X(NO_COUNTER, "no_counter") /* no register is a loop counter there */          \
	X(LEFT, "left")             /* it ended outside of the loop */                 \
	X(DISAGREES, "disagrees") /* the loop was left and entered again in between */ \
	X(LONG, "long")           /* longer than this loop mostly runs */              \
	X(NO_SPACE, "no_space")

enum windowpairs_outcome {
#define WINDOWPAIRS_OUTCOME_ENUM(name, text) PAIR_##name,
	WINDOWPAIRS_OUTCOMES(WINDOWPAIRS_OUTCOME_ENUM)
#undef WINDOWPAIRS_OUTCOME_ENUM
		NR_PAIR_OUTCOMES
};

/* The code of a pair's process, when the pair was taken. */
struct windowpairs_code {
	walk_find_fn *code;
	/*
	 * Sets *out to the image and offset of an address. Returns false if they are
	 * not known, or if the code there is not the code that was interpreted.
	 */
	bool (*find)(void *ctx, uint64_t pc, struct tally_site *out);
	void *ctx;
};

struct windowpairs;

struct windowpairs *windowpairs_new(void);    /* NULL when out of memory */
void windowpairs_free(struct windowpairs *p); /* accepts NULL */

/* Keeps a pair until the next windowpairs_forget(). */
void windowpairs_take(struct windowpairs *p, const struct cpi_pair_record *r);

/* The pairs that are kept. */
const struct cpi_pair_record *windowpairs_kept(const struct windowpairs *p, size_t *nr);
void windowpairs_forget(struct windowpairs *p);

/* Stores the kernel side's drop counters, which are totals since its start. */
void windowpairs_note_counts(struct windowpairs *p, const struct cpi_pair_counts *sum);

/*
 * Adds the iterations that a pair shows to the tally; code is NULL if its process
 * is no longer in the tables.
 */
void windowpairs_add(struct windowpairs *p, const struct cpi_pair_record *r,
		     const struct windowpairs_code *code, struct windowtally *to);

/* Appends lines "pairs_NAME n" (cpid(8), "STATUS"). */
void windowpairs_status(const struct windowpairs *p, struct buf *out);

#endif
