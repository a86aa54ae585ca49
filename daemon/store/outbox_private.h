/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox_private.h - what waits in the outbox
 *
 *	outbox.c		the queue
 *	outbox_flush.c		a flush, made of tallies
 *	outbox_captures.c	names and code that go with it
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

/* What no file has: names and code of the kernel, the vDSO, and of JIT compilers. */
struct outbox_captures {
	struct flush_symbol *symbols;
	struct flush_code *codes;
	size_t nr_symbols, nr_codes;
	struct jit_object *objects;
	struct arena kernel_code; /* what was read of it */
	size_t used, max; /* bytes, but for the arena's: objects, names and lists */
};

/* Of call stacks. flush points into the rest, and into the tally. */
struct stacks_part {
	struct flush_stacks flush;
	struct flush_stream stream;
	struct flush_loss losses[NR_LOSSES];
	struct stacktally *tally; /* NULL: there are none */
};

/* Of windows, alike. */
struct windows_part {
	struct flush_windows flush;
	struct flush_stream stream;
	struct flush_loss losses[NR_LOSSES];
	struct windowtally *tally; /* NULL: there are none */
};

struct flush_item {
	struct item item;
	bool has_moved;     /* to a later epoch than its own */
	struct flush flush; /* points into the rest, and into the tally */
	struct tally *tally;
	struct stacks_part stacks;
	struct windows_part windows;
	struct outbox_captures captures;
};

/* Takes the tallies over. 0 or -ENOMEM; then they are still their owners'. */
int flush_item_new(const struct outbox_flush *in, uint64_t seq,
		   struct flush_item **out);
void flush_item_free(struct flush_item *i); /* accepts NULL */
size_t flush_item_memory(const struct flush_item *i);

/*
 * Captures what in has samples of, as far as there is room. 0 or -ENOMEM; in any case
 * outbox_captures_fini() is due. c is all zero.
 */
int outbox_captures_take(struct outbox_captures *c, const struct outbox_flush *in);
void outbox_captures_fini(struct outbox_captures *c);
size_t outbox_captures_memory(const struct outbox_captures *c);

#endif
