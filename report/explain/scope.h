/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope.h - an open selection in which procedures are found and explained
 *
 * Only one event (and ticks, see procedure_evidence.h) measures time; adding
 * cycles and cpu-clock of an epoch would count its time twice. One unit for all
 * procedures: samples of the first of that event's streams.
 */
#ifndef CPI_REPORT_SCOPE_H
#define CPI_REPORT_SCOPE_H

#include "report/profile/procedure_evidence.h"
#include "report/select/attribution.h"
#include "report/select/events.h"
#include "report/select/imagecache.h"
#include "report/select/select.h"
#include "report/select/timesource.h"

struct explain_request {
	struct select_request select;
	int attribution;   /* enum attribution */
	const char *cpu;   /* use the timing model of this CPU; or NULL */
	const char *debug; /* passes that print debug text to stderr; or NULL */
};

struct scope {
	const struct explain_request *req;
	struct selection sel;
	struct events ev;
	struct time_source source;
	struct procedure_evidence *evidence; /* NULL: only one event measures time */
	struct image_cache *images;
	size_t event;    /* the one that measures time; ev.nr if there is none */
	size_t first;    /* its first stream, whose samples are the unit */
	double clock_hz; /* 1e9 if the epoch's is not known */
};

/*
 * Opens the request's selection. 0, or an error, which is logged unless it is -ENOMEM;
 * after an error there is nothing to close. req must outlive s.
 */
int scope_open(struct scope *s, const struct explain_request *req);
void scope_close(struct scope *s);

/*
 * The same for one epoch of an open selection. The images still belong to the caller.
 * An epoch without samples gives no streams.
 */
int scope_open_epoch(struct scope *s, const struct explain_request *req,
		     const struct selection *sel, const struct query_epoch *epoch,
		     struct image_cache *images);
void scope_close_epoch(struct scope *s);

/*
 * The images of a selection, with debug files from the request's folders and servers.
 * The caller frees *out. Errors as above.
 */
int scope_images(const struct select_request *req, const struct selection *sel,
		 struct image_cache **out);

/* A stream of the selection. */
const struct query_stream *scope_stream(const struct scope *s, size_t stream);

/* Whether a stream's samples are time that --attribution uses. */
bool scope_measures(const struct scope *s, size_t stream);

/*
 * The amount of n samples of a stream, in samples of the first stream.
 * use: how the samples of their procedure count; those that do not count give 0.
 */
double scope_amount_in(const struct scope *s, size_t stream, uint64_t n,
		       struct evidence_use use);

/*
 * Makes ticks count as time in procedures where they agree with random samples.
 * Does nothing with --attribution=tip or precise. 0, or an error that is logged.
 */
int scope_take_evidence(struct scope *s);

/*
 * scope_amount_in() for a stream of random samples; 0 if the stream does not measure
 * time.
 */
double scope_amount(const struct scope *s, size_t stream, uint64_t n);

/* Samples of the selection that have no image, in the same unit. */
double scope_unknown(const struct scope *s);

/* Cycles that one sample of the first stream stands for. */
double scope_period_cycles(const struct scope *s);

/* 0; or -CPI_EEMPTY, logged, if no event measures time. */
int scope_needs_time(const struct scope *s);

#endif
