/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tally.h - the attributed samples since the last flush
 *
 * I1  Per event: Σ profiles of context "" + Σ losses = samples added.
 * I2  Memory: the owner checks tally_memory(). At most TALLY_COMMS totals by (command,
 *     image, event) are kept; further ones are added to the command "[other]". At most
 *     TALLY_CONTEXTS contexts are kept; samples of further ones go to the coarser
 *     contexts of context_make_try().
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
	struct known_image *image; /* NULL: unknown; only with a context */
	int event;
	const char *context; /* "", or a context's name */
	struct profile *profile;
};

/* A context that has profiles. */
struct tally_context {
	struct hnode node;
	bool other; /* takes samples of contexts beyond TALLY_CONTEXTS */
	char name[];
};

/* The samples of a command in one image (NULL: unknown) and event. */
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
	uint64_t unreadable; /* samples whose outcome is not known; they are not lost */
	uint64_t cut_stacks; /* branch stacks of which some branches were left out */
	uint64_t crowded;    /* samples of contexts beyond TALLY_CONTEXTS */
	size_t memory;
	/*
	 * approximate limit of tally_memory(), at which additions are refused; 0: no
	 * limit
	 */
	size_t limit;
};

struct tally *tally_new(void);    /* NULL when out of memory */
void tally_free(struct tally *t); /* accepts NULL */

/* The properties that all entries of a run share. */
struct tally_run {
	int event;
	struct known_image *image;
	uint64_t bias; /* address + bias is the image's offset */
	const char *comm;
	/*
	 * The values of its contexts by kind; NULL for kinds without a value. NULL as a
	 * whole: no context.
	 */
	const char *const *contexts;
};

/*
 * Adds the counts of nr entries. Without memory, or above the limit, they are lost as
 * SAMPLE_NO_SPACE.
 */
void tally_add(struct tally *t, const struct tally_run *run, const struct cpi_entry *e,
	       size_t nr);

/*
 * Adds an edge between two images. Returns 0. On -ENOMEM (also above the limit),
 * -EOVERFLOW and -CPI_ELIMIT the edge is left out.
 */
int tally_add_edge(struct tally *t, int event, enum edges_kind kind,
		   struct known_image *image, struct known_image *target,
		   const struct edge *edge);

/*
 * Adds the hardware record of a sample at pc. The sample itself must be added by
 * tally_add(). Without memory the record is left out.
 */
void tally_add_record(struct tally *t, const struct tally_run *run, uint64_t pc,
		      const struct hw_record *hw);

/* Adds a loss; comm is the sampled command, NULL if it is not known. */
void tally_lose(struct tally *t, int event, enum loss loss, uint64_t n,
		const char *comm);

/*
 * Adds n samples of a run without an image. If the loss is one of enum stack_unknown,
 * the run's context counts them, too, at that offset of image NULL.
 */
void tally_lose_run(struct tally *t, const struct tally_run *run, enum loss loss,
		    uint64_t n);

/* Whether the limit is reached. */
bool tally_is_full(const struct tally *t);

/* Turns all counts in the profiles into this loss, and frees the profiles. */
void tally_drop(struct tally *t, enum loss loss);

/* In tally_edges.c: free all edges; mark the images of all edges. */
void tally_free_edges(struct tally *t);
void tally_mark_edges(const struct tally *t);

uint64_t tally_kept(const struct tally *t);  /* Σ profiles of context "" */
uint64_t tally_total(const struct tally *t); /* tally_kept() + Σ losses */
size_t tally_memory(const struct tally *t);
void tally_mark_images(const struct tally *t);

#endif
