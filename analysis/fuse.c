/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Both are measurements of log f: of a class that windows of a worth w passed, with the
 * variance 1 / w + WINDOWS²; of a class with samples, with the one that estimate.c
 * gives it. The mean of both, by the inverse of their variance, is the class's. Where
 * there is none of one kind, the other has it alone; how many there could have been
 * goes on to repair.c, as only all of a procedure's together say what that means.
 *
 * Samples have a common factor within a procedure, its stalls; its logarithm has the
 * deviation STALLS around what all procedures have together, and is estimated from the
 * time that windows say the procedure should take.
 */
#include "config.h"

#include "analysis/fuse.h"

#include <errno.h>
#include <math.h>

#include "analysis/followed.h"

#define UNSEEN 0.3 /* windows, added to those that passed */
#define MORE   0.5 /* ... and to their worth */

/* Deviations of a logarithm. */
#define WINDOWS 0.1 /* of windows, however many there are */
#define STALLS  0.5 /* of cycles per instruction, between procedures */
#define CYCLES  0.8 /* of the same, between classes of a procedure */

/* What windows say of a class. */
struct seen {
	double log_f, variance;
	double frequency, worth; /* mean of its blocks; the most of them */
	double say;              /* the part that they have in the class's frequency */
	int blocks;
};

static void gather(const struct freq_input *in, const struct equiv *eq,
		   struct seen *seen)
{
	for (int b = 0; b < in->cfg->exit; b++) {
		struct seen *s = &seen[eq->block[b]];

		s->frequency += in->windows->block[b];
		s->worth = fmax(s->worth, in->windows->worth[b]);
		s->blocks++;
	}
	for (int c = 0; c < eq->nr; c++) {
		struct seen *s = &seen[c];

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

/*
 * The logarithm of what samples' frequencies are to be multiplied by. Classes that only
 * one of both saw count too: those of which both saw something are chosen by chance.
 */
static double find_factor(const struct equiv *eq, const struct seen *seen,
			  const struct estimate *est)
{
	double windows = 0, samples = 0, worth = 0, var;

	for (int c = 0; c < eq->nr; c++) {
		if (!seen[c].blocks || est[c].rule == ESTIMATE_NONE)
			continue;
		windows += seen[c].frequency * est[c].cycles;
		samples += est[c].samples;
		worth = fmax(worth, seen[c].worth);
	}
	var = 1 / (worth + MORE) + 1 / (samples + MORE) + WINDOWS * WINDOWS;
	return log((windows + MORE) / (samples + MORE)) * STALLS * STALLS /
	       (STALLS * STALLS + var);
}

static void fuse(struct seen *s, double one, double factor, struct estimate *e)
{
	const bool sampled = e->rule != ESTIMATE_NONE && e->samples > 0;
	const bool passed = s->frequency > 0;
	double own = 0, other = 0, mean = 0;

	e->at_most = !sampled && !passed;
	e->unseen = exp(-factor) * e->unseen + (passed ? 0 : 1 / one);
	if (passed || !sampled) {
		own = 1 / s->variance;
		mean += own * s->log_f;
	}
	if (sampled || (e->at_most && e->rule != ESTIMATE_NONE)) {
		other = 1 / variance_of(e);
		mean += other * (log(e->frequency) + factor);
	}
	e->rule = ESTIMATE_FUSED;
	e->frequency = exp(mean / (own + other));
	e->sd = 1 / sqrt(own + other);
	e->samples = own + other;
	s->say = own / (own + other);
}

/* What windows are off by, as far as they have a say. */
static int share_errors(const struct freq_input *in, const struct equiv *eq,
			struct arena *arena, const struct seen *seen,
			struct estimate *est)
{
	double *error =
		arena_array(arena, (size_t)eq->nr * FOLLOWED_DRAWS, sizeof(*error));

	if (!error)
		return -ENOMEM;
	for (int c = 0; c < eq->nr; c++)
		est[c].error =
			seen[c].blocks ? &error[(size_t)c * FOLLOWED_DRAWS] : NULL;
	for (int b = 0; b < in->cfg->exit; b++) {
		const int c = eq->block[b];

		for (int i = 0; i < FOLLOWED_DRAWS && in->windows->error[b]; i++)
			error[(size_t)c * FOLLOWED_DRAWS + i] +=
				in->windows->error[b][i] * seen[c].say / seen[c].blocks;
	}
	return 0;
}

int fuse_windows(const struct freq_input *in, const struct equiv *eq,
		 struct arena *arena, struct estimate *est)
{
	struct seen *seen = arena_array(arena, eq->nr, sizeof(*seen));
	double factor;

	if (!seen)
		return -ENOMEM;
	gather(in, eq, seen);
	factor = find_factor(eq, seen, est);
	for (int c = 0; c < eq->nr; c++) {
		if (seen[c].blocks)
			fuse(&seen[c], in->windows->one, factor, &est[c]);
	}
	return in->windows->error ? share_errors(in, eq, arena, seen, est) : 0;
}
