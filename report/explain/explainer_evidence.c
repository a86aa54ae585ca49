/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explainer_evidence.c - splits an image's samples by the time that one sample
 * represents
 *
 * In a procedure whose ticks are biased, a random sample counts as its period,
 * and a tick as nothing. In other procedures both kinds count, each as less than
 * its period (procedure_evidence.h). The analysis takes streams whose samples are
 * worth the same, so the samples of each stream are split. Their unit stays a
 * random sample of the first stream.
 */
#include "config.h"

#include <errno.h>

#include "report/explain/explainer_private.h"

struct evidence_use explainer_use(const struct explainer *x, const struct symbol *owner)
{
	return procedure_evidence_use(x->scope->evidence, &x->image, owner);
}

static void drop(struct profile **p)
{
	profile_free(*p);
	*p = NULL;
}

void explainer_unsplit(struct explainer *x)
{
	for (size_t i = 0; x->agreed && i < x->scope->sel.streams.nr; i++) {
		drop(&x->agreed[i]);
		drop(&x->alone[i]);
	}
	x->is_split = false;
}

static int split_stream(struct explainer *x, struct image *im, size_t stream)
{
	const struct symbol *owner, *last = NULL;
	bool random_only = explainer_use(x, NULL).random_only;
	const struct count *c;
	size_t nr = 0;
	int err = 0;

	x->agreed[stream] = profile_new();
	x->alone[stream] = profile_new();
	if (!x->agreed[stream] || !x->alone[stream])
		return -ENOMEM;
	c = x->profile[stream] ? profile_sorted(x->profile[stream], &nr) : NULL;
	for (size_t i = 0; i < nr && !err; i++) {
		owner = image_symbol_at(im, c[i].offset);
		if (owner != last)
			random_only = explainer_use(x, owner).random_only;
		last = owner;
		err = profile_add(random_only ? x->alone[stream] : x->agreed[stream],
				  &c[i]);
	}
	return err;
}

/* Splits all streams of the image, unless that was done since its profiles changed. */
static int split(struct explainer *x, struct image *im)
{
	int err = 0;

	for (size_t i = 0; i < x->scope->sel.streams.nr && !err && !x->is_split; i++) {
		drop(&x->agreed[i]);
		drop(&x->alone[i]);
		if (scope_measures(x->scope, i))
			err = split_stream(x, im, i);
	}
	x->is_split = !err;
	return err;
}

static void add(struct explainer *x, struct explain_input *in, size_t stream,
		const struct profile *p, struct evidence_use use)
{
	const struct scope *s = x->scope;
	const double factor = evidence_factor(procedure_evidence_fit(s->evidence),
					      s->ev.of[stream], use);

	if (factor > 0)
		x->streams[in->nr_streams++] = (struct explain_stream){
			p,
			time_source_landing(&s->source, stream, p),
			s->ev.weight[stream] * factor * s->clock_hz / 1e9,
			0,
		};
}

int explainer_add_split(struct explainer *x, struct image *im, struct explain_input *in)
{
	const enum evidence_mode mode = explainer_use(x, NULL).mode;
	const size_t nr = x->scope->sel.streams.nr;
	int err = split(x, im);

	for (size_t i = x->scope->first; i < nr && !err; i++) {
		if (!x->alone[i])
			continue;
		/* The unit comes first: a random sample of the first stream. */
		add(x, in, i, x->alone[i], (struct evidence_use){ mode, true });
		add(x, in, i, x->agreed[i], (struct evidence_use){ mode, false });
	}
	return err;
}
