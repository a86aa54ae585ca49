/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explainer_parts.c - explains the images of a selection in parallel processes
 *
 * This process reads the database and opens the images, because SQLite must not be used
 * after a fork(). Whenever it has loaded enough for a worker, it forks one. A worker
 * returns the results of its images, and what it has learned: schedules and factors of
 * call graphs, so that later workers and later runs need not compute these again.
 *
 * A batch has images in the order of the selection, as many as stay open. Those without
 * a procedure that is worth an analysis are done at once, and only their results are in
 * the batch.
 *
 * If an earlier run kept the call graphs, little is left to compute, and workers would
 * take more time than they save. So batches are then done in this process until one of
 * them had a call graph that is new, unless all procedures are analysed anyway.
 *
 *	a worker's file  { size, result } of each image, { size, schedules },
 *	                 { size, call graphs }
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/isa/isa_kept.h"
#include "base/err.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/log.h"
#include "report/explain/explainer_private.h"
#include "report/workers/workers.h"

#define HELD        16           /* images that stay open */
#define ENOUGH_CODE (128u << 10) /* for a worker: fork() takes some ms */

struct part {
	int64_t image;
	char *name;
	bool is_done;
	struct explain_loaded loaded; /* not done */
	struct buf result;            /* done */
};

struct batch {
	struct part *part;
	size_t nr, nr_loaded;
	size_t first; /* the first one that is loaded */
	uint64_t code;
};

struct parts {
	struct explainer *x;
	const struct explain_parts *how;
	void *ctx;
	struct workers *workers; /* NULL: all is done in this process */
	struct batch *batch;     /* that is filled */
	bool pays;               /* it is worth the start of a worker */
	bool failed, crashed;    /* the worker that did one image again */
	bool is_unfit;           /* workers cannot return results: /tmp is full, … */
};

static void free_batch(struct batch *b)
{
	for (size_t i = 0; b && i < b->nr; i++) {
		buf_fini(&b->part[i].result);
		free(b->part[i].name);
	}
	if (b)
		free(b->part);
	free(b);
}

/* ---- the worker ---- */

/* Writes the size of a piece in front of it, and moves to its end. */
static int end_piece(int file, off_t start)
{
	const off_t end = lseek(file, 0, SEEK_END);
	const uint64_t size = (uint64_t)(end - start) - sizeof(size);

	if (end < 0)
		return -errno;
	return pwrite(file, &size, sizeof(size), start) == sizeof(size) ? 0 : -EIO;
}

static int put_piece(int file, const struct buf *b)
{
	const uint64_t size = b->len;
	int err = b->err ? b->err : file_write(file, &size, sizeof(size));

	return err || !size ? err : file_write(file, b->data, b->len);
}

static int put_part(struct parts *p, struct part *part, int file)
{
	const uint64_t none = 0;
	const off_t start = lseek(file, 0, SEEK_CUR);
	struct buf result = { 0 };
	int err = 0;

	if (p->how->prints) /* to this file */
		err = file_write(file, &none, sizeof(none));
	if (!err)
		err = explainer_explain_loaded(p->x, &part->loaded, 0, p->how->fn,
					       p->ctx);
	if (!err) {
		err = p->how->put(p->ctx, &result);
		if (err && p->how->prints) /* the file could not be written */
			err = -EIO;
	}
	if (!err)
		err = p->how->prints ? end_piece(file, start)
				     : put_piece(file, &result);
	buf_fini(&result);
	return err;
}

static int put_learned(const struct parts *p, enum machine machine, int file)
{
	const struct explainer *x = p->x;
	struct buf schedules = { 0 }, calls = { 0 };
	int err = 0;

	if (x->isa && x->machine == machine)
		err = isa_kept_put_new(x->isa, &schedules);
	if (!err && x->calls_file)
		err = callsfile_put_new(x->calls_file, &calls);
	if (!err)
		err = put_piece(file, &schedules);
	if (!err)
		err = put_piece(file, &calls);
	buf_fini(&schedules);
	buf_fini(&calls);
	return err;
}

