/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_children.c - exclusive and inclusive time, from call stacks
 *
 * By image, the frames of an image are one: a stack counts once in each that it is in.
 */
#include "config.h"

#include "tools/prof_children.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/callsum.h"
#include "base/err.h"
#include "base/log.h"
#include "tools/calls.h"
#include "tools/table.h"

struct children {
	const struct cmd_context *ctx;
	struct frames frames;
	struct calls calls;
	uint32_t *stands_for; /* by frame: itself, or the first of its image */
	struct callsum sums;
	struct buf frame; /* uint32_t: a stack of what frames stand for */
	uint32_t *order;  /* of the rows, nr_rows */
	size_t nr_rows;
	char *procedure_glob;
};

static const struct column columns[] = {
	{ "samples", "total_samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "%", "total_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "total_time_ns", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "self", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "self%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "time_ns", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "procedure", "procedure", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "inlined", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	{ "image", "image", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "build_id", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
};

static const char *image_of(const struct children *c, uint32_t id)
{
	const struct frame *f = c->frames.frame[id];

	return f->image ? f->image : f->name;
}

static int by_image(const void *va, const void *vb, void *ctx)
{
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	int order = strcmp(image_of(ctx, a), image_of(ctx, b));

	return order ? order : (a > b) - (a < b);
}

static int choose_rows(struct children *c)
{
	const size_t nr = c->frames.nr;

	c->stands_for = calloc(nr + 1, sizeof(*c->stands_for));
	c->order = calloc(nr + 1, sizeof(*c->order));
	if (!c->stands_for || !c->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		c->stands_for[i] = c->order[i] = i;
	if (c->ctx->opt.by != BY_IMAGE)
		return 0;
	qsort_r(c->order, nr, sizeof(*c->order), by_image, c);
	for (size_t i = 1; i < nr; i++) {
		const uint32_t before = c->order[i - 1], id = c->order[i];

		if (!strcmp(image_of(c, before), image_of(c, id)))
			c->stands_for[id] = c->stands_for[before];
	}
	return 0;
}

static int on_stack(void *ctx, const uint32_t *frame, size_t nr, struct call_cost cost)
{
	struct children *c = ctx;

	buf_reset(&c->frame);
	for (size_t i = 0; i < nr; i++)
		buf_put(&c->frame, &c->stands_for[frame[i]], sizeof(*frame));
	if (c->frame.err)
		return c->frame.err;
	return callsum_add(&c->sums, (const uint32_t *)c->frame.data, nr, cost);
}

static bool is_shown(const struct children *c, uint32_t id)
{
	if (id >= c->sums.nr || !c->sums.row[id].total.n)
		return false;
	return !c->procedure_glob ||
	       !fnmatch(c->procedure_glob, c->frames.frame[id]->name, 0);
}

/* --sort's key: what is counted, without those that it calls, or names. */
static int by_key(const void *va, const void *vb, void *ctx)
{
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct children *c = ctx;
	const char *key = c->ctx->opt.sort;
	const bool self = key && !strcmp(key, "self");
	const struct callsum_row *x = &c->sums.row[a], *y = &c->sums.row[b];
	const double p = self ? x->self.weight : x->total.weight;
	const double q = self ? y->self.weight : y->total.weight;
	const int images = strcmp(image_of(c, a), image_of(c, b));

	if (key && !strcmp(key, "image") && images)
		return images;
	if ((!key || strcmp(key, "procedure") != 0) && p != q)
		return p < q ? 1 : -1;
	return frames_compare(&c->frames, a, b);
}

static void sort_rows(struct children *c)
{
	for (uint32_t id = 0; id < c->frames.nr; id++) {
		if (is_shown(c, id))
			c->order[c->nr_rows++] = id;
	}
	qsort_r(c->order, c->nr_rows, sizeof(*c->order), by_key, c);
}

static void put_cost(struct table *t, const struct calls *calls, struct call_cost cost)
{
	const double all = calls->busy.weight;

	table_number(t, cost.n);
	table_percent(t, all > 0 ? 100 * cost.weight / all : 0);
	if (calls->ev.event[0].is_time)
		table_real(t, cost.weight, 0);
	else
		table_empty(t);
}

static void put_row(struct table *t, const struct children *c, uint32_t id)
{
	const struct frame *f = c->frames.frame[id];
	const bool by_image = c->ctx->opt.by == BY_IMAGE;

	put_cost(t, &c->calls, c->sums.row[id].total);
	put_cost(t, &c->calls, c->sums.row[id].self);
	table_text(t, by_image ? NULL : f->name);
	table_number(t, !by_image && f->inlined);
	table_text(t, by_image ? image_of(c, id) : f->image);
	table_text(t, f->build_id);
}

static int print(const struct children *c)
{
	const uint64_t limit = c->ctx->opt.limit;
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < c->nr_rows && (!limit || i < limit); i++)
		put_row(t, c, c->order[i]);
	err = calls_print(&c->calls, t, false);
	table_free(t);
	return err;
}

static int gather(struct children *c)
{
	int err = choose_rows(c);

	if (!err && c->ctx->opt.procedure) {
		c->procedure_glob = select_glob(c->ctx->opt.procedure);
		err = c->procedure_glob ? 0 : -ENOMEM;
	}
	if (!err)
		err = calls_each(&c->calls, on_stack, c);
	if (err)
		return err;
	sort_rows(c);
	if (!c->nr_rows)
		log_warn("%s: no samples match", db_path(c->calls.sel.db));
	err = print(c);
	if (err)
		log_err("prof: %s", err_str(err));
	return err;
}

int prof_children(const struct cmd_context *ctx)
{
	struct children c = { .ctx = ctx };
	int err;

	err = calls_open(ctx, ctx->opt.epoch, CALLS_PLAIN, &c.frames, &c.calls);
	if (!err) {
		err = gather(&c);
		calls_close(&c.calls);
	}
	frames_fini(&c.frames);
	callsum_fini(&c.sums);
	buf_fini(&c.frame);
	free(c.stands_for);
	free(c.order);
	free(c.procedure_glob);
	return err ? EXIT_FAIL : EXIT_OK;
}
