/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explainer.c - opens an analysis run, and gives it the data of a selection
 *
 * Interrupts of a timer, and on AArch64 also those of the PMU, are delayed while
 * the kernel has interrupts disabled. Their samples land on the code that enables
 * interrupts; they are reported as deferred, not analysed.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/text.h"
#include "report/explain/explainer_private.h"
#include "report/cache/schedulefile.h"

#define MAX_KEPT      64 /* images */
#define RETIRED_LEAST 10 /* samples of time, at most, for each of instructions */

/*
 * Events that are evidence for a reason, named as in perf, and the most cycles that one
 * event can cost: a miss all the way to memory, a page walk, a refilled pipeline. The
 * cycles are those of current servers, rounded up, because they are only upper limits.
 */
static const struct {
	const char *name;
	enum blame_reason reason;
	double cycles;
} evidence[] = {
	{ "imiss", BLAME_ICACHE, 500 },
	{ "L1-icache-load-misses", BLAME_ICACHE, 500 },
	{ "iTLB-load-misses", BLAME_ITLB, 200 },
	{ "L1-dcache-load-misses", BLAME_DCACHE, 500 },
	{ "cache-misses", BLAME_DCACHE, 500 },
	{ "dTLB-load-misses", BLAME_DTLB, 200 },
	{ "branch-misses", BLAME_MISPREDICT, 50 },
};

/* Checks that the passes of --debug are known. */
static int check_debug(const char *passes)
{
	static const char *const known[] = { "cfg", "freq", "blame" };

	while (passes && *passes) {
		size_t len = strcspn(passes, ",");
		bool found = false;

		for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
			found |= strlen(known[i]) == len &&
				 !strncmp(passes, known[i], len);
		if (!found) {
			log_err("--debug=%.*s: say some of cfg,freq,blame", (int)len,
				passes);
			return -EINVAL;
		}
		passes += len + (passes[len] == ',');
	}
	return 0;
}

static int choose_cpu(struct explainer *x)
{
	const char *wanted = x->scope->req->cpu;
	const char *name =
		wanted ? wanted
		       : isa_cpu_of_model(x->machine,
					  select_newest(&x->scope->sel)->cpu);
	int err = name ? isa_set_cpu(x->isa, name) : 0;

	if (err == -EINVAL && wanted)
		log_err("--cpu=%s: there is no timing model of that name: say one of "
			"LLVM's, such as skylake-avx512, znver4, neoverse-n1",
			wanted);
	return err == -EINVAL && !wanted ? 0 : err;
}

/* Keeps what it has learned for later runs; accepts NULL. */
static void close_isa(struct isa *isa)
{
	schedulefile_save(isa);
	isa_close(isa);
}

/* One decoder at a time: databases are of one machine. */
static int open_isa(struct explainer *x, enum machine machine)
{
	int err;

	if (x->isa && x->machine == machine)
		return 0;
	close_isa(x->isa);
	x->isa = NULL;
	err = isa_open(machine, &x->isa);
	if (err)
		return err;
	x->machine = machine;
	err = choose_cpu(x);
	return err ? err : schedulefile_load(x->isa);
}

/* Errors are logged, except -ENOMEM; x must be closed in any case. */
static int init(struct explainer *x)
{
	const size_t nr = x->scope->sel.streams.nr;
	int err = check_debug(x->scope->req->debug);

	if (err)
		return err;
	x->streams = calloc(2 * nr + 1, sizeof(*x->streams));
	x->events = calloc(nr + 1, sizeof(*x->events));
	x->retired = calloc(nr + 1, sizeof(*x->retired));
	x->records = calloc(nr + 1, sizeof(struct profile *));
	x->profile = calloc(nr + 1, sizeof(struct profile *));
	x->alone = calloc(nr + 1, sizeof(struct profile *));
	x->agreed = calloc(nr + 1, sizeof(struct profile *));
	x->none = profile_new();
	if (!x->streams || !x->events || !x->retired || !x->records || !x->profile ||
	    !x->alone || !x->agreed || !x->none)
		return -ENOMEM;
	err = open_isa(x, machine_of(select_newest(&x->scope->sel)->arch));
	return err == -CPI_EFORMAT ? 0 : err;
}

