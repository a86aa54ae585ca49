/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explaining.c - what of a selection is handed to the analysis
 *
 * Time is that of one event: cycles and cpu-clock of one epoch would count it twice.
 * Where only a timer's interrupts sample the kernel, they wait until it lets them in:
 * its samples are deferred to where it does.
 */
#include "config.h"

#include "tools/explaining.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "db/window_query.h"
#include "tools/out.h"
#include "tools/report.h"

#define MAX_KEPT      64 /* images */
#define RETIRED_LEAST 10 /* samples of time for one of instructions, at most */

/*
 * Events that say something of a reason, as perf names them, and what one costs at
 * most: a miss all the way to memory, a page walk, a refilled pipeline; cycles of
 * today's servers, rounded up, for they only limit.
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

static const struct query_stream *stream_of(const struct explainer *x, size_t i)
{
	return &x->l->sel.streams.stream[i];
}

/* Whether a stream's samples are time that --attribution looks at. */
static bool measures(const struct explainer *x, size_t stream)
{
	return x->l->ev.of[stream] == x->event &&
	       time_source_takes(&x->l->source, stream);
}

double explainer_amount(const struct explainer *x, size_t stream, uint64_t n)
{
	const struct events *ev = &x->l->ev;

	if (!measures(x, stream))
		return 0;
	return n * (ev->weight[stream] / ev->weight[x->first]);
}

/* "passes" of --debug are known ones. */
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
	const char *wanted = x->l->ctx->opt.cpu;
	const char *name =
		wanted ? wanted
		       : isa_cpu_of_model(x->machine, select_newest(&x->l->sel)->cpu);
	int err = name ? isa_set_cpu(x->isa, name) : 0;

	if (err == -EINVAL && wanted)
		log_err("--cpu=%s: there is no timing model of that name: say one of "
			"LLVM's, such as skylake-avx512, znver4, neoverse-n1",
			wanted);
	return err == -EINVAL && !wanted ? 0 : err;
}

/* One decoder at a time: databases are of one machine. */
static int open_isa(struct explainer *x, enum machine machine)
{
	int err;

	if (x->isa && x->machine == machine)
		return 0;
	isa_close(x->isa);
	x->isa = NULL;
	err = isa_open(machine, &x->isa);
	if (err)
		return err;
	x->machine = machine;
	return choose_cpu(x);
}

static void find_time(struct explainer *x)
{
	const struct events *ev = &x->l->ev;

	x->event = ev->nr && ev->event[0].is_time ? 0 : ev->nr;
	while (x->event < ev->nr && x->first < ev->streams->nr &&
	       !measures(x, x->first))
		x->first++;
	if (x->first == ev->streams->nr) {
		x->event = ev->nr;
		x->first = 0;
	}
	x->clock_hz = select_newest(&x->l->sel)->clock_hz;
	if (!x->clock_hz)
		x->clock_hz = 1e9;
}

/* Errors are logged but for -ENOMEM; x is to be freed in any case. */
static int init(struct explainer *x, struct listing *l,
		const struct explainer_kept *kept)
{
	const size_t nr = l->sel.streams.nr;
	int err;

	*x = (struct explainer){ .l = l, .isa = kept->isa, .machine = kept->machine };
	arena_init(&x->arena, 0);
	find_time(x);
	err = check_debug(l->ctx->opt.debug);
	if (err)
		return err;
	x->streams = calloc(nr + 1, sizeof(*x->streams));
	x->events = calloc(nr + 1, sizeof(*x->events));
	x->retired = calloc(nr + 1, sizeof(*x->retired));
	x->records = calloc(nr + 1, sizeof(struct profile *));
	x->profile = calloc(nr + 1, sizeof(struct profile *));
	x->none = profile_new();
	if (!x->streams || !x->events || !x->retired || !x->records || !x->profile ||
	    !x->none)
		return -ENOMEM;
	err = open_isa(x, machine_of(select_newest(&l->sel)->arch));
	return err == -CPI_EFORMAT ? 0 : err;
}

static double amount_of(void *ctx, int64_t stream, uint64_t n)
{
	const struct explainer *x = ctx;
	const struct query_streams *streams = &x->l->sel.streams;
	size_t i = 0;

	while (i < streams->nr && streams->stream[i].id != stream)
		i++;
	return i < streams->nr ? explainer_amount(x, i, n) : 0;
}

