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

/* What the rows are, in the order of the values of --by. */
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
	unsigned int also; /* a bit 1 << by for each further kind of context */
	const char *procedure, *sort; /* or NULL */
	bool idle, by_stream, inlines, over_time;
	bool picture; /* needs the rows' time over the epochs without showing it */
	uint64_t interval_ns; /* length of the intervals; 0: at most 48 of them */
};

/* The row of samples at offsets that no symbol of their image covers. */
#define NO_SYMBOL_NAME "[unknown procedure]"

enum row_kind {
	ROW_PROFILE,
	ROW_UNKNOWN, /* samples without an image; procedure is the reason */
	ROW_IDLE,
};

struct prof_row {
	struct hnode node;
	enum row_kind kind;
	int64_t image;  /* id; 0: no image */
	uint64_t start; /* of the procedure */
	char *image_name, *build_id;
	char *procedure; /* with --by procedure and line */
	char *inlined;   /* with --inlines: the innermost function, or NULL */
	char *context; /* with --by kinds of context: one line of text for each kind */
	struct cgroup_container *container; /* NULL: not in a container */
	char *file;                         /* with --by line; NULL if not known */
	int line;
	bool departs;                      /* ticks are not in its time (evidence.h) */
	double kernel_ns, kernel_ticks_ns; /* time in the kernel by event 0, by ticks */
	double *over_time;                 /* by bucket (prof_time.h); NULL: all 0 */
	struct event_sum tally[]; /* by event; the last one is the combined time */
};

/* The names of rows by a kind of context: prof_contexts[by]. */
struct prof_context {
	enum context_kind kind;
	const char *name;    /* in CSV and JSON; NULL: by is not a kind of context */
	const char *title;   /* in text output */
	const char *missing; /* the row of samples without such a context */
};

/*
 * Iterates over the kinds of context that distinguish rows, in the order of enum
 * prof_by. Returns the next one after by, the first one if by is -1; -1: no more.
 */
int prof_next_context(const struct prof_request *req, int by);

extern const struct prof_context prof_contexts[NR_PROF_BY];

/* An interval of the selection. */
struct prof_bucket {
	uint64_t from_ns, to_ns;
	double seconds; /* Σ length of the epochs in it */
	double lost;    /* lost time per second, in the unit of over_time */
};

struct prof {
	const struct prof_request *req;
	struct selection sel;
	struct events ev;
	struct time_source source;
	size_t primary; /* the event that orders the rows; ev.nr: the combined time */
	struct evidence evidence;
	size_t nr_departing;      /* rows that depart */
	const struct prof *whole; /* the selection of which this is a part; or NULL */
	char *procedure_glob;     /* selects the rows to show; or NULL */
	struct hmap map;
	struct prof_row **row; /* after prof_sort() */
	size_t nr_rows;
	struct event_sum busy[EVENTS_MAX + 1]; /* Σ of all rows except the idle row */
	struct event_sum idle[EVENTS_MAX + 1];
	struct prof_bucket *bucket; /* with --over-time */
	size_t nr_buckets;
	struct prof_parts
		*parts;    /* totals that rows are made of (prof_parts.h); or NULL */
	size_t slot;       /* of whole: a bucket, or one epoch (prof_slot()) */
	uint64_t *unknown; /* by stream: samples without an image in rows by context */
	bool has_weights;  /* some time comes from sample weights */
	bool quiet;        /* do not warn of images that cannot be opened */
};

/*
 * Opens the selection and fills the rows. Errors are logged. Returns 0 or a negative
 * error. After 0 the caller closes p.
 */
int prof_open(const struct prof_request *req, struct prof *p);
void prof_close(struct prof *p);

/* Fills events and rows; p->req and p->sel must be set. Errors are logged. */
int prof_gather(struct prof *p);

/* Whether the request shows a row. */
bool prof_is_shown(const struct prof *p, const struct prof_row *row);

/*
 * Whether the rows are ordered by the combined time. False: by one event, because the
 * request asks for that or no event measures time.
 */
bool prof_is_one_time(const struct prof *p);

/* Whether the primary measures time, in ns. */
bool prof_primary_is_time(const struct prof *p);

/* Computes the combined time of the rows in p->row. Returns 0 or -ENOMEM. */
int prof_take_evidence(struct prof *p);

/* Returns t in percent of Σ busy[event], and of idle[event] too with --idle. */
double prof_percent(const struct prof *p, const struct event_sum *t, size_t event);

#endif
