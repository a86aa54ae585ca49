/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explainer_each.c - one procedure, or all of a selection, image by image
 *
 * A procedure's graph may reach into a part that has its own symbol (.cold, or any
 * symbol in a stripped file). So the first procedure whose graph contains a sample uses
 * it. The busiest procedures come first, and those that look like parts of another come
 * last. If a graph contains samples that are already used, the procedure is explained
 * again without them.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/progress.h"
#include "base/search.h"
#include "db/profile/records.h"
#include "report/explain/explainer_private.h"

#define MAX_CALLING 500 /* procedures of an image whose calls are used */

/* A procedure that has samples. */
struct busy {
	const struct symbol *symbol;
	double amount;
	bool part; /* it looks like a part of another */
};

struct image_walk {
	struct explainer *x;
	struct image *im;
	struct buf busy; /* struct busy */
	explain_fn fn;
	void *ctx;
	int64_t only; /* image; 0: all */
	int failed;   /* the error of all procedures; 0: they are explained */
	explain_loaded_fn loaded;
	struct progress progress;
};

static struct explain_sample *samples(const struct explainer *x, size_t *nr)
{
	*nr = x->samples.len / sizeof(struct explain_sample);
	return (struct explain_sample *)x->samples.data;
}

static int by_offset(const void *va, const void *vb)
{
	const struct explain_sample *a = va, *b = vb;

	if (a->count.offset != b->count.offset)
		return a->count.offset < b->count.offset ? -1 : 1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

/* Adds counts as samples like s. worth: a count's time, in samples of its stream. */
static void add_samples(struct image_walk *w, struct profile *counts, double worth,
			struct explain_sample s)
{
	const struct scope *scope = w->x->scope;
	size_t nr;
	const struct count *c = profile_sorted(counts, &nr);

	for (size_t i = 0; i < nr; i++) {
		s.count = c[i];
		s.owner = w->im ? image_symbol_at(w->im, s.count.offset) : NULL;
		s.amount = (double)c[i].n * worth *
			   scope_amount_in(scope, s.stream, 1,
					   explainer_use(w->x, s.owner));
		buf_put(&w->x->samples, &s, sizeof(s));
	}
}

/* If a profile has weights, these are the time, and its counts are worth 0. */
static void gather_stream(struct image_walk *w, size_t stream)
{
	struct profile *p = w->x->profile[stream];
	struct explain_sample s = { .stream = stream, .weight = -1 };
	double unit;

	if (!p || !scope_measures(w->x->scope, stream))
		return;
	unit = explainer_unit(w->x, stream);
	add_samples(w, p, unit > 0 ? 0 : 1, s);
	for (s.weight = 0; s.weight < NR_WEIGHTS && unit > 0; s.weight++) {
		if (profile_weights(p, s.weight))
			add_samples(w, profile_weights(p, s.weight), 1 / unit, s);
	}
}

/* Adds the weights that hardware measured to the profiles. */
static int measure(struct image_walk *w)
{
	struct explainer *x = w->x;
	bool is_first = true;
	int err = 0;

	for (size_t i = 0; i < x->scope->sel.streams.nr && !err; i++) {
		if (!x->profile[i])
			continue;
		err = time_source_weigh(&x->scope->source, &x->image, w->im, i,
					is_first && !x->scope->ev.of[i], x->profile[i]);
		is_first &= x->scope->ev.of[i] != 0;
	}
	return err;
}

/* Lists the image's samples of time by offset. */
static int gather_samples(struct image_walk *w)
{
	struct explainer *x = w->x;
	struct explain_sample *all;
	size_t nr;
	int err = measure(w);

	if (err)
		return err;
	for (size_t i = 0; i < x->scope->sel.streams.nr; i++)
		gather_stream(w, i);
	all = samples(x, &nr);
	if (nr)
		qsort(all, nr, sizeof(*all), by_offset);
	return x->samples.err;
}

/* The first sample at or after offset. */
static size_t find_sample(const struct explainer *x, uint64_t offset)
{
	size_t nr;
	const struct explain_sample *s = samples(x, &nr);

	return SEARCH(i, nr, s[i].count.offset >= offset);
}

/*
 * The amount in a range that no explanation has used; only the owner's samples, unless
 * owner is NULL.
 */
static double amount_left(const struct explainer *x, uint64_t start, uint64_t end,
			  const struct symbol *owner)
{
	size_t nr;
	const struct explain_sample *s = samples(x, &nr);
	double amount = 0;

	for (size_t i = find_sample(x, start); i < nr && s[i].count.offset < end; i++) {
		if (!s[i].turn && (!owner || s[i].owner == owner))
			amount += s[i].amount;
	}
	return amount;
}

/* The same, and marks these samples as used by the newest explanation. */
static double take_samples(struct explainer *x, uint64_t start, uint64_t end,
			   const struct symbol *owner, bool stray)
{
	const double amount = amount_left(x, start, end, owner);
	size_t nr;
	struct explain_sample *s = samples(x, &nr);

	for (size_t i = find_sample(x, start); i < nr && s[i].count.offset < end; i++) {
		if (s[i].turn || (owner && s[i].owner != owner))
			continue;
		s[i].turn = x->turn;
		s[i].stray = stray;
	}
	return amount;
}

static bool is_cold(const struct symbol *s)
{
	return strstr(s->raw, ".cold");
}

static bool looks_like_part(const struct symbol *s)
{
	return is_cold(s) || s->raw[0] == '[';
}

static int by_symbol(const void *va, const void *vb)
{
	const struct busy *a = va, *b = vb;

	return (a->symbol->start > b->symbol->start) -
	       (a->symbol->start < b->symbol->start);
}

static int by_turn(const void *va, const void *vb)
{
	const struct busy *a = va, *b = vb;

	if (a->part != b->part)
		return a->part ? 1 : -1;
	if (a->amount != b->amount)
		return a->amount < b->amount ? 1 : -1;
	return by_symbol(va, vb);
}

/* Lists every symbol that owns samples, in the order in which they are explained. */
static int find_busy(struct image_walk *w)
{
	size_t nr, last = 0;
	const struct explain_sample *s = samples(w->x, &nr);
	struct busy *busy;

	buf_reset(&w->busy);
	for (size_t i = 0; i < nr; i++) {
		struct busy b = { .symbol = s[i].owner };

		if (b.symbol && (!i || s[i - 1].owner != b.symbol))
			buf_put(&w->busy, &b, sizeof(b));
	}
	if (w->busy.err || !w->busy.len)
		return w->busy.err;
	busy = (struct busy *)w->busy.data;
	nr = w->busy.len / sizeof(*busy);
	qsort(busy, nr, sizeof(*busy), by_symbol);
	for (size_t i = 1; i < nr; i++) {
		if (busy[i].symbol != busy[last].symbol)
			busy[++last] = busy[i];
	}
	nr = last + 1;
	w->busy.len = nr * sizeof(*busy);
	for (size_t i = 0; i < nr; i++) {
		const struct symbol *symbol = busy[i].symbol;

		busy[i].part = looks_like_part(symbol);
		busy[i].amount = amount_left(w->x, symbol->start, symbol->end, symbol);
	}
	qsort(busy, nr, sizeof(*busy), by_turn);
	return 0;
}

/* Whether another explanation has used a sample of the graph. */
static bool has_used(const struct explainer *x, const struct cfg *cfg)
{
	size_t nr;
	const struct explain_sample *s = samples(x, &nr);

	for (int b = 0; b < cfg->exit; b++) {
		for (size_t i = find_sample(x, cfg->block[b].start);
		     i < nr && s[i].count.offset < cfg->block[b].end; i++) {
			if (s[i].turn)
				return true;
		}
	}
	return false;
}

/* Copies records. They are evidence and not time, so they may be used twice. */
static int keep_records(const struct profile *from, struct profile *to)
{
	struct records *r;

	if (!profile_records(from))
		return 0;
	r = profile_make_records(to);
	return r ? records_merge(r, profile_records(from)) : -ENOMEM;
}

/* Removes used samples from the image's profiles of time. */
static int drop_used(struct explainer *x)
{
	size_t nr, nr_streams = x->scope->sel.streams.nr;
	const struct explain_sample *s = samples(x, &nr);
	int err = 0;

	explainer_unsplit(x);
	for (size_t i = 0; i < nr_streams && !err; i++) {
		struct profile *fresh;

		if (!x->profile[i] || !scope_measures(x->scope, i))
			continue;
		fresh = profile_new();
		if (!fresh)
			return -ENOMEM;
		err = keep_records(x->profile[i], fresh);
		profile_free(x->profile[i]);
		x->profile[i] = fresh;
	}
	for (size_t i = 0; i < nr && !err; i++) {
		struct profile *p = x->profile[s[i].stream];

		if (s[i].turn)
			continue;
		err = s[i].weight < 0
			      ? profile_add(p, &s[i].count)
			      : profile_add_weight(p, s[i].weight, s[i].count.offset,
						   s[i].count.n);
	}
	return err;
}

/* Marks the samples of the graph, and those between its instructions, as used. */
static void use_samples(struct explainer *x, struct explanation *ex)
{
	const struct cfg *cfg = ex->e ? ex->e->cfg : NULL;

	x->turn++;
	for (int i = 0; cfg && i < cfg->nr_insns; i++) {
		uint64_t at = cfg->insn[i].address - cfg->bias;

		ex->samples += take_samples(x, at, at + 1, NULL, false);
	}
	ex->stray =
		take_samples(x, ex->symbol->start, ex->symbol->end, ex->symbol, true);
	ex->samples += ex->stray;
}

int explainer_each_stray(const struct explainer *x, explain_stray_fn fn, void *ctx)
{
	size_t nr;
	const struct explain_sample *s = samples(x, &nr);
	int err = 0;

	for (size_t i = 0, next; i < nr && !err; i = next) {
		const uint64_t offset = s[i].count.offset;
		double amount = 0; /* of all streams */

		for (next = i; next < nr && s[next].count.offset == offset; next++) {
			if (s[next].turn == x->turn && s[next].stray)
				amount += s[next].amount;
		}
		if (amount > 0)
			err = fn(ctx, offset, amount);
	}
	return err;
}

static int explain(struct image_walk *w, struct explanation *ex)
{
	struct explainer *x = w->x;
	struct explained *e = NULL;
	int err = explainer_explain(x, w->im, ex->symbol, &e);

	if (!err && has_used(x, e->cfg)) {
		err = drop_used(x);
		if (!err)
			err = explainer_explain(x, w->im, ex->symbol, &e);
	}
	if (err == -ENOMEM)
		return err;
	ex->err = err;
	ex->e = err ? NULL : e;
	ex->state = explainer_is_deferred(x) ? EXPLAIN_DEFERRED
		    : err                    ? EXPLAIN_NO_CODE
					     : EXPLAIN_DONE;
	use_samples(x, ex);
	return 0;
}

/* Whether it is not worth an analysis. */
static bool is_left_out(const struct explainer *x, const struct explanation *ex,
			double amount)
{
	if (!x->enough)
		return false;
	return (x->leaves_out_deferred && explainer_is_deferred(x)) ||
	       !x->enough(x->enough_ctx, ex->image, ex->symbol, amount);
}

static void leave_out(struct explainer *x, struct explanation *ex)
{
	ex->state = explainer_is_deferred(x) ? EXPLAIN_DEFERRED : EXPLAIN_FEW_SAMPLES;
	use_samples(x, ex);
}

static void fail(const struct image_walk *w, struct explanation *ex)
{
	ex->err = w->failed;
	ex->state = explainer_is_deferred(w->x) ? EXPLAIN_DEFERRED : EXPLAIN_NO_CODE;
	use_samples(w->x, ex);
}

/* The procedures whose calls are used; the others add little and would take long. */
static size_t nr_calling(const struct image_walk *w)
{
	const size_t nr = w->busy.len / sizeof(struct busy);

	return nr < MAX_CALLING ? nr : MAX_CALLING;
}

static int add_calls(struct image_walk *w)
{
	const struct busy *busy = (const struct busy *)w->busy.data;
	const size_t nr = nr_calling(w);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (!is_cold(busy[i].symbol))
			err = explainer_add_calls(w->x, w->im, busy[i].symbol);
	}
	return err || !w->x->calls ? err : callgraph_solve(w->x->calls);
}

