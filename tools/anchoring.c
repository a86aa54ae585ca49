/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * anchoring.c - rates in a command's CPU time, times that
 *
 * An instruction of a library is anchored in the commands that had a breakpoint there.
 * What others do with the library is not known: these are held to execute it as often,
 * for their samples in the library; where they have most of them, nothing is said.
 */
#include "config.h"

#include "tools/anchoring.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

#define LEAST_SHARE 0.5 /* of the image's samples */

struct loading {
	const struct query_selection *sel;
	const struct query_comms *comms;
	const double *time; /* by comms: samples */
	double seconds;
	struct anchoring *to;
	size_t cap, cap_image;
	/* The place that is being added up: a struct anchored, and samples there. */
	int64_t image;
	struct anchored sum;
	double covered;
};

static bool is_selected(const struct query_selection *sel, const char *comm)
{
	return !sel->context || !fnmatch(sel->context, comm, 0);
}

/* Samples of a command, of all or in an image; of an image with comm NULL. */
static double samples_of(const struct loading *l, const char *comm, int64_t image)
{
	double sum = 0;

	for (size_t i = 0; i < l->comms->nr; i++) {
		const struct query_comm *c = &l->comms->comm[i];

		if ((!comm || !strcmp(c->comm, comm)) && is_selected(l->sel, c->comm) &&
		    (image < 0 || c->image.id == image))
			sum += l->time[i];
	}
	return sum;
}

/* What was added up of a place is told. */
static int put_place(struct loading *l)
{
	const double share = l->covered / samples_of(l, NULL, l->image);
	struct anchoring *to = l->to;
	struct anchored *grown;
	int64_t *image;

	if (!(share >= LEAST_SHARE))
		return 0;
	l->sum.executions /= share;
	grown = grow(to->anchored, to->nr, &l->cap, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	to->anchored = grown;
	image = grow(to->image, to->nr, &l->cap_image, sizeof(*image));
	if (!image)
		return -ENOMEM;
	to->image = image;
	to->image[to->nr] = l->image;
	to->anchored[to->nr++] = l->sum;
	return 0;
}

static int add(void *ctx, const struct query_anchor *a)
{
	struct loading *l = ctx;
	struct anchored one = { .offset = a->start };
	int err = 0;

	if (l->covered > 0 && (a->image != l->image || a->start != l->sum.offset)) {
		err = put_place(l);
		l->covered = 0;
	}
	if (err || !is_selected(l->sel, a->comm) ||
	    !anchored_estimate(&a->sums, samples_of(l, a->comm, -1) * l->seconds, &one))
		return err;
	if (l->covered > 0)
		anchored_add(&l->sum, &one);
	else
		l->sum = one;
	l->image = a->image;
	l->covered += samples_of(l, a->comm, a->image);
	return 0;
}

static int load(struct db *db, struct loading *l, following_amount_fn amount, void *ctx)
{
	struct query_selection all = *l->sel;
	struct query_comms comms;
	double *time;
	int err;

	all.image = all.event = NULL;
	err = query_comms(db, &all, &comms);
	if (err)
		return err;
	time = calloc(comms.nr + 1, sizeof(*time));
	if (!time)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < comms.nr; i++)
		time[i] = amount(ctx, comms.comm[i].stream, comms.comm[i].n);
	l->comms = &comms;
	l->time = time;
	if (!err)
		err = query_anchors(db, l->sel->epochs, add, l);
	if (!err && l->covered > 0)
		err = put_place(l);
	free(time);
	query_comms_fini(&comms);
	return err;
}

int anchoring_load(struct db *db, const struct query_selection *sel,
		   following_amount_fn amount, void *ctx, double seconds,
		   struct anchoring *out)
{
	struct anchoring a = { 0 };
	struct loading l = { .sel = sel, .seconds = seconds, .to = &a };
	int err = 0;

	if (!sel->context || sel->kind == CONTEXT_COMM)
		err = load(db, &l, amount, ctx);
	if (err)
		anchoring_fini(&a);
	else
		*out = a;
	return err;
}

void anchoring_fini(struct anchoring *a)
{
	free(a->anchored);
	free(a->image);
	memset(a, 0, sizeof(*a));
}

size_t anchoring_image(const struct anchoring *a, int64_t image,
		       const struct anchored **first)
{
	size_t begin = 0, end;

	while (begin < a->nr && a->image[begin] != image)
		begin++;
	for (end = begin; end < a->nr && a->image[end] == image;)
		end++;
	*first = a->nr ? &a->anchored[begin] : NULL;
	return end - begin;
}