static int work(void *ctx, void *job, int file)
{
	struct parts *p = ctx;
	struct batch *b = job;
	const enum machine machine = p->x->machine;
	int err = 0;

	if (p->x->isa)
		isa_kept_mark(p->x->isa);
	if (p->x->calls_file)
		callsfile_mark(p->x->calls_file);
	for (size_t i = 0; i < b->nr && !err; i++) {
		if (!b->part[i].is_done)
			err = put_part(p, &b->part[i], file);
	}
	return err ? err : put_learned(p, machine, file);
}

/* ---- this process ---- */

/* Takes a result of this process; what was printed here is done. */
static int take(const struct parts *p, const struct buf *result)
{
	return p->how->prints ? 0
			      : p->how->take(p->ctx, (const uint8_t *)result->data,
					     result->len);
}

/* Explains an image in this process. failed: see explainer_explain_loaded(). */
static int do_here(const struct parts *p, struct explain_loaded *l, int failed,
		   struct buf *result)
{
	const int err = explainer_explain_loaded(p->x, l, failed, p->how->fn, p->ctx);

	return err ? err : p->how->put(p->ctx, result);
}

/* The next piece of what a worker wrote; false: it is not whole. */
static bool next_piece(const struct worker_result *r, size_t *at, const uint8_t **data,
		       size_t *size)
{
	uint64_t n;

	if (r->size - *at < sizeof(n))
		return false;
	memcpy(&n, r->data + *at, sizeof(n));
	*at += sizeof(n);
	if (n > r->size - *at)
		return false;
	*data = r->data + *at;
	*size = n;
	*at += n;
	return true;
}

static bool is_whole(const struct worker_result *r, const struct batch *b)
{
	const uint8_t *data;
	size_t size, at = 0;

	for (size_t i = 0; i < b->nr_loaded + 2; i++) {
		if (!next_piece(r, &at, &data, &size))
			return false;
	}
	return at == r->size;
}

/* Whether the worker's results must be made again. */
static bool is_lost(const struct worker_result *r, const struct batch *b)
{
	switch (r->err) {
	case 0:
		return !is_whole(r, b);
	case -ECHILD:
	case -EIO:
	case -ENOSPC:
	case -EDQUOT:
	case -EFBIG:
	case -ENOMEM: /* which several processes need more of */
		return true;
	}
	return false;
}

/* What a worker has learned only saves time. */
static void take_learned(struct parts *p, const struct worker_result *r, size_t at)
{
	const uint8_t *data;
	size_t size;
	int err = 0;

	if (next_piece(r, &at, &data, &size) && p->x->isa)
		err = isa_kept_add(p->x->isa, data, size);
	if (!err && next_piece(r, &at, &data, &size) && p->x->calls_file)
		err = callsfile_add(p->x->calls_file, data, size);
	if (err)
		log_debug("a worker's schedules or call graphs are not used: %s",
			  err_str(err));
}

static int take_batch(struct parts *p, const struct worker_result *r,
		      const struct batch *b)
{
	const uint8_t *data = NULL;
	size_t size = 0, at = 0;
	int err = 0;

	for (size_t i = 0; i < b->nr && !err; i++) {
		const struct part *part = &b->part[i];

		if (part->is_done) {
			err = take(p, &part->result);
			continue;
		}
		next_piece(r, &at, &data, &size);
		err = p->how->take(p->ctx, data, size);
	}
	if (!err)
		take_learned(p, r, at);
	return err;
}

/* ---- a worker that died, or could not return its results ---- */

static int take_again(void *ctx, const struct worker_result *r)
{
	struct parts *p = ctx;

	p->failed = is_lost(r, r->job);
	p->crashed = !r->err || r->err == -ECHILD;
	if (p->failed || r->err)
		return p->failed ? 0 : r->err;
	return take_batch(p, r, r->job);
}

static void keep_job(void *job)
{
	(void)job; /* the caller's */
}

