/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tally.h - the attributed samples since the last flush
 *
 * I1  Per event: Σ profiles of context "" + Σ losses = samples added.
 * I2  Memory: tally_memory() bytes, checked by the owner; at most TALLY_COMMS
 *     (command, image, event) totals, the rest go to the command "[other]"; and
 *     TALLY_CONTEXTS contexts, the rest are counted as context_make_try() says.
 */
#ifndef CPI_DAEMON_TALLY_H
#define CPI_DAEMON_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/entry.h"
#include "base/hmap.h"
#include "daemon/os/loss.h"
#include "daemon/procmap/images.h"
#include "db/profile/context.h"
#include "db/profile/edges.h"
#include "db/profile/profile.h"
#include "decode/hwrecord.h"

#define TALLY_COMMS    16384
#define TALLY_CONTEXTS 4096

/* Counts of one image, event and context. */
struct tally_profile {
	struct hnode node;
	struct known_image *image;
	int event;
	const char *context; /* "", or a context's name */
	struct profile *profile;
};

/* A context that has profiles. */
struct tally_context {
	struct hnode node;
	bool other; /* of a value beyond the bound */
	char name[];
};

/* The total of a command on one image (NULL: unknown) and event. */
struct tally_comm {
	struct hnode node;
	struct known_image *image;
	int event;
	char comm[16];
	uint64_t n;
};

/* Edges from one image to the same or another one; NULL: an unknown image. */
struct tally_edges {
	struct hnode node;
	struct known_image *image, *target;
	int event;
	enum edges_kind kind;
	struct edges *edges;
};

struct tally {
	struct hmap profiles, contexts, comms, edges;
	uint64_t loss[CPI_MAX_EVENTS][NR_LOSSES];
	uint64_t unreadable; /* samples whose outcome could not be told; not lost */
	uint64_t cut_stacks; /* of branches, of which some had no room */
	uint64_t crowded;    /* samples in contexts beyond the bound */
	size_t memory;
	size_t limit; /* of tally_memory(), approximate; at the limit, additions are
			 refused; 0: no limit */
};

struct tally *tally_new(void);    /* NULL when out of memory */
void tally_free(struct tally *t); /* accepts NULL */

/* The properties that all entries of a run share. */
struct tally_run {
	int event;
	struct known_image *image;
	uint64_t bias; /* address + bias is the image's offset */
	const char *comm;
	/* By kind, the values of its context, or NULL; NULL for no context. */
	const char *const *contexts;
};

/*
 * Adds the counts of nr entries. Counts that find no memory, or are above the limit,
 * are lost as SAMPLE_NO_SPACE.
 */
void tally_add(struct tally *t, const struct tally_run *run, const struct cpi_entry *e,
	       size_t nr);

/*
 * Adds an edge between two images. 0; or -ENOMEM (also above the limit), -EOVERFLOW or
 * -CPI_ELIMIT, and the edge is left out.
 */
int tally_add_edge(struct tally *t, int event, enum edges_kind kind,
		   struct known_image *image, struct known_image *target,
		   const struct edge *edge);

/*
 * Adds the hardware record of one sample at pc, which tally_add() counts. If there is
 * no memory, the record is left out.
 */
void tally_add_record(struct tally *t, const struct tally_run *run, uint64_t pc,
		      const struct hw_record *hw);

/* Adds a loss; comm is the sampled command, NULL if it is not known. */
void tally_lose(struct tally *t, int event, enum loss loss, uint64_t n,
		const char *comm);

/* Whether the limit is reached. */
bool tally_is_full(const struct tally *t);

/* Turns every count in the profiles into this loss, and frees the profiles. */
void tally_drop(struct tally *t, enum loss loss);

/* tally_edges.c: frees all edges; marks the images of all edges. */
void tally_free_edges(struct tally *t);
void tally_mark_edges(const struct tally *t);

uint64_t tally_kept(const struct tally *t);  /* Σ profiles of context "" */
uint64_t tally_total(const struct tally *t); /* tally_kept() + Σ losses */
size_t tally_memory(const struct tally *t);
void tally_mark_images(const struct tally *t);

#endif
