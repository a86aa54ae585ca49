/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox.h - what is to be stored, in order, until it is
 *
 * A full disk or a locked database does not lose what was collected: flushes
 * and the beginnings of epochs wait here in their order. Each flush keeps its
 * number, so that one that was stored after all is not counted twice.
 */
#ifndef CPI_DAEMON_OUTBOX_H
#define CPI_DAEMON_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/collector.h"
#include "daemon/jit.h"
#include "daemon/kernel.h"
#include "daemon/kerneltext.h"
#include "daemon/stacktally.h"
#include "daemon/tally.h"
#include "db/store.h"

struct outbox;

struct outbox *outbox_new(void);    /* NULL when out of memory */
void outbox_free(struct outbox *o); /* accepts NULL */

/* As store_epoch(), when its turn comes. 0 or -ENOMEM. */
int outbox_add_epoch(struct outbox *o, uint64_t now_ns, uint32_t uncertainty_ms,
		     const char *label);

/* What a flush has of call stacks. */
struct outbox_stacks {
	struct stacktally *tally; /* taken over on success */
	struct flush_stream stream;
	uint64_t ring_lost;
	struct collector_counts counts; /* the owner's */
};

struct outbox_flush {
	struct tally *tally; /* taken over on success */
	const struct flush_stream
		*streams; /* by event; copied, their strings must stay */
	int nr_streams;
	struct kernel *kernel;   /* names the kernel procedures that have samples */
	struct kerneltext *text; /* reads their code; NULL: it is not kept */
	struct jit *jit;         /* its objects are named, and their code is kept */
	const struct outbox_stacks *stacks; /* NULL: none */
	uint64_t from_ns, to_ns, duration_ns;
};

int outbox_add_flush(struct outbox *o, const struct outbox_flush *f);

/*
 * Stores what can be stored. Returns 0 when nothing is left, else the error of
 * the first that could not be: it and what is behind it stay.
 */
int outbox_store(struct outbox *o, struct store *s);

size_t outbox_memory(const struct outbox *o);
/* Samples of an event that wait; those that were lost are none. */
uint64_t outbox_nr_samples(const struct outbox *o, int event);
void outbox_mark_images(const struct outbox *o);

#endif
