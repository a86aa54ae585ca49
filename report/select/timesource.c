/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * timesource.c - the source of a report's time: counts, or what hardware measured
 *
 * The selection is read once to find what hardware measured of each event. If
 * there are several, the best one is used: precise[] has the best first.
 */
#include "config.h"

#include "report/select/timesource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/freq/precise.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"

#define ASSUMED_HZ 1e9

/* Σ cycles of the runs of an event in an image. */
struct run_sum {
	int64_t image;
	size_t event;
	uint64_t cycles;
};

/* The sources of time that an event has in the selection. */
struct found {
	double latencies;      /* Σ retire latencies, in cycles */
	double latent_samples; /* samples of profiles that have latencies */
	double cycles;         /* Σ cycles of runs, in images with samples */
	double samples, ns;    /* samples of those images, and their time */
	bool placed; /* measures time, and a stream has locations from hardware */
};

struct source_finder {
	const struct selection *sel;
	const struct events *ev;
	struct buf runs; /* struct run_sum, by image and event */
	struct found event[EVENTS_MAX];
	bool has_weights;
};

/* ---- finding the sources ---- */

static int by_image(const void *va, const void *vb)
{
	const struct run_sum *a = va, *b = vb;

	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return (a->event > b->event) - (a->event < b->event);
}

static struct run_sum *find_run(struct source_finder *f, int64_t image, size_t event)
{
	const struct run_sum key = { .image = image, .event = event };
	const size_t nr = f->runs.len / sizeof(key);

	return nr ? bsearch(&key, f->runs.data, nr, sizeof(key), by_image) : NULL;
}

static int on_edges(void *ctx, const struct query_edges *q)
{
	struct source_finder *f = ctx;
	struct run_sum s = { .image = q->image.id };
	double weight;

	if (q->kind != EDGES_RUN || q->image.id != q->target.id ||
	    !events_find(f->ev, q->stream, &s.event, &weight))
		return 0;
	s.cycles = precise_run_cycles(q->edges);
	if (s.cycles)
		buf_put(&f->runs, &s, sizeof(s));
	return f->runs.err;
}

/* Adds the sums of an event's streams for each image. */
static void merge_runs(struct buf *runs)
{
	struct run_sum *s = (struct run_sum *)runs->data;
	const size_t nr = runs->len / sizeof(*s);
	size_t kept = 0;

	if (!nr)
		return;
	qsort(s, nr, sizeof(*s), by_image);
	for (size_t i = 1; i < nr; i++) {
		if (by_image(&s[kept], &s[i]))
			s[++kept] = s[i];
		else
			s[kept].cycles += s[i].cycles;
	}
	runs->len = (kept + 1) * sizeof(*s);
}

static int add_latencies(struct found *event, const struct profile *p)
{
	struct profile *time = profile_new();
	const struct profile *weights;
	int err = time ? precise_add_latencies(profile_records(p), time) : -ENOMEM;

	weights = err ? NULL : profile_weights(time, WEIGHT_EXECUTION);
	if (weights) {
		event->latencies += (double)profile_total(weights) / WEIGHT_UNIT;
		event->latent_samples += (double)profile_total(p);
	}
	profile_free(time);
	return err;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct source_finder *f = ctx;
	const double n = (double)profile_total(q->profile);
	struct run_sum *run;
	struct found *event;
	double weight;
	size_t i;

	if (q->image.desc.kind == IMAGE_IDLE ||
	    !events_find(f->ev, q->stream, &i, &weight))
		return 0;
	f->has_weights |= profile_is_weighted(q->profile);
	event = &f->event[i];
	run = find_run(f, q->image.id, i);
	if (run) {
		event->samples += n;
		event->ns += n * weight;
		event->cycles += (double)run->cycles;
		run->cycles = 0; /* the sum has all streams, so it counts once */
	}
	return profile_records(q->profile) &&
			       precise_counts_instructions(f->ev->event[i].name)
		       ? add_latencies(event, q->profile)
		       : 0;
}