/* Has a worker explain one image. p->failed: it died, or could not be started. */
static int try_alone(struct parts *p, struct part *part)
{
	struct batch one = { .part = part, .nr = 1, .nr_loaded = 1 };
	struct workers *w = workers_new(1, work, take_again, p);
	bool started = false;
	int err = w ? workers_start(w, &one, &started) : -ENOMEM;

	p->failed = !started;
	p->crashed = false;
	if (!err)
		err = workers_finish(w);
	workers_free(w, keep_job);
	return err;
}

/* Explains an image that was loaded once more. */
static int do_again(void *ctx, struct explain_loaded *l)
{
	struct parts *p = ctx;
	struct part part = { .loaded = *l };
	struct buf result = { 0 };
	int err = try_alone(p, &part);

	if (err || !p->failed) {
		explainer_drop_loaded(p->x, &part.loaded);
		return err;
	}
	if (p->crashed)
		log_warn("%s: its analysis crashed again, so its procedures are not "
			 "explained",
			 l->image.desc.name);
	else
		p->is_unfit = true;
	err = do_here(p, &part.loaded, p->crashed ? -EOWNERDEAD : 0, &result);
	if (!err)
		err = take(p, &result);
	buf_fini(&result);
	return err;
}

static void put_why_lost(const struct worker_result *r, struct buf *out)
{
	if (r->err && r->err != -ECHILD)
		buf_printf(out, "could not return its results (%s)", err_str(r->err));
	else
		buf_printf(out, "died%s%s", r->signal ? " of " : "",
			   r->signal ? strsignal(r->signal) : "");
}

/*
 * Does the images of a batch again, each in a worker of its own. Opening them must not
 * close those of the batch that is about to be handed to a worker.
 */
static int do_all_again(struct parts *p, const struct batch *b,
			const struct worker_result *r)
{
	struct buf names = { 0 }, why = { 0 };
	int err = 0;

	for (size_t i = 0; i < b->nr; i++) {
		if (!b->part[i].is_done)
			buf_printf(&names, "%s%s", names.len ? ", " : "",
				   b->part[i].name);
	}
	put_why_lost(r, &why);
	log_warn("a worker %s while it explained %s: a new one does that again",
		 buf_str(&why), buf_str(&names));
	buf_fini(&names);
	buf_fini(&why);
	image_cache_pin(p->x->scope->images, true);
	for (size_t i = 0; i < b->nr && !err; i++) {
		const struct part *part = &b->part[i];

		err = part->is_done
			      ? take(p, &part->result)
			      : explainer_each_loaded(p->x, part->image, do_again, p);
	}
	image_cache_pin(p->x->scope->images, false);
	return err;
}

/* ---- batches ---- */

static int on_done(void *ctx, const struct worker_result *r)
{
	struct parts *p = ctx;
	struct batch *b = r->job;
	int err;

	if (is_lost(r, b))
		err = do_all_again(p, b, r);
	else
		err = r->err ? r->err : take_batch(p, r, b);
	free_batch(b);
	return err;
}

static void drop_job(void *job)
{
	free_batch(job);
}

/* Explains the images of a batch in this process. */
static int do_batch_here(struct parts *p, struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->nr && !err; i++) {
		struct part *part = &b->part[i];

		if (!part->is_done)
			err = do_here(p, &part->loaded, 0, &part->result);
		part->is_done = true;
	}
	b->nr_loaded = 0;
	return err;
}

static int take_done(struct parts *p, const struct batch *b)
{
	int err = 0;

	for (size_t i = 0; i < b->nr && !err; i++)
		err = take(p, &b->part[i].result);
	return err;
}

