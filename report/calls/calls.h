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
#ifndef CPI_REPORT_CALLS_H
#define CPI_REPORT_CALLS_H

#include "analysis/calls/calltree.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/hmap.h"
#include "report/calls/frames.h"
#include "report/select/events.h"
#include "report/select/select.h"

enum calls_how {
	CALLS_PLAIN = 0,
	CALLS_LINES = 1 << 0,    /* frames get their lines */
	CALLS_COMMANDS = 1 << 1, /* the command is the outermost frame */
	CALLS_ENDS = 1 << 2,     /* so is why a stack begins in the middle of things */
};

struct calls_request {
	struct select_request select;
	bool inlines, idle;
};

struct calls {
	const struct calls_request *req;
	unsigned int how;
	struct selection sel; /* its streams and losses are those of stacks */
	struct events ev;
	struct frames *frames;
	struct call_cost busy, idle; /* after calls_each() */
	/* private */
	struct arena arena;
	struct hmap images, places;
	struct call_place **place;
	size_t nr_places;
	struct buf chain; /* uint32_t: of each place's frames, the innermost first */
	struct buf frame; /* uint32_t: of one stack */
};

/*
 * Opens what req selects, of the epochs that spec names, and names all of its
 * frames, marks and commands among them, in a table that outlives c. Errors are logged.
 * 0 or negative; c is to be closed after 0.
 */
int calls_open(const struct calls_request *req, const char *spec, unsigned int how,
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

/*
 * Which frames PROC means, as cpi list understands it, or a pattern: by number. The
 * caller frees *out. -CPI_ENOSYMBOL, logged, when none is.
 */
int calls_find(const struct calls *c, const char *proc, bool **out);

#endif