/* The key of the image's calls. 0, or -ENOENT if they cannot be kept. */
static int key_of_calls(struct image_walk *w, struct calls_key *key)
{
	const struct busy *busy = (const struct busy *)w->busy.data;
	const size_t nr = nr_calling(w);
	int err = explainer_calls_key(w->x, w->im, key);

	for (size_t i = 0; i < nr && !err; i++) {
		const struct symbol *s = busy[i].symbol;
		const uint64_t at[] = { s->start, s->end, is_cold(s) };

		calls_key_add(key, at, sizeof(at));
	}
	return err;
}

/*
 * The scale of a procedure follows from its callers, and theirs from their callers.
 * Where an earlier run has computed it from the same input, it is taken from there.
 */
static int weigh_calls(struct image_walk *w)
{
	struct explainer *x = w->x;
	struct calls_key key;
	int why, err = explainer_load_edges(x);

	if (err || !x->windows)
		return err;
	if (!x->calls_file)
		x->calls_file = callsfile_open();
	if (!x->calls_file)
		return -ENOMEM;
	why = key_of_calls(w, &key);
	err = why ? why : callsfile_find(x->calls_file, &key, &x->calls);
	if (!err || err == -ENOMEM)
		return err;
	err = add_calls(w);
	if (!err && !why && x->calls)
		callsfile_keep(x->calls_file, &key, x->calls);
	return err;
}

