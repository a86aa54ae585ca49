/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - the call stacks of a selection, as frames that have names
 *
 * Read twice: first what stacks name, whose places are put in the order of images, so
 * that each is opened once; then the stacks, one at a time. What was flushed in
 * between, and names anything new, is left out: calls_each() makes no frames.
 *
 * The time is that of the first event that stacks were sampled by (events.h).
 */
#ifndef CPI_TOOLS_CALLS_H
#define CPI_TOOLS_CALLS_H

#include "analysis/calltree.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/hmap.h"
#include "tools/events.h"
#include "tools/frames.h"
#include "tools/select.h"
#include "tools/table.h"

enum calls_how {
	CALLS_PLAIN = 0,
	CALLS_LINES = 1 << 0,    /* frames get their lines */
	CALLS_COMMANDS = 1 << 1, /* the command is the outermost frame */
	CALLS_ENDS = 1 << 2,     /* so is why a stack begins in the middle of things */
};

struct calls {
	const struct cmd_context *ctx;
	unsigned int how;
	struct selection sel; /* its streams and losses are those of stacks */
	struct events ev;
	struct frames *frames;
	struct call_cost busy, idle; /* after calls_each() */
	/* private */
	struct arena arena;
	struct hmap images, spots;
	struct call_spot **spot;
	size_t nr_spots, cap_spots;
	struct buf chain; /* uint32_t: of each spot's frames, the innermost first */
	struct buf frame; /* uint32_t: of one stack */
};

/*
 * Opens what ctx selects, of the epochs that spec names, and names all of its
 * frames, marks and commands among them, in a table that outlives c. Errors are logged.
 * 0 or negative; c is to be closed after 0.
 */
int calls_open(const struct cmd_context *ctx, const char *spec, unsigned int how,
	       struct frames *frames, struct calls *c);
void calls_close(struct calls *c);

/*
 * Calls fn for each stack, the leaf first, and adds up its costs; idle CPUs' stacks are
 * left out unless the options say otherwise. fn's non-zero return ends it and is
 * returned; errors of the database are logged.
 */
typedef int (*calls_fn)(void *ctx, const uint32_t *frame, size_t nr,
			struct call_cost cost);
int calls_each(struct calls *c, calls_fn fn, void *ctx);

/* In the format of the options, with what they are rows of. 0 or -ENOMEM. */
int calls_print(const struct calls *c, struct table *rows, bool color);

/*
 * Which frames PROC means, as cpi list understands it, or a pattern: by number. The
 * caller frees *out. -CPI_ENOSYMBOL, logged, when none is.
 */
int calls_find(const struct calls *c, const char *proc, bool **out);

#endif
