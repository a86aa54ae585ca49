/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_stack.h - weighted stacks of frames with labels: what every export reads
 *
 * A source calls a export_stack_fn for each stack, in no order that matters, and may
 * hand out equal ones again. A sample without callers is a stack of one procedure, and
 * of what was inlined there. A frame is a function: a call that was inlined has frames
 * of its own, which share an offset with the procedure that is theirs.
 *
 * I1  Per column: Σ values = what reports say of the selection (cpi prof of samples,
 *     cpi tree of call stacks), whatever is known of images, procedures and labels.
 */
#ifndef CPI_REPORT_EXPORT_H
#define CPI_REPORT_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/image/image.h"
#include "db/query/query.h"

/*
 * What the values count, in the order of a stack's: samples of the event; or what they
 * stand for, which is the selection's time, or else an amount beside it.
 */
struct export_column {
	const char *event; /* "cpu-clock" */
	bool is_time;      /* in ns, the time or an amount */
	bool is_amount;
};

/* "KIND of EVENT" is a title. */
static inline const char *export_column_kind(const struct export_column *c)
{
	if (c->is_amount)
		return "amount";
	return c->is_time ? "time" : "samples";
}

struct export_frame {
	const struct query_image *image; /* NULL: none, function says why */
	uint64_t offset;                 /* image offset; of a caller: of its call */
	uint64_t address;                /* the same as a disassembly shows it */
	uint64_t start;       /* image offset of the procedure; of none: UINT64_MAX */
	const char *function; /* demangled; never NULL */
	const char *raw;      /* as in the file; NULL where it is inlined, or none */
	struct line line;     /* { NULL, 0 } when it is not known */
	struct line begin;    /* of the procedure itself, not of what is inlined */
	bool inlined;         /* into the next frame */
};

struct export_label {
	const char *key;   /* "comm", "cgroup", "container", …, "host" */
	const char *value; /* any bytes */
};

struct export_stack {
	const struct export_frame *frame; /* the innermost first */
	size_t nr_frames;                 /* at least 1 */
	const char *context;              /* its context; NULL: none is known */
	const char *host;                 /* the machine */
	const struct export_label *label; /* of its context, and the host */
	size_t nr_labels;
	const double *value; /* per column */
};

/*
 * Everything belongs to the source, and is valid during the call. Non-zero ends the
 * iteration, and is returned.
 */
typedef int (*export_stack_fn)(void *ctx, const struct export_stack *w);

#endif