/* The code of those procedures of the image that are worth an analysis. */
static uint64_t wanted_bytes(const struct image_walk *w, bool *any)
{
	const struct busy *busy = (const struct busy *)w->busy.data;
	const size_t nr = w->busy.len / sizeof(*busy);
	uint64_t bytes = 0;

	*any = false;
	for (size_t i = 0; i < nr; i++) {
		const struct symbol *s = busy[i].symbol;
		const struct explanation ex = { .image = &w->x->image, .symbol = s };

		if (is_left_out(w->x, &ex, busy[i].amount))
			continue;
		*any = true;
		bytes += s->end - s->start;
	}
	return bytes;
}

/* The remaining samples belong to no procedure. */
static int explain_rest(struct image_walk *w, int err)
{
	struct explanation ex = {
		.image = &w->x->image,
		.im = w->im,
		.state = w->im ? EXPLAIN_NO_PROCEDURE : EXPLAIN_NO_IMAGE,
		.err = err,
	};

	if (explainer_is_deferred(w->x))
		ex.state = EXPLAIN_DEFERRED;
	w->x->turn++;
	ex.stray = ex.samples = take_samples(w->x, 0, UINT64_MAX, NULL, true);
	return ex.samples > 0 ? w->fn(w->ctx, &ex) : 0;
}