static void find_placed(struct source_finder *f)
{
	const struct query_streams *s = &f->sel->streams;

	for (size_t i = 0; i < s->nr; i++)
		f->event[f->ev->of[i]].placed |=
			f->ev->event[f->ev->of[i]].is_time &&
			s->stream[i].desc.landing == LANDING_PRECISE;
}

/* Branch stacks are not stored by context, so they do not help if one is selected. */
static int find_sources(struct source_finder *f)
{
	int err = 0;

	if (!select_has_contexts(f->sel))
		err = query_edges(f->sel->db, &f->sel->query, 0, on_edges, f);
	merge_runs(&f->runs);
	if (!err)
		err = query_profiles(f->sel->db, &f->sel->query, on_profile, f, NULL);
	find_placed(f);
	return err;
}

/* ---- choosing a source ---- */

static bool has_latencies(const struct found *f)
{
	return f->latencies > 0;
}

static bool has_cycles(const struct found *f)
{
	return f->cycles > 0;
}

static bool is_placed(const struct found *f)
{
	return f->placed;
}

/* The best comes first. */
static const struct {
	enum time_kind kind;
	bool (*has)(const struct found *f);
	const char *name, *text;
} precise[] = {
	{ TIME_OF_LATENCIES, has_latencies, "retire_latencies",
	  "retire latencies of %s" },
	{ TIME_OF_RUNS, has_cycles, "branch_stacks",
	  "cycles of branch stacks, taken with %s" },
	{ TIME_OF_SAMPLES, is_placed, "landing",
	  "where hardware places samples of %s" },
};

#define NR_PRECISE (sizeof(precise) / sizeof(precise[0]))

static size_t first_that_has(const struct source_finder *f, size_t source)
{
	size_t i = 0;

	while (i < f->ev->nr && !precise[source].has(&f->event[i]))
		i++;
	return i;
}

static void list_precise(const struct source_finder *f, struct buf *out)
{
	for (size_t i = 0; i < NR_PRECISE; i++) {
		const size_t event = first_that_has(f, i);

		if (event == f->ev->nr)
			continue;
		buf_puts(out, "precise (");
		buf_printf(out, precise[i].text, f->ev->event[event].name);
		buf_puts(out, "), ");
	}
}

static int failed(const struct source_finder *f, enum attribution asked)
{
	struct buf there = { 0 };

	list_precise(f, &there);
	log_err("%s: --attribution=%s: the selected epochs do not have it: they have "
		"%s%sraw",
		db_path(f->sel->db), attribution_str(asked), buf_str(&there),
		f->has_weights ? "tip, " : "");
	buf_fini(&there);
	return -CPI_EEMPTY;
}

/* Sets the weight of the event's samples to the mean of what was measured. */
static void weigh_event(struct time_source *t, const struct found *f, size_t event,
			struct events *ev)
{
	const uint64_t hz = select_newest(t->sel)->clock_hz;
	const double cycle_ns = 1e9 / (hz ? (double)hz : ASSUMED_HZ);
	const bool is_time = ev->event[event].is_time;
	const double mean = t->kind == TIME_OF_LATENCIES
				    ? f->latencies / f->latent_samples
				    : f->cycles / f->samples;

	t->weight = t->kind == TIME_OF_LATENCIES ? mean
		    : is_time                    ? f->ns / f->cycles
						 : cycle_ns;
	for (size_t i = 0; i < ev->streams->nr; i++) {
		if (ev->of[i] != event)
			continue;
		if (t->kind == TIME_OF_LATENCIES)
			ev->weight[i] *= mean * cycle_ns;
		else if (!is_time)
			ev->weight[i] = mean * cycle_ns;
	}
}

static int choose(struct time_source *t, const struct source_finder *f,
		  struct events *ev)
{
	for (size_t i = 0; i < NR_PRECISE; i++) {
		const size_t event = first_that_has(f, i);

		if (event == ev->nr)
			continue;
		t->kind = precise[i].kind;
		t->name = precise[i].name;
		t->text = precise[i].text;
		if (t->kind != TIME_OF_SAMPLES)
			weigh_event(t, &f->event[event], event, ev);
		events_lead(ev, event);
		return 0;
	}
	return failed(f, t->asked);
}