static double amount_of(void *ctx, int64_t stream, uint64_t n)
{
	const struct explainer *x = ctx;
	const struct query_streams *streams = &x->scope->sel.streams;
	size_t i = 0;

	while (i < streams->nr && streams->stream[i].id != stream)
		i++;
	return i < streams->nr ? scope_amount(x->scope, i, n) : 0;
}

/* Loads all windows once, because every procedure needs all of them. */
static int look_for_windows(struct explainer *x)
{
	const struct selection *sel = &x->scope->sel;
	int err;

	if (x->looked_for_windows)
		return 0;
	err = query_streams_of(sel->db, TALLY_WINDOWS, &sel->epochs, NULL,
			       &x->window_streams);
	if (!err && x->window_streams.nr)
		err = selected_windows_load(sel->db, &sel->query, amount_of, x,
					    &x->windows);
	if (!err && x->window_streams.nr)
		err = selected_accesses_load(sel->db, &sel->query, select_newest(sel),
					     &x->accesses);
	if (err)
		log_err("windows of these epochs cannot be used: %s", err_str(err));
	x->looked_for_windows = !err;
	return err;
}

/* Edges of windows are left out here: they are used with the windows' weights. */
static bool is_of_windows(const struct explainer *x, int64_t stream)
{
	for (size_t i = 0; i < x->window_streams.nr; i++) {
		if (x->window_streams.stream[i].id == stream)
			return true;
	}
	return false;
}

static int take_edges(void *ctx, const struct query_edges *q)
{
	struct explainer *x = ctx;

	if (q->kind == EDGES_PACE || q->kind == EDGES_PACE_START)
		return explainer_take_pace(x, q);
	if (q->kind >= EDGES_NR_KINDS || is_of_windows(x, q->stream))
		return 0;
	if (x->scope->sel.query.event &&
	    !query_stream_by_id(&x->scope->sel.streams, q->stream))
		return 0;
	if (!x->edges[q->kind])
		x->edges[q->kind] = edges_new();
	return x->edges[q->kind] ? edges_merge(x->edges[q->kind], q->edges) : -ENOMEM;
}

bool explainer_lacks_pairs(const struct explainer *x)
{
	return x->window_streams.nr && select_has_contexts(&x->scope->sel);
}

static void forget_edges(struct explainer *x)
{
	for (int i = 0; i < EDGES_NR_KINDS; i++) {
		edges_free(x->edges[i]);
		x->edges[i] = NULL;
	}
	x->edges_of = 0;
}

int explainer_load_edges(struct explainer *x)
{
	struct query_selection all = x->scope->sel.query;
	int err = look_for_windows(x);

	if (err || select_has_contexts(&x->scope->sel) || x->edges_of == x->image.id)
		return err;
	forget_edges(x);
	all.event = NULL; /* as for windows: pairs are in their streams */
	err = query_edges(x->scope->sel.db, &all, x->image.id, take_edges, x);
	if (err == -CPI_ELIMIT) {
		log_warn("%s: it has too many different branches or pairs of samples, "
			 "so neither is used: select fewer epochs",
			 x->image.desc.name);
		forget_edges(x);
		err = 0;
	}
	if (!err)
		x->edges_of = x->image.id;
	return err;
}

void explainer_unload(struct explainer *x)
{
	explainer_unsplit(x);
	for (size_t i = 0; x->profile && i < x->scope->sel.streams.nr; i++) {
		profile_free(x->profile[i]);
		x->profile[i] = NULL;
	}
	free((char *)x->image.desc.name);
	memset(&x->image, 0, sizeof(x->image));
	buf_reset(&x->samples);
	callgraph_free(x->calls);
	x->calls = NULL;
}

/* A new explainer whose scope is not open yet. */
static struct explainer *make_explainer(void)
{
	struct explainer *x = calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	arena_init(&x->arena, 0);
	x->scope = calloc(1, sizeof(*x->scope));
	if (x->scope)
		return x;
	free(x);
	return NULL;
}