static int explain_busy(struct image_walk *w)
{
	const size_t nr = w->busy.len / sizeof(struct busy);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const struct symbol *s = ((const struct busy *)w->busy.data)[i].symbol;
		struct explanation ex = { .image = &w->x->image,
					  .im = w->im,
					  .symbol = s };
		const double amount = amount_left(w->x, s->start, s->end, s);

		if (amount <= 0)
			continue;
		if (is_left_out(w->x, &ex, amount))
			leave_out(w->x, &ex);
		else if (w->failed)
			fail(w, &ex);
		else
			err = explain(w, &ex);
		if (!err)
			err = w->fn(w->ctx, &ex);
	}
	return err;
}

static void move_edges(struct edges **from, struct edges **to)
{
	memcpy(to, from, EDGES_NR_KINDS * sizeof(*to));
	memset(from, 0, EDGES_NR_KINDS * sizeof(*from));
}

/* Moves the loaded image out of x. 0 or -ENOMEM. */
static int move_out(struct image_walk *w, struct explain_loaded *l)
{
	struct explainer *x = w->x;
	const size_t nr = x->scope->sel.streams.nr;

	l->profile = calloc(nr + 1, sizeof(*l->profile));
	if (!l->profile)
		return -ENOMEM;
	memcpy(l->profile, x->profile, nr * sizeof(*l->profile));
	memset(x->profile, 0, nr * sizeof(*l->profile));
	l->image = x->image;
	x->image = (struct query_image){ 0 };
	l->im = w->im;
	l->samples = x->samples;
	l->busy = w->busy;
	x->samples = w->busy = (struct buf){ 0 };
	if (x->edges_of == l->image.id)
		move_edges(x->edges, l->edges);
	x->edges_of = 0;
	return 0;
}

