/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * anchortally.h - where breakpoints may be set, and what those that were have counted
 *
 * A place is an instruction that windows saw called, in a command. Places take turns:
 * the more often one was seen, and the less often it was visited, the sooner it has
 * its own.
 *
 * I1  Visits = Σ visits of the places + Σ losses, since the last flush.
 * I2  At most ANCHORTALLY_PLACES places, of which the least seen go first.
 */
#ifndef CPI_DAEMON_ANCHORTALLY_H
#define CPI_DAEMON_ANCHORTALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"
#include "daemon/images.h"
#include "daemon/procmap.h"
#include "db/anchors.h"

#define ANCHORTALLY_PLACES 1024

/* Why a visit told of nothing. Stored in the database: never rename one. */
#define ANCHOR_LOSSES(X)                                                          \
	X(GONE, "gone")         /* the thread was, or executed another program */ \
	X(DEBUGGED, "debugged") /* a debugger has the process */                  \
	X(NO_SLOT, "no_slot")   /* too few breakpoints were free */               \
	X(REFUSED, "refused")   /* the kernel has none, or allows none */         \
	X(IDLE, "idle")         /* the thread hardly ran */                       \
	X(TOO_FREQUENT, "too_frequent") /* hits took nearly all the time */       \
	X(MOVED, "moved")               /* mappings changed, or could have */

enum anchor_loss {
#define ANCHOR_LOSS_ENUM(name, text) ANCHOR_##name,
	ANCHOR_LOSSES(ANCHOR_LOSS_ENUM)
#undef ANCHOR_LOSS_ENUM
		ANCHOR_NR_LOSSES
};

const char *anchor_loss_name(enum anchor_loss loss);

struct anchor_place {
	struct hnode node;
	struct known_image *image;  /* what samples have there */
	struct known_image *mapped; /* what the process map has */
	uint64_t offset;
	char comm[PROCMAP_COMM_SIZE];
	uint64_t seen; /* by windows; halved from flush to flush */
	double turns;  /* that it has had; more where hits told of little; likewise */
	struct anchor_sums sums;
};

struct anchor_counts {
	uint64_t visits, hits, lost[ANCHOR_NR_LOSSES];
};

struct anchortally {
	struct hmap places;
	struct anchor_counts now, before; /* since the last flush, and up to it */
};

struct anchortally *anchortally_new(void);    /* NULL when out of memory */
void anchortally_free(struct anchortally *t); /* accepts NULL */

/* Windows saw it called. What there is no memory for is not seen. */
void anchortally_see(struct anchortally *t, const struct anchor_place *like);

/*
 * Whose turn it is, of those of a command that p has mapped, and its address there.
 * NULL: nobody's. Valid until the next of anchortally_see() and anchortally_took().
 */
struct anchor_place *anchortally_choose(struct anchortally *t, const struct process *p,
					const char *comm, uint64_t *address);

/*
 * A visit that ended: place had hits in running_ns, each of which took hit_ns. What
 * tells of no rate is a loss, which is returned; else ANCHOR_NR_LOSSES.
 */
enum anchor_loss anchortally_visit(struct anchortally *t, struct anchor_place *place,
				   uint64_t enabled_ns, uint64_t running_ns,
				   uint64_t hits, double hit_ns);
enum anchor_loss anchortally_lose(struct anchortally *t, enum anchor_loss loss);

/* What a flush gets: a copy but for the images. */
struct anchorset {
	struct flush_anchors flush;
	struct flush_anchor_loss loss[ANCHOR_NR_LOSSES];
	struct known_image **image; /* by anchor */
	char (*comm)[PROCMAP_COMM_SIZE];
};

/* NULL when out of memory. anchortally_took() is due once somebody has it. */
struct anchorset *anchortally_list(const struct anchortally *t);
void anchortally_took(struct anchortally *t);
void anchorset_free(struct anchorset *s); /* accepts NULL */

/* For images_sweep(). */
void anchortally_mark_images(const struct anchortally *t);
void anchorset_mark_images(const struct anchorset *s);

#endif