/* Frees x, but not the content of its scope. */
static void destroy(struct explainer *x)
{
	if (!x)
		return;
	forget_edges(x);
	selected_windows_free(x->windows);
	selected_accesses_free(x->accesses);
	query_streams_fini(&x->window_streams);
	buf_fini(&x->samples);
	free(x->streams);
	free(x->events);
	free(x->retired);
	free(x->records);
	free(x->profile);
	free(x->alone);
	free(x->agreed);
	profile_free(x->none);
	close_isa(x->isa);
	callsfile_close(x->calls_file);
	arena_fini(&x->arena);
	free(x->scope);
	free(x);
}

/* Initialises x after its scope was opened; err is the result of opening the scope. */
static int begin(struct explainer *x, int err, struct explainer **out)
{
	if (err) {
		destroy(x);
		return err;
	}
	if (x->kept) {
		x->isa = x->kept->isa;
		x->machine = x->kept->machine;
		x->calls_file = x->kept->calls_file;
	}
	if (x->scope->sel.streams.nr)
		err = init(x);
	if (err || !x->scope->sel.streams.nr) {
		explainer_close(x);
		x = NULL;
	}
	if (!err)
		*out = x;
	return err;
}

int explainer_open(const struct explain_request *req, struct explainer **out)
{
	struct explainer *x = make_explainer();
	int err = x ? scope_open(x->scope, req) : -ENOMEM;

	if (!err) {
		err = scope_take_evidence(x->scope);
		if (err)
			scope_close(x->scope);
	}
	return begin(x, err, out);
}

int explainer_open_epoch(const struct explain_request *req, const struct selection *sel,
			 const struct query_epoch *epoch, struct explainer_kept *kept,
			 struct explainer **out)
{
	struct explainer *x = make_explainer();

	if (!x)
		return -ENOMEM;
	x->kept = kept;
	return begin(x, scope_open_epoch(x->scope, req, sel, epoch, kept->images), out);
}

void explainer_close(struct explainer *x)
{
	if (!x)
		return;
	explainer_unload(x);
	if (x->kept) {
		x->kept->isa = x->isa;
		x->kept->machine = x->machine;
		x->kept->calls_file = x->calls_file;
		x->isa = NULL;
		x->calls_file = NULL;
		scope_close_epoch(x->scope);
	} else {
		scope_close(x->scope);
	}
	destroy(x);
}

int explainer_keep(const struct select_request *req, const struct selection *sel,
		   struct explainer_kept *out)
{
	struct explainer_kept kept = { .images = NULL };
	int err = scope_images(req, sel, &kept.images);

	if (err)
		return err;
	image_cache_hold(kept.images, MAX_KEPT);
	*out = kept;
	return 0;
}

void explainer_drop(struct explainer_kept *kept)
{
	image_cache_free(kept->images);
	close_isa(kept->isa);
	callsfile_close(kept->calls_file);
	*kept = (struct explainer_kept){ 0 };
}

struct scope *explainer_scope(const struct explainer *x)
{
	return x->scope;
}

void explainer_leave_out(struct explainer *x, explain_enough_fn enough, void *ctx,
			 bool deferred)
{
	x->enough = enough;
	x->enough_ctx = ctx;
	x->leaves_out_deferred = deferred;
}

struct profile *explainer_profile(const struct explainer *x, size_t stream)
{
	return x->profile[stream];
}

struct isa *explainer_isa(const struct explainer *x)
{
	return x->isa;
}

/* Adds a row to its image; the first row of an image sets x->image. */
int explainer_load(struct explainer *x, const struct query_profile *q)
{
	const struct query_streams *streams = &x->scope->sel.streams;
	const struct query_stream *s = query_stream_by_id(streams, q->stream);
	size_t i;

	explainer_unsplit(x);
	if (!x->image.desc.name) {
		x->image = q->image;
		x->image.desc.name = strdup(q->image.desc.name);
		if (!x->image.desc.name)
			return -ENOMEM;
	}
	if (!s)
		return 0;
	i = s - streams->stream;
	if (!x->profile[i])
		x->profile[i] = profile_new();
	return x->profile[i] ? profile_merge(x->profile[i], q->profile) : -ENOMEM;
}

void explainer_tally(const struct explainer *x, uint64_t offset,
		     struct event_sum *tally)
{
	const struct events *ev = &x->scope->ev;

