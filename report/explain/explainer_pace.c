/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns pairs of samples into evidence of how often a procedure's code ran. Pairs
 * are kept as edges of the windows' streams (db/profile/edges.h), for all
 * contexts together.
 */
#include "config.h"

#include <errno.h>
#include <math.h>

#include "analysis/freq/pace.h"
#include "analysis/freq/scale.h"
#include "report/explain/explainer_private.h"

int explainer_take_pace(struct explainer *x, const struct query_edges *q)
{
	const bool leaves = q->image.id != q->target.id;
	struct edges **to = &x->edges[q->kind];
	const struct edge *e;
	int err = 0;
	size_t nr;

	if (q->image.id != x->image.id || (leaves && q->kind == EDGES_PACE))
		return 0;
	if (!*to)
		*to = edges_new();
	if (!*to)
		return -ENOMEM;
	if (!leaves)
		return edges_merge(*to, q->edges);
	e = edges_sorted(q->edges, &nr);
	for (size_t i = 0; i < nr && !err; i++) {
		struct edge start = e[i];

		start.to = UINT64_MAX; /* of another image */
		err = edges_add(*to, &start);
	}
	return err;
}

/* The time at an offset, in samples of the first stream. */
static double samples_at(void *ctx, uint64_t offset)
{
	const struct explain_input *in = ctx;
	double sum = 0;

	for (int s = 0; s < in->nr_streams; s++) {
		const struct explain_stream *stream = &in->stream[s];
		double n = (double)profile_at(stream->profile, offset).n;

		if (stream->unit > 0)
			n = (double)profile_weight_at(stream->profile, offset) /
			    stream->unit;
		sum += n * stream->period_cycles / in->stream[0].period_cycles;
	}
	return sum;
}

int explainer_add_pace(struct explainer *x, const struct symbol *procedure,
		       struct explain_input *in)
{
	const struct pace_input pace = {
		.pace = x->edges[EDGES_PACE],
		.start = x->edges[EDGES_PACE_START],
		.samples = samples_at,
		.sample_ns = in->stream[0].period_cycles / x->scope->clock_hz * 1e9,
		.ctx = in,
		.begin = procedure->start,
		.end = procedure->end,
	};
	struct scale_evidence *evidence;
	struct pace *found;
	size_t nr;
	int err;

	if (!pace.pace || !pace.start)
		return 0;
	err = pace_find(&pace, &x->arena, &found, &nr);
	if (err)
		return err;
	evidence = arena_array(&x->arena, 2 * nr + 1, sizeof(*evidence));
	if (!evidence)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		in->nr_evidence +=
			pace_evidence(&found[i],
				      in->stream[0].period_cycles / pace.sample_ns,
				      &evidence[in->nr_evidence]);
	in->evidence = evidence;
	return 0;
}
