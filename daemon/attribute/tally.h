/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tally.h - what was attributed since the last flush
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

/* A command's total on one image (NULL: unknown) and event. */
struct tally_comm {
	struct hnode node;
	struct known_image *image;
	int event;
	char comm[16];
	uint64_t n;
};

/* Where control went, from one image to the same or another one; NULL: unknown. */
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
	size_t limit; /* for tally_memory(), approximate; once it is reached, nothing
			 more is added; 0: no limit */
};

struct tally *tally_new(void);    /* NULL when out of memory */
void tally_free(struct tally *t); /* accepts NULL */

/* What a run of entries has in common. */
struct tally_run {
	int event;
	struct known_image *image;
	uint64_t bias; /* address + bias is the image's offset */
	const char *comm;
	/* By kind, the values of its context, or NULL; NULL for no context. */
	const char *const *contexts;
};

/*
 * Adds the counts of nr entries. What there is no memory for, or what is above the
 * limit, is counted as lost: SAMPLE_NO_SPACE.
 */
void tally_add(struct tally *t, const struct tally_run *run, const struct cpi_entry *e,
	       size_t nr);

/*
 * Adds an edge between two images. 0, -ENOMEM (above the limit, too), -EOVERFLOW or
 * -CPI_ELIMIT: then it is left out.
 */
int tally_add_edge(struct tally *t, int event, enum edges_kind kind,
		   struct known_image *image, struct known_image *target,
		   const struct edge *edge);

/*
 * Adds what hardware recorded of one sample at pc, which tally_add() counts. Where
 * there is no memory for it, it is left out.
 */
void tally_add_record(struct tally *t, const struct tally_run *run, uint64_t pc,
		      const struct hw_record *hw);

/* Adds a loss; comm is the command that was sampled, NULL when nobody knows. */
void tally_lose(struct tally *t, int event, enum loss loss, uint64_t n,
		const char *comm);

/* Whether the limit is reached. */
bool tally_is_full(const struct tally *t);

/* Turns every stored count into a loss of that name, and frees the profiles. */
void tally_drop(struct tally *t, enum loss loss);

/* tally_edges.c: frees them all; marks their images. */
void tally_free_edges(struct tally *t);
void tally_mark_edges(const struct tally *t);

uint64_t tally_kept(const struct tally *t);  /* Σ profiles of context "" */
uint64_t tally_total(const struct tally *t); /* that, and the losses */
size_t tally_memory(const struct tally *t);
void tally_mark_images(const struct tally *t);

#endif
