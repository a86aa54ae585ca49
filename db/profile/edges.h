/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * edges.h - counts of branches, and of straight runs between them
 *
 * The source is mainly the hardware's branch stacks. A branch is a jump from an
 * instruction to its target. A run is the code that was executed in a straight line
 * between two branches of a stack: from the target of the older branch to the newer
 * branch, inclusive. The cycles that the hardware counts between two branches belong to
 * the run.
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
	/*
	 * How fast an instruction ran, from pairs of samples of one thread. Members
	 * have other meanings here. from: the instruction. to: an edges_pace_class() of
	 * ns per execution, so the sums by class are a histogram. nr_timed: pairs. n:
	 * pairs plus executions of the instruction in them. cycles: ns between the two
	 * samples. EDGES_PACE_START is the same, but to is the offset where the pairs
	 * began.
	 */
	EDGES_PACE = 2,
	EDGES_PACE_START = 3,
	EDGES_NR_KINDS,
};

const char *edges_kind_str(enum edges_kind kind); /* "branch"; "?" for an unknown one */

/* Classes of ns per execution: eight for each power of two, from 2^-10 ns on. */
#define EDGES_PACE_CLASSES 512
#define EDGES_PACE_NONE    512 /* pairs in which the instruction did not run */
#define EDGES_PACE_DISAGREES                                                 \
	513 /* pairs whose register change is impossible for the loop: wrong \
	       direction, no multiple of the step, or too fast */
#define EDGES_PACE_BELOW 514 /* pairs that ended in a procedure that the loop calls */
#define EDGES_PACE_LEFT  515 /* pairs that ended elsewhere */

uint32_t edges_pace_class(uint64_t ns, uint64_t executions);

#define EDGES_MAX (1u << 22) /* edges of one set */

struct edge {
	uint64_t from, to; /* offsets, each in its image */
	uint64_t n;        /* how often */
	uint64_t cycles;   /* Σ cycles of the edges for which they are known */
	uint64_t nr_timed; /* the number of these edges */
	uint64_t mispredicted;
};

struct edges;

struct edges *edges_new(void);    /* NULL when out of memory */
void edges_free(struct edges *e); /* accepts NULL */

/*
 * Adds the numbers of e to the edge with the same from and to. n is not 0; nr_timed and
 * mispredicted are at most n. Returns 0, -EOVERFLOW, -ENOMEM, or -CPI_ELIMIT if the set
 * is full, which begins at 7/8 of EDGES_MAX edges; on failure set is unchanged.
 */
int edges_add(struct edges *set, const struct edge *e);
int edges_merge(struct edges *set, struct edges *from);

uint64_t edges_total(const struct edges *set); /* Σ n */
size_t edges_memory(const struct edges *set);  /* bytes */

/* All edges, sorted by from and to. The array belongs to set until its next change. */
const struct edge *edges_sorted(struct edges *set, size_t *nr);

/* The index of the first edge whose from is at least this offset, or nr. */
size_t edges_first_from(const struct edge *e, size_t nr, uint64_t from);

/*
 * As a blob, packed (db/profile/pack.h). The body, all numbers LEB128: how many there
 * are; per edge the distance of from to the one before, then, column by column, to less
 * from (as 2 d, or -2 d - 1 below 0), n, cycles, nr_timed, mispredicted. cpi-db(5)
 * documents it; t/fixtures/ has a golden file. For an empty set nothing is appended.
 * Returns 0 or -ENOMEM.
 */
int edges_encode(struct edges *set, struct buf *out);

/*
 * Adds a blob's edges. Returns 0, -CPI_ETRUNCATED, -CPI_ECORRUPT, -CPI_EVERSION,
 * -CPI_ELIMIT, -EOVERFLOW or -ENOMEM. The whole blob is checked first.
 */
int edges_decode(const void *blob, size_t size, struct edges *set);

#endif
