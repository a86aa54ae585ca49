/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof.h - samples summed by procedure, image, source line or context
 *
 * I1  Per event: Σ rows + idle = Σ stored + Σ unknown of the selection; no
 *     sample is left out because its image or procedure has no name.
 */
#ifndef CPI_TOOLS_PROF_H
#define CPI_TOOLS_PROF_H

#include "base/hmap.h"
#include "tools/cgroupname.h"
#include "tools/events.h"
#include "tools/select.h"
#include "tools/timesource.h"

/* The row of samples that no symbol of their image covers. */
#define NO_SYMBOL_NAME "[unknown procedure]"

enum row_kind {
	ROW_PROFILE,
	ROW_UNKNOWN, /* samples without an image; procedure is the reason */
	ROW_IDLE,
};

struct prof_row {
	struct hnode node;
	enum row_kind kind;
	int64_t image;  /* id, 0 for none */
	uint64_t start; /* of the procedure */
	char *image_name, *build_id;
	char *procedure; /* with --by procedure and line */
	char *inlined;   /* with --inlines: the innermost function, or NULL */
	char *whom;      /* with --by a kind of context, or what one says */
	struct cgroup_container *container; /* NULL: of none */
	char *file; /* with --by line; NULL where it is not known */
	int line;
	bool departs;      /* with --combine: ticks are not in its time */
	double kernel_ns;  /* of event 0 */
	double *over_time; /* prof_time.h's; NULL: nothing */
	struct tally
		tally[]; /* per event, and the weight that --combine makes of them */
};

/* What --by says of contexts: prof_contexts[by], where kind is one. */
struct prof_context {
	enum context_kind kind;
	const char *name;    /* in CSV and JSON; NULL: this is no kind of context */
	const char *title;   /* in text */
	const char *missing; /* the row of samples that are in none */
};

extern const struct prof_context prof_contexts[BY_CATEGORY + 1];

/* Whether what is selected can be told apart by --by: 0, or EXIT_USAGE after saying why
 * not. */
int prof_check_by(const struct cmd_context *ctx);

/* An interval of the selection, and how long its epochs are altogether. */
struct prof_bucket {
	uint64_t from_ns, to_ns;
	double seconds;
};

struct prof {
	const struct cmd_context *ctx;
	struct selection sel;
	struct events ev;
	struct time_source source;
	size_t primary;       /* the event that orders the rows; ev.nr with --combine */
	size_t ticks;         /* with --combine: the event beside event 0 */
	double scale;         /* ... by which its time is multiplied */
	char *procedure_glob; /* of the rows to show, or NULL */
	struct hmap map;
	struct prof_row **row; /* after prof_sort() */
	size_t nr_rows;
	struct tally busy[EVENTS_MAX + 1]; /* all rows but the idle one */
	struct tally idle[EVENTS_MAX + 1];
	struct prof_bucket *bucket; /* with --over-time */
	size_t nr_buckets;
	bool weighed; /* some time is that of weights */
	bool quiet;   /* images that cannot be opened are not named */
};

/*
 * Gathers the rows that the options name. Errors are logged. Returns 0, or a
 * negative error; p is to be closed after 0.
 */
int prof_open(const struct cmd_context *ctx, struct prof *p);
void prof_close(struct prof *p);

/* Of a p with context and selection: its events and rows. 0, or an error, logged. */
int prof_gather(struct prof *p);

/* Whether the options let a row be seen. */
bool prof_is_shown(const struct prof *p, const struct prof_row *row);

/* With --combine: finds the two events. Errors are logged. 0, -ENODATA or -EINVAL. */
int prof_combine_begin(struct prof *p);

/* Then, of the rows that p->row has, their time. 0, -ENODATA (logged) or -ENOMEM. */
int prof_combine(struct prof *p);

/* Of the primary event unless told; in percent of the time that is shown. */
double prof_percent(const struct prof *p, const struct tally *t, size_t event);

int prof_print_table(const struct prof *p); /* text or CSV */
void prof_print_json(const struct prof *p);

#endif