static void move_in(struct explainer *x, struct explain_loaded *l)
{
	memcpy(x->profile, l->profile, x->scope->sel.streams.nr * sizeof(*l->profile));
	free(l->profile);
	buf_fini(&x->samples);
	x->image = l->image;
	x->samples = l->samples;
	for (int i = 0; i < EDGES_NR_KINDS; i++)
		edges_free(x->edges[i]);
	move_edges(l->edges, x->edges);
	x->edges_of = l->wanted ? l->image.id : 0;
	*l = (struct explain_loaded){ 0 };
}

void explainer_drop_loaded(const struct explainer *x, struct explain_loaded *l)
{
	for (size_t i = 0; l->profile && i < x->scope->sel.streams.nr; i++)
		profile_free(l->profile[i]);
	for (int i = 0; i < EDGES_NR_KINDS; i++)
		edges_free(l->edges[i]);
	free(l->profile);
	free((char *)l->image.desc.name);
	buf_fini(&l->samples);
	buf_fini(&l->busy);
	*l = (struct explain_loaded){ 0 };
}

int explainer_explain_loaded(struct explainer *x, struct explain_loaded *l, int failed,
			     explain_fn fn, void *ctx)
{
	const int why = l->why;
	const bool wanted = l->wanted;
	struct image_walk w = { .x = x,
				.im = l->im,
				.fn = fn,
				.ctx = ctx,
				.busy = l->busy,
				.failed = failed };
	int err = 0;

	move_in(x, l);
	if (wanted && !failed)
		err = weigh_calls(&w);
	if (!err)
		err = explain_busy(&w);
	if (!err)
		err = explain_rest(&w, why);
	explainer_unload(x);
	buf_fini(&w.busy);
	return err;
}

/* Lists the image's samples after its last row was loaded, and hands it on. */
static int end_image(struct image_walk *w)
{
	struct explainer *x = w->x;
	const struct query_image row = x->image;
	struct explain_loaded l = { 0 };
	int err;

	if (!row.desc.name)
		return 0;
	l.why = image_cache_get(x->scope->images, &row, &w->im);
	if (l.why)
		w->im = NULL;
	err = l.why == -ENOMEM ? l.why : gather_samples(w);
	if (!err)
		err = find_busy(w);
	if (!err)
		l.work = wanted_bytes(w, &l.wanted);
	if (!err && l.wanted)
		err = explainer_load_edges(x); /* not an error of one procedure */
	if (!err)
		err = move_out(w, &l);
	explainer_unload(x);
	return err ? err : w->loaded(w->ctx, &l);
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct image_walk *w = ctx;
	int err = 0;

	if (q->image.desc.kind == IMAGE_IDLE || (w->only && w->only != q->image.id))
		return 0;
	if (w->x->image.id != q->image.id)
		err = end_image(w);
	return err ? err : explainer_load(w->x, q);
}

static void on_progress(void *ctx, size_t done, size_t all)
{
	struct image_walk *w = ctx;

	progress_update(&w->progress, done, all);
}

