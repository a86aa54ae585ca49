/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SOSP'97 section 6.1.4. Each block has two equations: its frequency is the sum
 * of its in edges, and the sum of its out edges. Doors and ends have one
 * equation. An equation waits until only one class in it is unknown, and then
 * gives the frequency of that class. A class that becomes known counts down the
 * equations of all its members, so that each of them is solved once, and the
 * whole takes linear time.
 *
 * The paper does not compute errors. We add variances, so a small difference of large
 * sums has a large deviation.
 */
#include "config.h"

#include "analysis/freq/propagate.h"

#include <errno.h>
#include <math.h>

#define SD_NOTHING 3.0 /* of log f if the difference is not positive */

enum { IN, OUT };

struct solver {
	const struct cfg *cfg;
	const struct equiv *eq;
	struct guess *guess;
	int *first, *member; /* equations by class: 2 × block + side, once per term */
	int *unknown;        /* by equation: terms that are not known; 0 when unused */
	int *ready, nr_ready;
};

static bool has_equation(const struct cfg *cfg, int b, int side)
{
	const struct cfg_block *block = &cfg->block[b];

	if (side == OUT)
		return block->nr_out && !block->missing_out;
	return b && block->nr_in && !block->landing_pad && !cfg->missing_edges;
}

static int nr_terms(const struct cfg *cfg, int b, int side)
{
	return side == OUT ? cfg->block[b].nr_out : cfg->block[b].nr_in;
}

static int term(const struct solver *s, int b, int side, int i)
{
	const struct cfg_block *block = &s->cfg->block[b];
	int e = side == OUT ? block->first_out + i : s->cfg->in[block->first_in + i];

	return s->eq->edge[e];
}

/*
 * A counting sort. Without place: counts the terms of class c in first[c + 2]. With
 * place: puts their equations into member, and counts their unknown terms.
 */
static void list_terms(struct solver *s, bool place)
{
	for (int q = 0; q < 2 * s->cfg->nr_blocks; q++) {
		int b = q / 2, side = q % 2;

		if (!has_equation(s->cfg, b, side))
			continue;
		for (int i = -1; i < nr_terms(s->cfg, b, side); i++) {
			int c = i < 0 ? s->eq->block[b] : term(s, b, side, i);

			if (place) {
				s->member[s->first[c + 1]++] = q;
				s->unknown[q] += !s->guess[c].known;
			} else {
				s->first[c + 2]++;
			}
		}
	}
}

static int build(struct solver *s, struct arena *arena)
{
	const struct cfg *cfg = s->cfg;

	s->first = arena_array(arena, s->eq->nr + 2, sizeof(*s->first));
	s->member = arena_array(arena, 2 * (cfg->nr_blocks + cfg->nr_edges),
				sizeof(*s->member));
	s->unknown = arena_array(arena, 2 * cfg->nr_blocks, sizeof(*s->unknown));
	s->ready = arena_array(arena, 2 * cfg->nr_blocks, sizeof(*s->ready));
	if (!s->first || !s->member || !s->unknown || !s->ready)
		return -ENOMEM;
	list_terms(s, false);
	for (int c = 0; c < s->eq->nr; c++)
		s->first[c + 2] += s->first[c + 1];
	list_terms(s, true);
	for (int q = 0; q < 2 * cfg->nr_blocks; q++)
		if (s->unknown[q] == 1)
			s->ready[s->nr_ready++] = q;
	return 0;
}

/* Solves equation q for its only unknown class; -1 if that class is known by now. */
static int solve_equation(const struct solver *s, int q, struct guess *out)
{
	int b = q / 2, side = q % 2, class = -1;
	const struct guess *block = &s->guess[s->eq->block[b]];
	double sum = 0, variance = 0, sd;

	for (int i = 0; i < nr_terms(s->cfg, b, side); i++) {
		const struct guess *g = &s->guess[term(s, b, side, i)];

		if (!g->known)
			class = term(s, b, side, i);
		sum += g->known ? g->frequency : 0;
		variance += g->known ? pow(g->frequency * g->sd, 2) : 0;
	}
	if (!block->known && class < 0) {
		class = s->eq->block[b];
	} else if (block->known && class >= 0) {
		sum = fmax(block->frequency - sum, 0);
		variance += pow(block->frequency * block->sd, 2);
	} else {
		return -1;
	}
	sd = sum > 0 ? sqrt(variance) / sum : SD_NOTHING;
	*out = (struct guess){ true, true, sum, fmin(sd, SD_NOTHING) };
	return class;
}

static void announce(struct solver *s, int class)
{
	for (int i = s->first[class]; i < s->first[class + 1]; i++)
		if (--s->unknown[s->member[i]] == 1)
			s->ready[s->nr_ready++] = s->member[i];
}

int propagate(const struct cfg *cfg, const struct equiv *eq, struct arena *arena,
	      struct guess *guess)
{
	struct solver s = { .cfg = cfg, .eq = eq, .guess = guess };
	struct guess found;
	int err, class;

	err = build(&s, arena);
	while (!err && s.nr_ready) {
		class = solve_equation(&s, s.ready[--s.nr_ready], &found);
		if (class < 0)
			continue;
		guess[class] = found;
		announce(&s, class);
	}
	return err;
}

void propagate_dump(const struct guess *guess, int nr, struct buf *out)
{
	for (int c = 0; c < nr; c++) {
		if (guess[c].known)
			buf_printf(out, "propagate: class %d %.6g ± %.2g%s\n", c,
				   guess[c].frequency, guess[c].sd,
				   guess[c].propagated ? " propagated" : "");
		else
			buf_printf(out, "propagate: class %d unknown\n", c);
	}
}