	memset(tally, 0, ev->nr * sizeof(*tally));
	for (size_t i = 0; i < ev->streams->nr; i++) {
		struct event_sum *t = &tally[ev->of[i]];
		uint64_t n;

		if (!x->profile[i])
			continue;
		n = profile_at(x->profile[i], offset).n;
		t->n += n;
		t->weight += n * ev->weight[i];
	}
}

/* Whether interrupts that the kernel can mask take the samples of time. */
static bool is_maskable(const struct explainer *x)
{
	const struct query_epoch *e = select_newest(&x->scope->sel);

	return x->scope->event < x->scope->ev.nr &&
	       (!strcmp(scope_stream(x->scope, x->scope->first)->desc.unit, "ns") ||
		machine_of(e->arch) != MACHINE_X86_64);
}

bool explainer_is_deferred(const struct explainer *x)
{
	return image_kind_is_kernel(x->image.desc.kind) && is_maskable(x);
}

static bool is_event(const char *event, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(event, name, len) && (!event[len] || event[len] == ':');
}

double explainer_unit(const struct explainer *x, size_t stream)
{
	const struct profile *p = x->profile[stream];

	return p ? time_source_unit(&x->scope->source, stream, p) : 0;
}

const char *explainer_attribution(const struct explainer *x)
{
	const enum attribution a = x->scope->req->attribution;

	if (a != ATTRIBUTION_AUTO)
		return attribution_str(a);
	return explainer_unit(x, x->scope->first) > 0
		       ? attribution_str(ATTRIBUTION_TIP)
		       : landing_str(
				 scope_stream(x->scope, x->scope->first)->desc.landing);
}

/* Adds the streams of time to in. Without any, adds one that has no samples. */
static int add_streams(struct explainer *x, struct image *im, struct explain_input *in)
{
	const struct events *ev = &x->scope->ev;

	if (x->scope->evidence)
		return explainer_add_split(x, im, in);
	if (x->scope->event == ev->nr)
		x->streams[in->nr_streams++] =
			(struct explain_stream){ x->none, LANDING_HEAD, 1, 0 };
	for (size_t i = x->scope->first; i < ev->streams->nr; i++) {
		if (!scope_measures(x->scope, i))
			continue;
		if (!x->profile[i])
			x->profile[i] = profile_new();
		if (!x->profile[i])
			return -ENOMEM;
		x->streams[in->nr_streams++] = (struct explain_stream){
			x->profile[i],
			time_source_landing(&x->scope->source, i, x->profile[i]),
			ev->weight[i] * x->scope->clock_hz / 1e9, explainer_unit(x, i)
		};
	}
	return 0;
}

static void add_events(struct explainer *x, struct explain_input *in)
{
	for (size_t i = 0; i < x->scope->sel.streams.nr; i++) {
		const char *event = scope_stream(x->scope, i)->desc.event;

		for (size_t k = 0; k < sizeof(evidence) / sizeof(evidence[0]); k++) {
			if (!x->profile[i] || !is_event(event, evidence[k].name))
				continue;
			x->events[in->nr_events++] = (struct explain_event){
				x->profile[i], evidence[k].reason,
				x->scope->ev.weight[i], evidence[k].cycles
			};
			break;
		}
	}
}

static bool counts_instructions(const char *event)
{
	static const char *const names[] = { "instructions", "inst_retired.any",
					     "INST_RETIRED.ANY" };

	for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++) {
		if (is_event(event, names[k]))
			return true;
	}
	return false;
}

/*
 * Adds the streams that sampled instructions, if the image has enough samples of them
 * relative to those of time. Counting by image makes sure that all of its procedures
 * are estimated from the same events.
 */
static void add_retired(struct explainer *x, struct explain_input *in)
{
	uint64_t time = 0, retired = 0;

	in->retired = x->retired;
	for (size_t i = 0; i < x->scope->sel.streams.nr; i++) {
		if (!x->profile[i])
			continue;
		if (scope_measures(x->scope, i))
			time += profile_total(x->profile[i]);
		if (!counts_instructions(scope_stream(x->scope, i)->desc.event))
			continue;
		retired += profile_total(x->profile[i]);
		x->retired[in->nr_retired++] = (struct explain_event){
			.profile = x->profile[i],
			.period = x->scope->ev.weight[i],
		};
	}
	if (retired < time / RETIRED_LEAST)
		in->nr_retired = 0;
}

