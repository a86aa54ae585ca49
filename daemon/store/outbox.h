/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox.h - what is to be stored, in order, until it is
 *
 * A full disk or a locked database does not lose what was collected: flushes, the
 * beginnings of epochs, and marks wait here, a queue of three kinds of items. Each
 * flush keeps its number, so that one that was stored after all is not counted twice.
 */
#ifndef CPI_DAEMON_OUTBOX_H
#define CPI_DAEMON_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

#include "daemon/attribute/tally.h"
#include "daemon/jit/jit.h"
#include "daemon/procmap/kernel.h"
#include "daemon/procmap/kerneltext.h"
#include "daemon/stacks/stacktally.h"
#include "daemon/windows/windowtally.h"
#include "db/store/store.h"

struct outbox;

struct outbox *outbox_new(void);    /* NULL when out of memory */
void outbox_free(struct outbox *o); /* accepts NULL */

/* As store_epoch(), when its turn comes. 0 or -ENOMEM. */
int outbox_add_epoch(struct outbox *o, uint64_t now_ns, uint32_t uncertainty_ms,
		     const char *label);

/*
 * As store_mark(), when its turn comes. 0, -ENOMEM, or -ENOBUFS if OUTBOX_MAX_MARKS
 * wait.
 */
#define OUTBOX_MAX_MARKS 256
int outbox_add_mark(struct outbox *o, uint64_t at_ns, const char *text);

/* How many marks the database has refused, but for being busy or full. */
uint64_t outbox_dropped_marks(const struct outbox *o);

/* What a flush has of call stacks. */
struct outbox_stacks {
	struct stacktally *tally; /* taken over on success */
	struct flush_stream stream;
	uint64_t lost[NR_LOSSES];
};

/* What it has of windows. */
struct outbox_windows {
	struct windowtally *tally; /* taken over on success */
	struct flush_stream stream;
};

struct outbox_flush {
	struct tally *tally; /* taken over on success */
	const struct flush_stream
		*streams; /* by event; copied, their strings must stay */
	int nr_streams;
	/* Of this machine; NULL: samples are of another one, or an earlier boot. */
	struct kernel *kernel;   /* names the kernel procedures that have samples */
	struct kerneltext *text; /* reads their code; NULL: it is not kept */
	struct jit *jit;         /* its objects are named, and their code is kept */
	const struct outbox_stacks *stacks;   /* NULL: none */
	const struct outbox_windows *windows; /* NULL: none */
	size_t capture_bytes; /* the most that names and code take, about; the rest of
				 the kernel's comes with a later flush. SIZE_MAX: no
				 bound */
	uint64_t from_ns, to_ns, duration_ns;
};

/* 0 or -ENOMEM. */
int outbox_add_flush(struct outbox *o, const struct outbox_flush *f);

/*
 * Stores what can be stored. Returns 0 when nothing is left, else the error of
 * the first that could not be: it and what is behind it stay. A flush that the open
 * epoch cannot take, for one of its rows is damaged or full, goes to the next epoch
 * that waits, and those between with it. A mark that can never be stored is dropped,
 * and that is logged.
 */
int outbox_store(struct outbox *o, struct store *s);

size_t outbox_memory(const struct outbox *o);
/* Samples of an event that wait; those that were lost are none. */
uint64_t outbox_nr_samples(const struct outbox *o, int event);
void outbox_mark_images(const struct outbox *o);

#endif