/* Hands the batch to a worker, or does it here if there is none. */
static int end_batch(struct parts *p)
{
	struct batch *b = p->batch;
	bool started = false;
	int err = 0;

	p->batch = NULL;
	if (!b)
		return 0;
	if (p->workers && p->pays && !p->is_unfit) {
		err = selected_windows_prepare(p->x->windows);
		if (!err)
			err = workers_start(p->workers, b, &started);
	}
	if (!err && !started && p->workers)
		err = workers_finish(p->workers);
	if (!err && !started) {
		err = do_batch_here(p, b);
		if (!err)
			err = take_done(p, b);
		p->pays |= p->x->calls_file && callsfile_has_new(p->x->calls_file);
	}
	for (size_t i = 0; i < b->nr; i++)
		explainer_drop_loaded(p->x, &b->part[i].loaded);
	if (!started)
		free_batch(b);
	return err;
}

static bool is_full(const struct parts *p)
{
	const struct batch *b = p->batch;

	return !p->workers || b->code >= ENOUGH_CODE ||
	       (b->nr_loaded && b->nr - b->first == HELD - 1);
}

bool explainer_has_weights(const struct explainer *x, struct profile *const *profile)
{
	for (size_t i = 0; i < x->scope->sel.streams.nr; i++) {
		if (profile[i] && profile_is_weighted(profile[i]))
			return true;
	}
	return false;
}

/* Prints an image after all before it: for its weights, fn() needs the database. */
static int print_here(struct parts *p, struct explain_loaded *l)
{
	int err = end_batch(p);

	if (!err)
		err = workers_finish(p->workers);
	if (!err)
		err = do_here(p, l, 0, NULL);
	explainer_drop_loaded(p->x, l);
	return err;
}

static int add_image(void *ctx, struct explain_loaded *l)
{
	struct parts *p = ctx;
	struct part part = { .image = l->image.id, .name = strdup(l->image.desc.name) };
	struct batch *b;
	int err = 0;

	if (p->workers && p->how->prints && explainer_has_weights(p->x, l->profile)) {
		free(part.name);
		return print_here(p, l);
	}
	b = p->batch ? p->batch : calloc(1, sizeof(*b));
	p->batch = b;
	if (!part.name || !b || GROW(b->part, b->nr)) {
		free(part.name);
		explainer_drop_loaded(p->x, l);
		return -ENOMEM;
	}
	if (p->workers && !l->wanted && !p->how->prints) {
		err = do_here(p, l, 0, &part.result);
		part.is_done = true;
	} else {
		part.loaded = *l;
		if (!b->nr_loaded++)
			b->first = b->nr;
		b->code += l->work;
	}
	b->part[b->nr++] = part;
	return err || !is_full(p) ? err : end_batch(p);
}

/* Servers need the network, and the text of --debug an order. */
static unsigned int nr_workers(const struct explainer *x)
{
	return x->scope->source.asked == ATTRIBUTION_TIP || x->scope->req->debug ||
			       image_cache_remote(x->scope->images)
		       ? 1
		       : workers_wanted();
}

int explainer_each_part(struct explainer *x, const struct explain_parts *how, void *ctx)
{
	const unsigned int nr = nr_workers(x);
	struct parts p = { .x = x, .how = how, .ctx = ctx };
	int err = 0;

	if (nr > 1) {
		p.workers = workers_new(nr, work, on_done, &p);
		err = p.workers ? 0 : -ENOMEM;
	}
	if (!x->kept) /* else more are held */
		image_cache_hold(x->scope->images, HELD);
	if (!err && !x->calls_file)
		x->calls_file = callsfile_open(); /* which workers inherit */
	p.pays = how->prints || !x->calls_file || callsfile_is_empty(x->calls_file) ||
		 workers_are_asked_for();
	if (!err)
		err = explainer_each_loaded(x, 0, add_image, &p);
	if (!err)
		err = end_batch(&p);
	if (!err && p.workers)
		err = workers_finish(p.workers);
	if (p.batch) {
		for (size_t i = 0; i < p.batch->nr; i++)
			explainer_drop_loaded(x, &p.batch->part[i].loaded);
		free_batch(p.batch);
	}
	workers_free(p.workers, drop_job);
	if (err < 0)
		select_failed(&x->scope->sel, err);
	return err;
}