/* Once: all of them are needed for any procedure. */
static int look_for_windows(struct explainer *x)
{
	const struct selection *sel = &x->l->sel;
	int err;

	if (x->looked_for_windows)
		return 0;
	err = query_window_streams(sel->db, &sel->epochs, NULL, &x->window_streams);
	if (!err && x->window_streams.nr)
		err = following_load(sel->db, &sel->query, amount_of, x,
				     x->l->ev.weight[x->first] / 1e9, &x->following);
	if (err)
		log_err("windows of these epochs cannot be used: %s", err_str(err));
	x->looked_for_windows = !err;
	return err;
}

/* What windows passed is taken by their weights. */
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

	if (q->kind >= EDGES_NR_KINDS || is_of_windows(x, q->stream))
		return 0;
	if (!x->edges[q->kind])
		x->edges[q->kind] = edges_new();
	return x->edges[q->kind] ? edges_merge(x->edges[q->kind], q->edges) : -ENOMEM;
}

static void forget_edges(struct explainer *x)
{
	for (int i = 0; i < EDGES_NR_KINDS; i++) {
		edges_free(x->edges[i]);
		x->edges[i] = NULL;
	}
	x->edges_of = 0;
}

/* Branch stacks of everybody: of a context alone there are none. */
static int load_edges(struct explainer *x)
{
	int err;

	if (x->l->sel.query.context || x->edges_of == x->image.id)
		return 0;
	forget_edges(x);
	err = query_edges(x->l->sel.db, &x->l->sel.query, x->image.id, take_edges, x);
	x->edges_of = x->image.id;
	return err;
}

void explainer_unload(struct explainer *x)
{
	for (size_t i = 0; x->profile && i < x->l->sel.streams.nr; i++) {
		profile_free(x->profile[i]);
		x->profile[i] = NULL;
	}
	free((char *)x->image.desc.name);
	memset(&x->image, 0, sizeof(x->image));
	buf_reset(&x->samples);
	callgraph_free(x->calls);
	x->calls = NULL;
}

static void fini(struct explainer *x)
{
	explainer_unload(x);
	forget_edges(x);
	following_free(x->following);
	query_streams_fini(&x->window_streams);
	buf_fini(&x->samples);
	free(x->streams);
	free(x->events);
	free(x->retired);
	free(x->records);
	free(x->profile);
	profile_free(x->none);
	isa_close(x->isa);
	arena_fini(&x->arena);
}

int explainer_run(const struct cmd_context *ctx, int (*fn)(struct explainer *x))
{
	struct explainer x = { .l = NULL };
	struct listing l = { .ctx = ctx };
	int err;

	if (select_open(ctx, &l.sel))
		return EXIT_FAIL;
	err = list_prepare(&l);
	if (!err) {
		err = init(&x, &l, &(struct explainer_kept){ 0 });
		if (!err)
			err = fn(&x);
		fini(&x);
	}
	if (err == -ENOMEM)
		log_err("%s: %s", ctx->cmd->name, err_str(err));
	list_fini(&l);
	return err ? EXIT_FAIL : EXIT_OK;
}

/*
 * What select_open() and list_prepare() do, of one epoch of what is open. Without
 * streams there is nothing to prepare.
 */
static int narrow(struct listing *l, const struct query_epoch *epoch)
{
	const struct selection *sel = &l->sel;
	int err;

	l->sel.epochs = (struct query_epochs){ (struct query_epoch *)epoch, 1 };
	l->sel.query.epochs = &sel->epochs;
	l->sel.streams = (struct query_streams){ 0 };
	l->sel.losses = (struct query_losses){ 0 };
	err = query_streams(sel->db, &sel->epochs, sel->query.event, &l->sel.streams);
	if (!err)
		err = query_losses(sel->db, &sel->epochs, &l->sel.losses);
	if (!err && !sel->streams.nr)
		return 0;
	if (!err)
		err = events_init(&l->ev, &sel->streams, epoch->clock_hz);
	if (err)
		select_failed(l->ctx, sel, err);
	return err ? err : time_source_open(&l->source, l->ctx, sel, &l->ev);
}

