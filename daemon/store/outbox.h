/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox.h - flushes, epochs, marks and names of containers that wait to be stored
 *
 * If the disk is full or the database locked, nothing is lost: flushes, beginnings of
 * epochs, marks and names wait here in a queue. Each flush keeps its number. So if a
 * commit succeeded although it returned an error, the flush is not counted twice.
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

/* Adds the beginning of an epoch, for store_epoch(). Returns 0 or -ENOMEM. */
int outbox_add_epoch(struct outbox *o, uint64_t now_ns, uint32_t uncertainty_ms,
		     const char *label);

/*
 * Adds a mark, for store_mark(). Returns 0, -ENOMEM, or -ENOBUFS if OUTBOX_MAX_MARKS
 * wait.
 */
#define OUTBOX_MAX_MARKS 256
int outbox_add_mark(struct outbox *o, uint64_t at_ns, const char *text);

/* Returns the number of marks that were dropped because they could never be stored. */
uint64_t outbox_dropped_marks(const struct outbox *o);

/*
 * Adds the name of a container, for store_containers(). Returns 0, -ENOMEM, or -ENOBUFS
 * if OUTBOX_MAX_CONTAINERS wait. Names that can never be stored are dropped and logged.
 */
#define OUTBOX_MAX_CONTAINERS 2048
int outbox_add_container(struct outbox *o, uint64_t at_ns, const char *id,
			 const char *name);

/* The call stacks of a flush. */
struct outbox_stacks {
	struct stacktally *tally; /* taken over on success */
	struct flush_stream stream;
	uint64_t lost[NR_LOSSES];
};

/* The windows of a flush. */
struct outbox_windows {
	struct windowtally *tally; /* taken over on success */
	struct flush_stream stream;
};

struct outbox_flush {
	struct tally *tally; /* taken over on success */
	const struct flush_stream
		*streams; /* by event; copied, but their strings must stay valid */
	int nr_streams;
	/* NULL if the samples are from another machine or an earlier boot. */
	struct kernel *kernel; /* has the names of sampled kernel procedures */
	/* reads the code of these; NULL: their code is not stored */
	struct kerneltext *text;
	struct jit *jit; /* has names and code of code made at run time */
	const struct outbox_stacks *stacks;   /* NULL: none */
	const struct outbox_windows *windows; /* NULL: none */
	/*
	 * approximate limit of the memory for names and code; those of further kernel
	 * procedures come with a later flush. SIZE_MAX: no limit
	 */
	size_t capture_bytes;
	uint64_t from_ns, to_ns, duration_ns;
};

/* Adds a flush. Returns 0 or -ENOMEM. */
int outbox_add_flush(struct outbox *o, const struct outbox_flush *f);

/*
 * Stores the items in order. Returns 0 if all were stored; otherwise the error of the
 * first item that was not stored, and this item and the later ones stay in the queue.
 * If the open epoch can never take a flush, because one of its rows is damaged or full,
 * the next waiting epoch is begun early, before this flush. That is done only once for
 * the same flush. A mark that can never be stored is dropped and logged.
 */
int outbox_store(struct outbox *o, struct store *s);

size_t outbox_memory(const struct outbox *o); /* bytes */

/* Returns the number of waiting samples of an event, without lost ones. */
uint64_t outbox_nr_samples(const struct outbox *o, int event);
void outbox_mark_images(const struct outbox *o);

#endif
