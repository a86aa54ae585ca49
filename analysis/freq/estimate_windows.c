/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Windows and samples both measure log f of a class. Windows of a worth w have
 * about the variance 1 / w + WINDOWS², n samples about 1 / n + CYCLES²; the
 * deviation that estimate.c found is not used. The class gets the mean of both,
 * weighted by the inverse of their variance. If one kind did not see the class,
 * the other decides alone. How often the kind that did not see it would have seen
 * it at frequency 1 is passed to flow_repair.c, because only all classes of a
 * procedure together say something about that.
 */
#include "config.h"

#include "analysis/freq/estimate_windows.h"

#include <errno.h>
#include <math.h>

#include "analysis/windows/window_weights.h"

#define UNSEEN 0.3 /* windows, added to those that passed a class */
#define MORE   0.5 /* windows, added to their worth */

/* Deviations of a logarithm. */
#define WINDOWS 0.1 /* of windows, however many there are */
#define CYCLES  0.8 /* of cycles per instruction, between classes of a procedure */

/* A class as windows see it. */
struct window_class {
	double log_f, variance;
	double frequency, worth; /* of its blocks: the mean, and the largest */
	double say;              /* their weight in the class's frequency */
	int blocks;
};

static void gather_windows(const struct freq_input *in, const struct equiv *eq,
			   struct window_class *seen)
{
	for (int b = 0; b < in->cfg->exit; b++) {
		struct window_class *s = &seen[eq->block[b]];

		s->frequency += in->windows->block[b];
		s->worth = fmax(s->worth, in->windows->worth[b]);
		s->blocks++;
	}
	for (int c = 0; c < eq->nr; c++) {
		struct window_class *s = &seen[c];

		if (!s->blocks)
			continue;
		s->frequency /= s->blocks;
		s->log_f = log(s->frequency + UNSEEN * in->windows->one);
		s->variance = 1 / (s->worth + MORE) + WINDOWS * WINDOWS;
	}
}

static double variance_of(const struct estimate *e)
{
	return CYCLES * CYCLES + 1 / (e->samples + MORE);
}

static void combine_class(struct window_class *s, double one, struct estimate *e)
{
	const bool sampled = e->rule != ESTIMATE_NONE && e->samples > 0;
	const bool passed = s->frequency > 0;
	double own = 0, other = 0, mean = 0;

	e->at_most = !sampled && !passed;
	e->unseen += passed ? 0 : 1 / one;
	if (passed || !sampled) {
		own = 1 / s->variance;
		mean += own * s->log_f;
	}
	if (sampled || (e->at_most && e->rule != ESTIMATE_NONE)) {
		other = 1 / variance_of(e);
		mean += other * log(e->frequency);
	}
	e->rule = ESTIMATE_WINDOWS;
	e->frequency = exp(mean / (own + other));
	e->sd = 1 / sqrt(own + other);
	s->say = own / (own + other);
}

/*
 * Gives each class the common errors of its blocks' windows, times the weight that
 * windows have in the class's frequency.
 */
static int share_errors(const struct freq_input *in, const struct equiv *eq,
			struct arena *arena, const struct window_class *seen,
			struct estimate *est)
{
	double *error = arena_array(arena, (size_t)eq->nr * WINDOW_WEIGHTS_DRAWS,
				    sizeof(*error));

	if (!error)
		return -ENOMEM;
	for (int c = 0; c < eq->nr; c++)
		est[c].error = seen[c].blocks ? &error[(size_t)c * WINDOW_WEIGHTS_DRAWS]
					      : NULL;
	for (int b = 0; b < in->cfg->exit; b++) {
		const int c = eq->block[b];

		for (int i = 0; i < WINDOW_WEIGHTS_DRAWS && in->windows->error[b]; i++)
			error[(size_t)c * WINDOW_WEIGHTS_DRAWS + i] +=
				in->windows->error[b][i] * seen[c].say / seen[c].blocks;
	}
	return 0;
}

int estimate_add_windows(const struct freq_input *in, const struct equiv *eq,
			 struct arena *arena, struct estimate *est)
{
	struct window_class *seen = arena_array(arena, eq->nr, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	gather_windows(in, eq, seen);
	for (int c = 0; c < eq->nr; c++) {
		if (seen[c].blocks)
			combine_class(&seen[c], in->windows->one, &est[c]);
	}
	return in->windows->error ? share_errors(in, eq, arena, seen, est) : 0;
}
