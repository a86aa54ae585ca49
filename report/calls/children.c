/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * children.c - sums call stacks by procedure or image, and orders the sums
 *
 * For rows by image, each frame of a stack is first replaced by the first frame of its
 * image. After that, rows by image and by procedure are summed in the same way.
 */
#include "config.h"

#include "report/calls/children.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

const char *children_image(const struct children *c, uint32_t id)
{
	const struct frame *f = c->frames.frame[id];

	return f->image ? f->image : f->name;
}

static int by_image(const void *va, const void *vb, void *ctx)
{
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	int order = strcmp(children_image(ctx, a), children_image(ctx, b));

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
	if (c->req->by != BY_IMAGE)
		return 0;
	qsort_r(c->order, nr, sizeof(*c->order), by_image, c);
	for (size_t i = 1; i < nr; i++) {
		const uint32_t before = c->order[i - 1], id = c->order[i];

		if (!strcmp(children_image(c, before), children_image(c, id)))
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

/* Compares two rows by the key of --sort: time, time without callees, or names. */
static int by_key(const void *va, const void *vb, void *ctx)
{
	const uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	const struct children *c = ctx;
	const char *key = c->req->sort;
	const bool self = key && !strcmp(key, "self");
	const struct callsum_row *x = &c->sums.row[a], *y = &c->sums.row[b];
	const double p = self ? x->self.weight : x->total.weight;
	const double q = self ? y->self.weight : y->total.weight;
	const int images = strcmp(children_image(c, a), children_image(c, b));

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

static int gather(struct children *c)
{
	const char *procedure = c->req->procedure;
	int err = choose_rows(c);

	if (!err && procedure) {
		c->procedure_glob = select_glob(procedure);
		err = c->procedure_glob ? 0 : -ENOMEM;
	}
	if (!err)
		err = calls_each(&c->calls, on_stack, c);
	if (!err)
		sort_rows(c);
	return err;
}

int children_open(const struct prof_request *req, struct children *c)
{
	int err;

	*c = (struct children){ .req = req,
				.request = { .select = req->select,
					     .inlines = req->inlines,
					     .idle = req->idle } };
	err = calls_open(&c->request, req->select.epoch, CALLS_PLAIN, &c->frames,
			 &c->calls);
	if (err) {
		frames_fini(&c->frames);
		return err;
	}
	err = gather(c);
	if (err)
		children_close(c);
	else
		select_end_read(&c->calls.sel);
	return err;
}

void children_close(struct children *c)
{
	calls_close(&c->calls);
	frames_fini(&c->frames);
	callsum_fini(&c->sums);
	buf_fini(&c->frame);
	free(c->stands_for);
	free(c->order);
	free(c->procedure_glob);
}