int explainer_run_epoch(const struct cmd_context *ctx, const struct selection *sel,
			const struct query_epoch *epoch, struct explainer_kept *kept,
			int (*fn)(struct explainer *x))
{
	struct listing l = { .ctx = ctx, .sel = *sel, .images = kept->images };
	struct explainer x = { .l = NULL };
	int err = narrow(&l, epoch);

	if (!err && l.sel.streams.nr) {
		err = init(&x, &l, kept);
		if (!err)
			err = fn(&x);
		kept->isa = x.isa;
		kept->machine = x.machine;
		x.isa = NULL;
		fini(&x);
	}
	time_source_close(&l.source);
	events_fini(&l.ev);
	query_losses_fini(&l.sel.losses);
	query_streams_fini(&l.sel.streams);
	return err;
}

int explainer_keep(const struct cmd_context *ctx, const struct selection *sel,
		   struct explainer_kept *out)
{
	struct explainer_kept kept = {
		.images = image_cache_new(sel->db, machine_of(select_newest(sel)->arch),
					  false)
	};
	int err = kept.images ? image_cache_search(kept.images, ctx->opt.debug_dir,
						   ctx->opt.debuginfod)
			      : -ENOMEM;

	if (err) {
		explainer_drop(&kept);
		return err;
	}
	image_cache_hold(kept.images, MAX_KEPT);
	*out = kept;
	return 0;
}

void explainer_drop(struct explainer_kept *kept)
{
	image_cache_free(kept->images);
	isa_close(kept->isa);
	*kept = (struct explainer_kept){ 0 };
}

int explainer_needs_time(const struct explainer *x)
{
	if (x->event < x->l->ev.nr)
		return 0;
	log_err("%s: none of the selected events measures time: choose cycles or "
		"cpu-clock with --event, or record one",
		db_path(x->l->sel.db));
	return -CPI_EEMPTY;
}

