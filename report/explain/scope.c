/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * scope.c - opens the selection for procedures, and finds the unit of time
 *
 * The first event that measures time is the one that is explained. Streams of it with
 * other periods are converted to samples of its first stream.
 */
#include "config.h"

#include "report/explain/scope.h"

#include <errno.h>

#include "base/err.h"
#include "base/log.h"
#include "report/select/facts.h"

static void find_time(struct scope *s)
{
	const struct events *ev = &s->ev;

	s->event = ev->nr && ev->event[0].is_time ? 0 : ev->nr;
	while (s->event < ev->nr && s->first < ev->streams->nr &&
	       !scope_measures(s, s->first))
		s->first++;
	if (s->first == ev->streams->nr) {
		s->event = ev->nr;
		s->first = 0;
	}
	s->clock_hz = select_newest(&s->sel)->clock_hz;
	if (!s->clock_hz)
		s->clock_hz = 1e9;
}

/* Groups the streams of the open selection by event, and finds the event of time. */
static int prepare(struct scope *s)
{
	int err =
		events_init(&s->ev, &s->sel.streams, select_newest(&s->sel)->clock_hz);

	if (err) {
		select_failed(&s->sel, err);
		return err;
	}
	err = time_source_open(&s->source, s->req->attribution, &s->sel, &s->ev);
	if (!err)
		find_time(s);
	return err;
}

int scope_images(const struct select_request *req, const struct selection *sel,
		 struct image_cache **out)
{
	struct image_cache *images =
		image_cache_new(sel->db, machine_of(select_newest(sel)->arch),
				IMAGE_WARN_NEVER);
	int err = images ? image_cache_search(images, req->debug_dir, req->debuginfod)
			 : -ENOMEM;

	if (err)
		image_cache_free(images);
	else
		*out = images;
	return err;
}

int scope_open(struct scope *s, const struct explain_request *req)
{
	int err;

	*s = (struct scope){ .req = req };
	err = select_open_epochs(&req->select, req->select.epoch, SELECT_SUMS, &s->sel);
	if (err)
		return err == -ENOMEM ? -ECANCELED : err; /* already logged */
	err = prepare(s);
	if (!err)
		err = scope_images(&req->select, &s->sel, &s->images);
	if (err)
		scope_close(s);
	return err;
}

int scope_take_evidence(struct scope *s)
{
	if (s->event || s->req->attribution == ATTRIBUTION_TIP ||
	    s->req->attribution == ATTRIBUTION_PRECISE)
		return 0;
	return procedure_evidence_open(&s->req->select, &s->sel, &s->ev, &s->evidence);
}

void scope_close(struct scope *s)
{
	procedure_evidence_close(s->evidence);
	image_cache_free(s->images);
	time_source_close(&s->source);
	events_fini(&s->ev);
	select_close(&s->sel);
}

int scope_open_epoch(struct scope *s, const struct explain_request *req,
		     const struct selection *sel, const struct query_epoch *epoch,
		     struct image_cache *images)
{
	int err;

	*s = (struct scope){ .req = req, .sel = *sel, .images = images };
	s->sel.epochs = (struct query_epochs){ (struct query_epoch *)epoch, 1 };
	s->sel.query.epochs = &s->sel.epochs;
	s->sel.streams = (struct query_streams){ 0 };
	s->sel.losses = (struct query_losses){ 0 };
	err = query_streams(s->sel.db, &s->sel.epochs, s->sel.query.event,
			    &s->sel.streams);
	if (!err)
		err = query_losses(s->sel.db, &s->sel.epochs, &s->sel.losses);
	if (err)
		select_failed(&s->sel, err);
	else if (s->sel.streams.nr)
		err = prepare(s);
	if (err)
		scope_close_epoch(s);
	return err;
}

void scope_close_epoch(struct scope *s)
{
	time_source_close(&s->source);
	events_fini(&s->ev);
	query_losses_fini(&s->sel.losses);
	query_streams_fini(&s->sel.streams);
}

const struct query_stream *scope_stream(const struct scope *s, size_t stream)
{
	return &s->sel.streams.stream[stream];
}

bool scope_measures(const struct scope *s, size_t stream)
{
	const size_t event = s->ev.of[stream];

	if (!time_source_takes(&s->source, stream))
		return false;
	return event == s->event ||
	       (s->evidence &&
		evidence_counts(procedure_evidence_fit(s->evidence), event));
}

double scope_amount_in(const struct scope *s, size_t stream, uint64_t n,
		       struct evidence_use use)
{
	const double factor =
		s->evidence ? evidence_factor(procedure_evidence_fit(s->evidence),
					      s->ev.of[stream], use)
			    : 1;

	if (!scope_measures(s, stream))
		return 0;
	return n * factor * (s->ev.weight[stream] / s->ev.weight[s->first]);
}

double scope_amount(const struct scope *s, size_t stream, uint64_t n)
{
	return scope_amount_in(s, stream, n,
			       (struct evidence_use){ .random_only = true });
}

struct unknown_adder {
	const struct scope *s;
	double amount;
};

static int add_unknown(void *ctx, const struct query_profile *q)
{
	struct unknown_adder *a = ctx;
	const struct query_streams *streams = &a->s->sel.streams;
	const struct query_stream *stream = query_stream_by_id(streams, q->stream);

	if (stream && !q->image.id)
		a->amount += scope_amount(a->s, (size_t)(stream - streams->stream),
					  profile_total(q->profile));
	return 0;
}

/* Those of selected contexts have profiles, of image 0. */
static double unknown_of_contexts(const struct scope *s)
{
	struct query_selection query = s->sel.query;
	struct unknown_adder a = { .s = s };
	int err;

	query.unknown = true;
	query.totals = true;
	err = query_profiles(s->sel.db, &query, add_unknown, &a, NULL);
	if (err && err != -CPI_EEMPTY) /* which the search for procedures tells */
		select_failed(&s->sel, err);
	return a.amount;
}

/* Samples without an image are in no selection of images. */
double scope_unknown(const struct scope *s)
{
	double amount = 0;

	if (s->req->select.image || !time_source_counts(&s->source, s->event))
		return 0;
	if (s->evidence)
		return procedure_evidence_unknown(s->evidence) / s->ev.weight[s->first];
	if (select_has_contexts(&s->sel))
		return unknown_of_contexts(s);
	for (size_t i = 0; i < s->sel.streams.nr; i++)
		amount += scope_amount(s, i,
				       report_nr_lost(&s->sel, LOSS_UNKNOWN,
						      scope_stream(s, i)->id));
	return amount;
}

double scope_period_cycles(const struct scope *s)
{
	return s->ev.weight[s->first] * s->clock_hz / 1e9;
}

int scope_needs_time(const struct scope *s)
{
	if (s->event < s->ev.nr)
		return 0;
	log_err("%s: none of the selected events measures time: choose cycles or "
		"cpu-clock with --event, or record one",
		db_path(s->sel.db));
	return -CPI_EEMPTY;
}
