/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.h - the call stacks of a selection, as named frames
 *
 * The database is read twice. The first reading collects the code addresses in all
 * stacks and sorts them by image, so that each image is opened once for their names.
 * The second reading turns each stack into frames. A stack that was stored in between
 * is left out if it has an address without a name, because calls_each() makes no new
 * frames.
 *
 * Time is that of the first event for which stacks were sampled (events.h).
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
	CALLS_LINES = 1 << 0,    /* frames have source lines */
	CALLS_COMMANDS = 1 << 1, /* the command is the outermost frame */
	CALLS_ENDS = 1 << 2,     /* the reason why callers are missing is a frame */
};

struct calls_request {
	struct select_request select;
	bool inlines, idle;
};

struct calls {
	const struct calls_request *req;
	unsigned int how;
	struct selection sel; /* with the streams and losses of stacks */
	struct events ev;
	struct frames *frames;
	/*
	 * After calls_each(): busy is the sum of the stacks that fn got, so with
	 * req->idle it includes idle; idle is the sum of the stacks of idle CPUs.
	 */
	struct call_cost busy, idle;
	/* private */
	struct arena arena;
	struct hmap images, places;
	struct call_place **place;
	size_t nr_places;
	struct buf chain; /* uint32_t: the frames of each place, innermost first */
	struct buf frame; /* uint32_t: the frames of one stack */
};

/*
 * Opens the stacks that req and spec select. Enters all frames in the table frames,
 * also the frames of commands and missing callers; the table must outlive c. Errors are
 * logged. Returns 0 or a negative error. After 0 the caller closes c.
 */
int calls_open(const struct calls_request *req, const char *spec, unsigned int how,
	       struct frames *frames, struct calls *c);
void calls_close(struct calls *c);

/*
 * Calls fn for each stack, innermost frame first, and sums the costs in c->busy and
 * c->idle. fn gets stacks of idle CPUs only with req->idle. Stops at fn's first
 * non-zero result and returns it. Errors of the database are logged.
 */
typedef int (*calls_fn)(void *ctx, const uint32_t *frame, size_t nr,
			struct call_cost cost);
int calls_each(struct calls *c, calls_fn fn, void *ctx);

/*
 * Finds the frames that PROC selects: a name as in cpi list, or a glob. (*out)[i] says
 * whether frame i is selected; the caller frees it. Returns -CPI_ENOSYMBOL (logged) if
 * no frame is selected.
 */
int calls_find(const struct calls *c, const char *proc, bool **out);

#endif
