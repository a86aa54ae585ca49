/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_stack.h - weighted stacks of frames with labels: the input of every export
 *
 * A source calls an export_stack_fn for each stack. The order is not specified, and
 * equal stacks may come several times. A sample without callers is a stack of one
 * procedure and the functions inlined at its offset. Each function is a frame: an
 * inlined function has its own frame with the same offset as its procedure.
 *
 * I1  For each column: Σ values = the total in reports of the selection (cpi prof for
 *     samples, cpi tree for call stacks), even if names of images, procedures or labels
 *     are missing.
 */
#ifndef CPI_REPORT_EXPORT_H
#define CPI_REPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/image/image.h"
#include "db/query/query.h"

/*
 * What one value of each stack counts: samples of the event; the time of the selection;
 * or an amount of an event (Σ weights).
 */
struct export_column {
	const char *event; /* "cpu-clock" */
	bool is_time;      /* in ns */
	bool is_amount;    /* Σ weights of an event; in ns if is_time */
};

/* A title is "KIND of EVENT". */
static inline const char *export_column_kind(const struct export_column *c)
{
	if (c->is_amount)
		return "amount";
	return c->is_time ? "time" : "samples";
}

struct export_frame {
	const struct query_image *image; /* NULL: none; function has the reason */
	uint64_t offset;                 /* image offset; in a caller: of the call */
	uint64_t address;                /* the link-time address of offset */
	uint64_t start;       /* image offset of the procedure; none: UINT64_MAX */
	const char *function; /* demangled; never NULL */
	const char *raw;      /* not demangled; NULL if inlined or unknown */
	struct line line;     /* { NULL, 0 } if not known */
	struct line begin;    /* where the procedure begins; not set if inlined */
	bool inlined;         /* into the next frame */
};

struct export_label {
	const char *key;   /* "comm", "cgroup", "container", …, "host" */
	const char *value; /* any bytes */
};

struct export_stack {
	const struct export_frame *frame; /* the innermost first */
	size_t nr_frames;                 /* at least 1 */
	const char *context;              /* NULL: not known */
	const char *host;                 /* the machine */
	const struct export_label *label; /* of its context, and the host */
	size_t nr_labels;
	const double *value; /* per column */
};

/*
 * Everything belongs to the source and is valid during the call. A non-zero result ends
 * the iteration and is returned.
 */
typedef int (*export_stack_fn)(void *ctx, const struct export_stack *w);

#endif