int time_source_open(struct time_source *t, enum attribution asked,
		     const struct selection *sel, struct events *ev)
{
	struct source_finder f = { .sel = sel, .ev = ev };
	int err;

	*t = (struct time_source){ .asked = asked, .sel = sel, .ev = ev };
	if (t->asked != ATTRIBUTION_TIP && t->asked != ATTRIBUTION_PRECISE)
		return 0;
	err = find_sources(&f);
	if (err)
		select_failed(sel, err);
	else if (t->asked == ATTRIBUTION_PRECISE)
		err = choose(t, &f, ev);
	else if (!f.has_weights)
		err = failed(&f, t->asked);
	buf_fini(&f.runs);
	return err;
}

void time_source_close(struct time_source *t)
{
	isa_close(t->isa);
	*t = (struct time_source){ 0 };
}

/* ---- using the source ---- */

/* Whether the stream's time comes from latencies or runs. */
static bool is_measured(const struct time_source *t, size_t stream)
{
	return t->kind != TIME_OF_SAMPLES && !t->ev->of[stream];
}

bool time_source_takes(const struct time_source *t, size_t stream)
{
	return t->asked != ATTRIBUTION_PRECISE || is_measured(t, stream) ||
	       t->sel->streams.stream[stream].desc.landing == LANDING_PRECISE;
}

bool time_source_counts(const struct time_source *t, size_t event)
{
	return t->kind == TIME_OF_SAMPLES || event;
}

double time_source_unit(const struct time_source *t, size_t stream,
			const struct profile *p)
{
	if (!is_measured(t, stream))
		return attribution_weighs(t->asked, p) ? WEIGHT_UNIT : 0;
	return WEIGHT_UNIT * (t->kind == TIME_OF_LATENCIES
				      ? t->weight
				      : t->ev->weight[stream] / t->weight);
}

enum landing time_source_landing(const struct time_source *t, size_t stream,
				 const struct profile *p)
{
	/* The cycles of a run are not known by instruction. */
	if (t->asked == ATTRIBUTION_RAW ||
	    (t->kind == TIME_OF_RUNS && is_measured(t, stream)))
		return LANDING_PRECISE;
	return time_source_unit(t, stream, p) > 0
		       ? LANDING_HEAD
		       : t->sel->streams.stream[stream].desc.landing;
}

static int open_isa(struct time_source *t, struct image *im)
{
	int err = 0;

	if (!im || (t->isa && t->machine == image_machine(im)))
		return 0;
	isa_close(t->isa);
	t->isa = NULL;
	t->machine = image_machine(im);
	err = isa_open(t->machine, &t->isa);
	return err == -ENOMEM ? err : 0;
}

struct taking {
	struct time_source *t;
	struct image *im;
	struct profile *out;
};

static int take_runs(void *ctx, const struct query_edges *q)
{
	struct taking *k = ctx;
	size_t event;
	double weight;

	if (q->kind != EDGES_RUN ||
	    !events_find(k->t->ev, q->stream, &event, &weight) || event)
		return 0;
	return precise_add_runs(q->edges, k->im, k->t->isa, k->out);
}

static int add_runs(struct time_source *t, int64_t image, struct image *im,
		    struct profile *out)
{
	struct taking k = { t, im, out };
	int err = open_isa(t, im);

	return err ? err
		   : query_edges(t->sel->db, &t->sel->query, image, take_runs, &k);
}

int time_source_weigh(struct time_source *t, const struct query_image *image,
		      struct image *im, size_t stream, bool first, struct profile *p)
{
	if (!is_measured(t, stream) || image->desc.kind == IMAGE_IDLE)
		return 0;
	if (t->kind == TIME_OF_RUNS)
		return first ? add_runs(t, image->id, im, p) : 0;
	return profile_records(p) ? precise_add_latencies(profile_records(p), p) : 0;
}