int explainer_each_loaded(struct explainer *x, int64_t only, explain_loaded_fn fn,
			  void *ctx)
{
	struct image_walk w = { .x = x, .only = only, .loaded = fn, .ctx = ctx };
	int err;

	explainer_unload(x);
	w.progress = progress_begin("explaining images");
	err = query_profiles(x->scope->sel.db, &x->scope->sel.query, on_profile, &w,
			     only ? NULL : on_progress);
	if (!err)
		err = end_image(&w);
	progress_end(&w.progress);
	buf_fini(&w.busy);
	return err;
}

struct each {
	struct explainer *x;
	explain_fn fn;
	void *ctx;
};

static int explain_at_once(void *ctx, struct explain_loaded *l)
{
	struct each *e = ctx;

	return explainer_explain_loaded(e->x, l, 0, e->fn, e->ctx);
}

int explainer_each(struct explainer *x, explain_fn fn, void *ctx)
{
	struct each e = { x, fn, ctx };
	const int err = explainer_each_loaded(x, 0, explain_at_once, &e);

	if (err < 0)
		select_failed(&x->scope->sel, err);
	return err;
}

static int load_one(void *ctx, const struct query_profile *q)
{
	struct image_walk *w = ctx;

	return q->image.id == w->only ? explainer_load(w->x, q) : 0;
}

/* Logs an error, unless memory ran out, and returns it. */
static int report_error(const struct explainer *x, int err)
{
	if (err && err != -ENOMEM)
		select_failed(&x->scope->sel, err);
	return err;
}

/* Gathers the rows of one image. Errors are logged, except -ENOMEM. */
static int load_image(struct explainer *x, int64_t image)
{
	struct image_walk w = { .x = x, .only = image };

	explainer_unload(x);
	return report_error(x, query_profiles(x->scope->sel.db, &x->scope->sel.query,
					      load_one, &w, NULL));
}

int explainer_load_image(struct explainer *x, int64_t image, struct image **out)
{
	int err = load_image(x, image);

	if (err)
		return err;
	*out = NULL;
	if (x->image.desc.name && !explainer_is_deferred(x) &&
	    image_cache_get(x->scope->images, &x->image, out))
		*out = NULL;
	return 0;
}

int explainer_place(struct explainer *x, const struct found_place *place,
		    const struct explanation **out)
{
	struct image_walk w = { .x = x };
	struct explanation *ex = &x->found;
	int err = load_image(x, place->image.id);

	if (err)
		return err;
	*ex = (struct explanation){ .image = &place->image };
	ex->err = image_cache_get(x->scope->images, &place->image, &w.im);
	if (ex->err == -ENOMEM)
		return ex->err;
	*out = ex;
	ex->state = ex->err ? EXPLAIN_NO_IMAGE : EXPLAIN_NO_PROCEDURE;
	if (ex->err)
		return 0;
	ex->im = w.im;
	if (place->kind == PLACE_PROCEDURE)
		ex->symbol = image_symbol_at(w.im, place->start);
	if (!ex->symbol)
		return 0;
	err = gather_samples(&w);
	if (!err)
		err = find_busy(&w);
	if (!err)
		err = weigh_calls(&w);
	if (!err)
		err = explain(&w, ex);
	buf_fini(&w.busy);
	return report_error(x, err);
}

int explainer_require(struct explainer *x, const struct found_place *place,
		      const struct explanation **out)
{
	int err = explainer_place(x, place, out);

	if (err || (*out)->e)
		return err;
	log_err("%s: cannot be explained: %s", place->name, explanation_why_not(*out));
	return (*out)->err ? (*out)->err : -CPI_ENOCODE;
}

int explainer_require_windows(struct explainer *x, const struct found_place *place,
			      const struct explanation **out)
{
	const int err = explainer_require(x, place, out);

	if (err || x->windows)
		return err;
	log_err("%s: there are no windows in the selection: record some with 'cpi "
		"record -w HZ', or have 'cpid --windows HZ' take them",
		db_path(x->scope->sel.db));
	return -CPI_EEMPTY;
}