/* Adds a row to what is known of its image, whose first row may be this. */
int explainer_load(struct explainer *x, const struct query_profile *q)
{
	const struct query_streams *streams = &x->l->sel.streams;
	const struct query_stream *s = query_stream_by_id(streams, q->stream);
	size_t i;

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

void explainer_tally(const struct explainer *x, uint64_t offset, struct tally *tally)
{
	const struct events *ev = &x->l->ev;

	memset(tally, 0, ev->nr * sizeof(*tally));
	for (size_t i = 0; i < ev->streams->nr; i++) {
		struct tally *t = &tally[ev->of[i]];
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
	const struct query_epoch *e = select_newest(&x->l->sel);

	return x->event < x->l->ev.nr &&
	       (!strcmp(stream_of(x, x->first)->desc.unit, "ns") ||
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

	return p ? time_source_unit(&x->l->source, stream, p) : 0;
}

const char *explainer_attribution(const struct explainer *x)
{
	const enum attribution a = x->l->ctx->opt.attribution;

	if (a != ATTRIBUTION_AUTO)
		return attribution_str(a);
	return explainer_unit(x, x->first) > 0
		       ? attribution_str(ATTRIBUTION_TIP)
		       : landing_str(stream_of(x, x->first)->desc.landing);
}

/* How the streams that have samples of the image are handed on. */
static int add_streams(struct explainer *x, struct explain_input *in)
{
	const struct events *ev = &x->l->ev;

	if (x->event == ev->nr)
		x->streams[in->nr_streams++] =
			(struct explain_stream){ x->none, LANDING_HEAD, 1, 0 };
	for (size_t i = x->first; i < ev->streams->nr; i++) {
		if (!measures(x, i))
			continue;
		if (!x->profile[i])
			x->profile[i] = profile_new();
		if (!x->profile[i])
			return -ENOMEM;
		x->streams[in->nr_streams++] = (struct explain_stream){
			x->profile[i],
			time_source_landing(&x->l->source, i, x->profile[i]),
			ev->weight[i] * x->clock_hz / 1e9, explainer_unit(x, i)
		};
	}
	return 0;
}

static void add_events(struct explainer *x, struct explain_input *in)
{
	for (size_t i = 0; i < x->l->sel.streams.nr; i++) {
		const char *event = stream_of(x, i)->desc.event;

		for (size_t k = 0; k < sizeof(evidence) / sizeof(evidence[0]); k++) {
			if (!x->profile[i] || !is_event(event, evidence[k].name))
				continue;
			x->events[in->nr_events++] = (struct explain_event){
				x->profile[i], evidence[k].name, evidence[k].reason,
				x->l->ev.weight[i], evidence[k].cycles
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
 * Streams that sampled instructions, once the image has samples enough of them beside
 * those of time. All of its procedures are to be estimated from the same.
 */
static void add_retired(struct explainer *x, struct explain_input *in)
{
	uint64_t time = 0, retired = 0;

	in->retired = x->retired;
	for (size_t i = 0; i < x->l->sel.streams.nr; i++) {
		if (!x->profile[i])
			continue;
		if (measures(x, i))
			time += profile_total(x->profile[i]);
		if (!counts_instructions(stream_of(x, i)->desc.event))
			continue;
		retired += profile_total(x->profile[i]);
		x->retired[in->nr_retired++] = (struct explain_event){
			.profile = x->profile[i],
			.period = x->l->ev.weight[i],
		};
	}
	if (retired < time / RETIRED_LEAST)
		in->nr_retired = 0;
}

static void add_records(struct explainer *x, struct explain_input *in)
{
	in->records = x->records;
	for (size_t i = 0; i < x->l->sel.streams.nr; i++) {
		if (x->profile[i] && profile_records(x->profile[i]))
			x->records[in->nr_records++] = x->profile[i];
	}
}

static int explain(struct explainer *x, struct image *im,
		   const struct symbol *procedure, struct buf *debug,
		   struct explained **out)
{
	struct explain_input in = {
		.image = im,
		.procedure = procedure,
		.stream = x->streams,
		.event = x->events,
		.scale = callgraph_factor(x->calls, procedure->start),
		.scale_sd = callgraph_factor_sd(x->calls, procedure->start),
		.deferred = explainer_is_deferred(x),
		.debug = debug,
		.debug_passes = x->l->ctx->opt.debug,
	};
	int err;

	arena_fini(&x->arena);
	err = open_isa(x, image_machine(im));
	if (!err)
		err = look_for_windows(x);
	if (!err)
		err = following_image(x->following, x->image.id, &in.windows);
	if (!err)
		err = load_edges(x);
	if (!err)
		err = add_streams(x, &in);
	if (err)
		return err;
	add_events(x, &in);
	add_retired(x, &in);
	in.branches = x->edges[EDGES_BRANCH];
	in.runs = x->edges[EDGES_RUN];
	add_records(x, &in);
	in.isa = x->isa;
	return explain_procedure(&in, &x->arena, out);
}

int explainer_branches(struct explainer *x, struct edges **out)
{
	const struct explain_windows *windows;
	const int err = following_image(x->following, x->image.id, &windows);

	if (err)
		return err;
	*out = x->edges[EDGES_BRANCH];
	if (!*out && windows)
		*out = windows->branches;
	return 0;
}

int explainer_explain(struct explainer *x, struct image *im,
		      const struct symbol *procedure, struct explained **out)
{
	struct buf debug = { 0 };
	const int err =
		explain(x, im, procedure, x->l->ctx->opt.debug ? &debug : NULL, out);

	if (debug.len)
		fprintf(stderr, "%s:\n%s", procedure->name, buf_str(&debug));
	buf_fini(&debug);
	return err;
}

int explainer_add_calls(struct explainer *x, struct image *im,
			const struct symbol *procedure)
{
	const struct explain_windows *windows;
	struct explained *e;
	int err = look_for_windows(x);

	if (!err)
		err = following_image(x->following, x->image.id, &windows);
	if (err || !windows)
		return err;
	if (!x->calls)
		x->calls = callgraph_new();
	if (!x->calls)
		return -ENOMEM;
	err = explain(x, im, procedure, NULL, &e);
	if (err)
		return err == -ENOMEM ? err : 0; /* it is told of in its turn */
	return callgraph_add(x->calls, e, windows);
}

/* They belong to no selection of images or commands. */
double explainer_unknown(const struct explainer *x)
{
	const struct listing *l = x->l;
	double amount = 0;

	if (l->ctx->opt.image || l->sel.query.context ||
	    !time_source_counts(&l->source, x->event))
		return 0;
	for (size_t i = 0; i < l->sel.streams.nr; i++)
		amount += explainer_amount(x, i,
					   report_nr_lost(&l->sel, LOSS_UNKNOWN,
							  stream_of(x, i)->id));
	return amount;
}
