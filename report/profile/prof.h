/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof.h - samples summed by procedure, image, source line or context
 *
 * I1  Per event: Σ rows + idle = Σ stored + Σ unknown of the selection; no
 *     sample is left out because its image or procedure has no name.
 */
#ifndef CPI_REPORT_PROF_H
#define CPI_REPORT_PROF_H

#include "base/hmap.h"
#include "report/select/cgroupname.h"
#include "report/select/events.h"
#include "report/select/evidence.h"
#include "report/select/select.h"
#include "report/select/timesource.h"

/* What a row stands for: in the order of the words of --by. */
enum prof_by {
	BY_PROCEDURE,
	BY_IMAGE,
	BY_COMM,
	BY_LINE,
	BY_CGROUP,
	BY_CONTAINER,
	BY_UNIT,
	BY_LABEL,
	BY_PROCESS,
	BY_THREAD,
	BY_CATEGORY, /* of cpi stats */
	BY_HOST,
	NR_PROF_BY
};

struct prof_request {
	struct select_request select;
	int attribution;   /* enum attribution */
	int by;            /* enum prof_by */
	unsigned int also; /* 1 << each further kind of context that tells rows apart */
	const char *procedure, *sort; /* or NULL */
	bool idle, by_stream, inlines, over_time;
	uint64_t interval_ns; /* length of the intervals; 0: at most 48 of them */
};

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
	char *context; /* with --by kinds of context, or what one says: a line for each
			*/
	struct cgroup_container *container; /* NULL: of none */
	char *file; /* with --by line; NULL where it is not known */
	int line;
	bool departs;             /* ticks are not in its time (evidence.h) */
	double kernel_ns;         /* of event 0 */
	double *over_time;        /* prof_time.h's; NULL: nothing */
	struct event_sum tally[]; /* per event, and the time that all of them give */
};

/* How rows by a kind of context are named: prof_contexts[by]. */
struct prof_context {
	enum context_kind kind;
	const char *name;    /* in CSV and JSON; NULL: this is no kind of context */
	const char *title;   /* in text */
	const char *missing; /* the row of samples that are in none */
};

/* The kinds of context that rows are apart by: the next one after by, in the order of
 * enum prof_by, or the first one after -1; -1: there is none. */
int prof_next_context(const struct prof_request *req, int by);

extern const struct prof_context prof_contexts[NR_PROF_BY];

/* An interval of the selection, and how long its epochs are altogether. */
struct prof_bucket {
	uint64_t from_ns, to_ns;
	double seconds;
	double lost; /* per second, like the rows' over_time: what no row has */
};

struct prof {
	const struct prof_request *req;
	struct selection sel;
	struct events ev;
	struct time_source source;
	size_t primary; /* the event that orders the rows; ev.nr: time, of all
			   samples of it */
	struct evidence evidence;
	size_t nr_departing;      /* rows */
	const struct prof *whole; /* of the selection that this is a part of, or NULL */
	char *procedure_glob;     /* of the rows to show, or NULL */
	struct hmap map;
	struct prof_row **row; /* after prof_sort() */
	size_t nr_rows;
	struct event_sum busy[EVENTS_MAX + 1]; /* all rows but the idle one */
	struct event_sum idle[EVENTS_MAX + 1];
	struct prof_bucket *bucket; /* with --over-time */
	size_t nr_buckets;
	struct prof_parts *parts; /* what rows are made of, or NULL (prof_parts.h) */
	size_t slot;              /* of whole: which of its slots this is */
	bool has_weights;         /* some time is that of weights */
	bool quiet;               /* images that cannot be opened are not named */
};

/*
 * Gathers the rows that the options name. Errors are logged. Returns 0, or a
 * negative error; p is to be closed after 0.
 */
int prof_open(const struct prof_request *req, struct prof *p);
void prof_close(struct prof *p);

/* Fills the events and rows of a p with request and selection. Errors are logged. */
int prof_gather(struct prof *p);

/* Whether the request shows a row. */
bool prof_is_shown(const struct prof *p, const struct prof_row *row);

/*
 * Whether rows have one time from all samples of it; false: each event is for itself,
 * as the request has it, or as none measures time.
 */
bool prof_is_one_time(const struct prof *p);

/* Whether the primary is time, in ns. */
bool prof_primary_is_time(const struct prof *p);

/* Gives the rows that p->row has their time. 0 or -ENOMEM. */
int prof_take_evidence(struct prof *p);

/* Of the primary event unless told; in percent of the time that is shown. */
double prof_percent(const struct prof *p, const struct event_sum *t, size_t event);

#endif
