/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * edges.h - where control went, exactly: what branch stacks of the hardware say
 *
 * Of two kinds. A branch was taken, from one place to another; a run is the code that
 * lies between two branches of a stack and was executed in a straight line, from the
 * target of the older one up to and with the newer one itself. The cycles that the
 * hardware counts from one branch to the next are those of the run.
 */
#ifndef CPI_DB_EDGES_H
#define CPI_DB_EDGES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Stored in the database: never renumber. */
enum edges_kind {
	EDGES_BRANCH = 0,
	EDGES_RUN = 1,
	EDGES_NR_KINDS,
};

const char *edges_kind_str(enum edges_kind kind); /* "branch"; "?" for an unknown one */

#define EDGES_MAX (1u << 22) /* of one set */

struct edge {
	uint64_t from, to; /* offsets in an image each */
	uint64_t n;        /* how often */
	uint64_t cycles;   /* Σ, of those where they are known */
	uint64_t nr_timed; /* ... and how many these are */
	uint64_t mispredicted;
};

struct edges;

struct edges *edges_new(void);    /* NULL when out of memory */
void edges_free(struct edges *e); /* accepts NULL */

/*
 * Adds e's numbers to those of its from and to; n is not 0, and neither nr_timed nor
 * mispredicted is more. Returns 0, -EOVERFLOW, -CPI_ELIMIT (from 7/8 of EDGES_MAX
 * different ones on it may be so) or -ENOMEM; on failure set is unchanged.
 */
int edges_add(struct edges *set, const struct edge *e);
int edges_merge(struct edges *set, struct edges *from);

uint64_t edges_total(const struct edges *set); /* Σ n */
size_t edges_memory(const struct edges *set);  /* bytes */

/* All by from, then to. The array is the set's, until its next change. */
const struct edge *edges_sorted(struct edges *set, size_t *nr);

/* The first of these that comes from an offset or one behind it; nr where none does. */
size_t edges_first_from(const struct edge *e, size_t nr, uint64_t from);

/*
 * As a blob, packed (db/pack.h). The body, all numbers LEB128: how many there are; per
 * edge the distance of from to the one before, then, column by column, to less from (as
 * 2 d, or -2 d - 1 below 0), n, cycles, nr_timed, mispredicted. cpi-db(5) documents it;
 * t/fixtures/ has a golden file. An empty set gives nothing at all. 0 or -ENOMEM.
 */
int edges_encode(struct edges *set, struct buf *out);

/*
 * Adds a blob's edges. Returns 0, -CPI_ETRUNCATED, -CPI_ECORRUPT, -CPI_EVERSION,
 * -CPI_ELIMIT, -EOVERFLOW or -ENOMEM. The blob is checked whole before.
 */
int edges_decode(const void *blob, size_t size, struct edges *set);

#endif
