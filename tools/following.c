/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * following.c - windows lead from image to image, so that all are needed for one
 */
#include "config.h"

#include "tools/following.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/followed.h"
#include "base/buf.h"
#include "base/err.h"
#include "db/window_query.h"
#include "tools/anchoring.h"

struct following {
	struct followed *followed;
	struct buf images; /* struct query_image, by their number in followed; the
			      names are owned */
	struct anchoring anchoring;
	double executions_per_pass; /* 0: without anchors */
	struct explain_windows at;
	int64_t at_image;
	following_amount_fn amount;
	void *ctx;
};

static size_t nr_images(const struct following *f)
{
	return f->images.len / sizeof(struct query_image);
}

static struct query_image *images(const struct following *f)
{
	return (struct query_image *)f->images.data;
}

/* nr_images() for one that is not known. */
static size_t find(const struct following *f, int64_t id)
{
	size_t i = 0;

	while (i < nr_images(f) && images(f)[i].id != id)
		i++;
	return i;
}

static int number(struct following *f, const struct query_image *image, uint32_t *out)
{
	const size_t i = find(f, image->id);
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
	struct following *f = ctx;
	uint32_t *map = calloc(row->nr_images + 1, sizeof(*map)), start;
	int err = map ? number(f, row->image, &start) : -ENOMEM;

	for (size_t i = 0; !err && i < row->nr_images; i++)
		err = number(f, &row->images[i], &map[i]);
	if (!err)
		err = followed_add(f->followed, start, row->windows, map,
				   row->nr_images);
	free(map);
	return err;
}

static int add_samples(void *ctx, const struct query_profile *row)
{
	struct following *f = ctx;
	const size_t image = find(f, row->image.id);
	const double each = f->amount(f->ctx, row->stream, 1);
	const struct count *c;
	size_t nr;
	int err = 0;

	if (image == nr_images(f) || !(each > 0))
		return 0;
	c = profile_sorted(row->profile, &nr);
	for (size_t i = 0; !err && i < nr; i++) {
		err = followed_sample(f->followed, image, c[i].offset,
				      each * (double)c[i].n);
		if (err == -CPI_ELIMIT) /* no code is there */
			err = 0;
	}
	return err;
}

/* From the places that have both an anchor and windows. */
static int find_common(struct following *f)
{
	const struct anchoring *a = &f->anchoring;
	struct anchored_ratio *ratio = calloc(a->nr + 1, sizeof(*ratio));
	size_t nr = 0;

	if (!ratio)
		return -ENOMEM;
	for (size_t i = 0; i < a->nr; i++) {
		const size_t image = find(f, a->image[i]);
		const double passed = image < nr_images(f)
					      ? followed_passed(f->followed, image,
								a->anchored[i].offset)
					      : 0;

		if (passed > 0)
			ratio[nr++] = (struct anchored_ratio){
				log(a->anchored[i].executions / passed),
				a->anchored[i].variance
			};
	}
	if (nr)
		f->executions_per_pass = exp(anchored_common(ratio, nr));
	free(ratio);
	return 0;
}

static int load(struct following *f, struct db *db, const struct query_selection *sel,
		double seconds)
{
	struct query_selection all = *sel;
	int err;

	all.image = NULL;
	all.event = NULL;
	err = query_windows(db, &all, add_windows, f);
	if (!err && nr_images(f))
		err = query_profiles(db, &all, add_samples, f, NULL);
	if (!err)
		err = followed_weigh(f->followed);
	if (!err && followed_nr(f->followed))
		err = anchoring_load(db, sel, f->amount, f->ctx, seconds,
				     &f->anchoring);
	return err ? err : find_common(f);
}

int following_load(struct db *db, const struct query_selection *sel,
		   following_amount_fn amount, void *ctx, double seconds,
		   struct following **out)
{
	struct following *f = calloc(1, sizeof(*f));
	int err = -ENOMEM;

	if (f) {
		f->amount = amount;
		f->ctx = ctx;
		f->followed = followed_new();
	}
	if (f && f->followed)
		err = load(f, db, sel, seconds);
	if (err || !followed_nr(f->followed)) {
		following_free(f);
		f = NULL;
	}
	if (!err)
		*out = f;
	return err;
}

static void forget_image(struct following *f)
{
	edges_free(f->at.runs);
	edges_free(f->at.branches);
	f->at = (struct explain_windows){ 0 };
}

void following_free(struct following *f)
{
	if (!f)
		return;
	forget_image(f);
	anchoring_fini(&f->anchoring);
	followed_free(f->followed);
	for (size_t i = 0; i < nr_images(f); i++)
		free((char *)images(f)[i].desc.name);
	buf_fini(&f->images);
	free(f);
}

int following_image(struct following *f, int64_t image,
		    const struct explain_windows **out)
{
	size_t i = f ? find(f, image) : 0;
	int err = 0;

	if (!f || i == nr_images(f)) {
		*out = NULL;
		return 0;
	}
	if (!f->at.followed || f->at_image != image) {
		forget_image(f);
		err = followed_edges(f->followed, i, &f->at.runs, &f->at.branches);
		if (err)
			return err;
		f->at.followed = f->followed;
		f->at.image = i;
		f->at.nr_anchored =
			anchoring_image(&f->anchoring, image, &f->at.anchored);
		f->at.executions_per_pass = f->executions_per_pass;
		f->at_image = image;
	}
	*out = &f->at;
	return 0;
}

const struct query_image *following_numbered(const struct following *f, uint32_t number)
{
	return &images(f)[number];
}
