/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox_private.h - the items of the outbox
 *
 *	outbox.c		the queue
 *	outbox_flush.c		makes a flush from tallies
 *	outbox_captures.c	names and code that are stored with it
 */
#ifndef CPI_DAEMON_OUTBOX_PRIVATE_H
#define CPI_DAEMON_OUTBOX_PRIVATE_H

#include <stdbool.h>

#include "base/arena.h"
#include "daemon/store/outbox.h"

struct item {
	struct item *next;
	enum { ITEM_EPOCH, ITEM_MARK, ITEM_FLUSH } kind;
};

struct epoch_item {
	struct item item;
	uint64_t now_ns;
	uint32_t uncertainty_ms;
	char label[];
};

struct mark_item {
	struct item item;
	uint64_t at_ns;
	char text[STORE_MARK_TEXT];
};

/* Names and code that are in no file: of the kernel, the vDSO, and JIT compilers. */
struct outbox_captures {
	struct flush_symbol *symbols;
	struct flush_code *codes;
	size_t nr_symbols, nr_codes;
	struct jit_object *objects;
	struct arena kernel_code; /* code that was read from the kernel */
	size_t used; /* bytes of objects, names and lists, without the arena */
	size_t max;  /* limit of used and the arena together */
};

/*
 * The call stacks of a flush item. flush points to the other members and into the
 * tally.
 */
struct stacks_part {
	struct flush_stacks flush;
	struct flush_stream stream;
	struct flush_loss losses[NR_LOSSES];
	struct stacktally *tally; /* NULL: there are none */
};

/* The windows of a flush item, likewise. */
struct windows_part {
	struct flush_windows flush;
	struct flush_stream stream;
	struct flush_loss losses[NR_LOSSES];
	struct windowtally *tally; /* NULL: there are none */
};

struct flush_item {
	struct item item;
	bool has_moved;     /* it was moved to a later epoch (outbox.c) */
	struct flush flush; /* points to the other members and into the tally */
	struct tally *tally;
	struct stacks_part stacks;
	struct windows_part windows;
	struct outbox_captures captures;
};

/*
 * Makes an item that owns the tallies. Returns 0 or -ENOMEM; on failure the caller
 * still owns them.
 */
int flush_item_new(const struct outbox_flush *in, uint64_t seq,
		   struct flush_item **out);
void flush_item_free(struct flush_item *i); /* accepts NULL */
size_t flush_item_memory(const struct flush_item *i);

/*
 * Collects names and code of the sampled procedures of in, within its limit. c must be
 * zeroed. Returns 0 or -ENOMEM; call outbox_captures_fini() in both cases.
 */
int outbox_captures_take(struct outbox_captures *c, const struct outbox_flush *in);
void outbox_captures_fini(struct outbox_captures *c);
size_t outbox_captures_memory(const struct outbox_captures *c);

#endif
