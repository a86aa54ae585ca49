/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selected_windows.c - loads all windows of a selection and weights them
 *
 * A window may cross images, so the analysis of one image needs the windows of
 * all images.
 */
#include "config.h"

#include "report/explain/selected_windows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/predict/branch_history.h"
#include "analysis/windows/window_weights.h"
#include "base/buf.h"
#include "base/err.h"
#include "db/query/window_query.h"

struct selected_windows {
	struct window_weights *weights;
	struct branch_history *history; /* by selected_windows_prepare() */
	struct buf images; /* struct query_image, by number; the names are owned */
	struct explain_windows at;
	int64_t at_image;
	selected_windows_amount_fn amount;
	void *ctx;
};

static size_t nr_images(const struct selected_windows *f)
{
	return f->images.len / sizeof(struct query_image);
}

static struct query_image *images(const struct selected_windows *f)
{
	return (struct query_image *)f->images.data;
}

/* The number of an image; nr_images() if it has none. */
static size_t find_image(const struct selected_windows *f, int64_t id)
{
	size_t i = 0;

	while (i < nr_images(f) && images(f)[i].id != id)
		i++;
	return i;
}

static int number(struct selected_windows *f, const struct query_image *image,
		  uint32_t *out)
{
	const size_t i = find_image(f, image->id);
	struct query_image own = *image;

	if (i == nr_images(f)) {
		own.desc.name = strdup(image->desc.name);
		if (!own.desc.name)
			return -ENOMEM;
		buf_put(&f->images, &own, sizeof(own));
		if (f->images.err)
			free((char *)own.desc.name);
	}
	*out = i;
	return f->images.err;
}

static int add_windows(void *ctx, const struct query_windows *row)
{
	struct selected_windows *f = ctx;
	uint32_t *map = calloc(row->nr_images + 1, sizeof(*map)), start;
	int err = map ? number(f, row->image, &start) : -ENOMEM;

	for (size_t i = 0; !err && i < row->nr_images; i++)
		err = number(f, &row->images[i], &map[i]);
	if (!err)
		err = window_weights_add(f->weights, start, row->windows, map,
					 row->nr_images);
	free(map);
	return err;
}

static int add_samples(void *ctx, const struct query_profile *row)
{
	struct selected_windows *f = ctx;
	const size_t image = find_image(f, row->image.id);
	const double each = f->amount(f->ctx, row->stream, 1);
	const struct count *c;
	size_t nr;
	int err = 0;

	if (image == nr_images(f) || !(each > 0))
		return 0;
	c = profile_sorted(row->profile, &nr);
	for (size_t i = 0; !err && i < nr; i++) {
		err = window_weights_sample(f->weights, image, c[i].offset,
					    each * (double)c[i].n);
		if (err == -CPI_ELIMIT) /* there is no code at this offset */
			err = 0;
	}
	return err;
}

static int load(struct selected_windows *f, struct db *db,
		const struct query_selection *sel)
{
	struct query_selection all = *sel;
	int err;

	all.image = NULL;
	all.event = NULL;
	err = query_windows(db, &all, add_windows, f);
	if (!err && nr_images(f))
		err = query_profiles(db, &all, add_samples, f, NULL);
	if (!err)
		err = window_weights_solve(f->weights);
	return err;
}

int selected_windows_load(struct db *db, const struct query_selection *sel,
			  selected_windows_amount_fn amount, void *ctx,
			  struct selected_windows **out)
{
	struct selected_windows *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	if (f) {
		f->amount = amount;
		f->ctx = ctx;
		f->weights = window_weights_new();
	}
	if (f && f->weights)
		err = load(f, db, sel);
	if (err || !window_weights_nr(f->weights)) {
		selected_windows_free(f);
		f = NULL;
	}
	if (!err)
		*out = f;
	return err;
}

static void forget_image(struct selected_windows *f)
{
	edges_free(f->at.runs);
	edges_free(f->at.branches);
	f->at = (struct explain_windows){ 0 };
}

void selected_windows_free(struct selected_windows *f)
{
	if (!f)
		return;
	forget_image(f);
	branch_history_free(f->history);
	window_weights_free(f->weights);
	for (size_t i = 0; i < nr_images(f); i++)
		free((char *)images(f)[i].desc.name);
	buf_fini(&f->images);
	free(f);
}

int selected_windows_prepare(struct selected_windows *f)
{
	return f && !f->history ? branch_history_new(f->weights, &f->history) : 0;
}

int selected_windows_image(struct selected_windows *f, int64_t image,
			   const struct explain_windows **out)
{
	size_t i = f ? find_image(f, image) : 0;
	int err = 0;

	if (!f || i == nr_images(f)) {
		*out = NULL;
		return 0;
	}
	if (!f->at.weights || f->at_image != image) {
		forget_image(f);
		err = selected_windows_prepare(f);
		if (!err)
			err = window_weights_edges(f->weights, i, &f->at.runs,
						   &f->at.branches);
		if (err)
			return err;
		f->at.weights = f->weights;
		f->at.image = i;
		f->at.history = f->history;
		f->at_image = image;
	}
	*out = &f->at;
	return 0;
}

const struct query_image *selected_windows_numbered(const struct selected_windows *f,
						    uint32_t number)
{
	return &images(f)[number];
}