static void add_records(struct explainer *x, struct explain_input *in)
{
	in->records = x->records;
	for (size_t i = 0; i < x->scope->sel.streams.nr; i++) {
		if (x->profile[i] && profile_records(x->profile[i]))
			x->records[in->nr_records++] = x->profile[i];
	}
}

/* Fills in what all procedures of the image have in common. */
static int fill_input(struct explainer *x, struct image *im, struct explain_input *in)
{
	int err;

	*in = (struct explain_input){
		.image = im,
		.stream = x->streams,
		.event = x->events,
		.deferred = explainer_is_deferred(x),
	};
	err = open_isa(x, image_machine(im));
	if (!err)
		err = explainer_load_edges(x);
	if (!err)
		err = selected_windows_image(x->windows, x->image.id, &in->windows);
	in->data = selected_accesses_model(x->accesses, x->image.id, &in->data_image);
	if (!err)
		err = add_streams(x, im, in);
	if (err)
		return err;
	add_events(x, in);
	add_retired(x, in);
	in->branches = x->edges[EDGES_BRANCH];
	in->runs = x->edges[EDGES_RUN];
	add_records(x, in);
	in->isa = x->isa;
	return 0;
}

static int explain(struct explainer *x, struct image *im,
		   const struct symbol *procedure, bool shape_only, struct buf *debug,
		   struct explained **out)
{
	struct explain_input in;
	int err;

	arena_fini(&x->arena);
	err = fill_input(x, im, &in);
	if (err)
		return err;
	in.procedure = procedure;
	in.scale = callgraph_factor(x->calls, procedure->start);
	in.shape_only = shape_only;
	in.debug = debug;
	in.debug_passes = x->scope->req->debug;
	err = explainer_add_pace(x, procedure, &in);
	return err ? err : explain_procedure(&in, &x->arena, out);
}

int explainer_branches(struct explainer *x, struct edges **out)
{
	const struct explain_windows *windows;
	const int err = selected_windows_image(x->windows, x->image.id, &windows);

	if (err)
		return err;
	*out = x->edges[EDGES_BRANCH];
	if (!*out && windows)
		*out = windows->branches;
	return 0;
}

/* Prints debug text; it contains names from outside, so each line is made harmless. */
static void put_debug(const char *name, char *text)
{
	struct buf out = { 0 };
	const char *line;

	text_put_clean(&out, name);
	buf_putc(&out, ':');
	while ((line = strsep(&text, "\n"))) {
		buf_putc(&out, '\n');
		text_put_clean(&out, line);
	}
	fputs(buf_str(&out), stderr);
	buf_fini(&out);
}

int explainer_explain(struct explainer *x, struct image *im,
		      const struct symbol *procedure, struct explained **out)
{
	struct buf debug = { 0 };
	const int err = explain(x, im, procedure, false,
				x->scope->req->debug ? &debug : NULL, out);

	if (debug.len && *buf_str(&debug))
		put_debug(procedure->name, debug.data);
	buf_fini(&debug);
	return err;
}

int explainer_calls_key(struct explainer *x, struct image *im, struct calls_key *out)
{
	const struct image_mark mark = image_cache_mark(x->scope->images, &x->image);
	struct calls_key key = { { mark.hash[0], mark.hash[1] } };
	struct explain_input in;
	const int err = mark.known ? fill_input(x, im, &in) : -ENOENT;

	if (err)
		return err;
	calls_key_add_input(&key, &in);
	*out = key;
	return 0;
}

int explainer_add_calls(struct explainer *x, struct image *im,
			const struct symbol *procedure)
{
	const struct explain_windows *windows;
	struct explained *e;
	int err = look_for_windows(x);

	if (!err)
		err = selected_windows_image(x->windows, x->image.id, &windows);
	if (err || !windows)
		return err;
	if (!x->calls)
		x->calls = callgraph_new();
	if (!x->calls)
		return -ENOMEM;
	err = explain(x, im, procedure, true, NULL, &e);
	if (err)
		return err == -ENOMEM ? err : 0; /* its explanation reports this */
	return callgraph_add(x->calls, e, windows);
}
