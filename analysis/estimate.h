/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate.h - the frequency of each class from its own samples
 *
 * SOSP'97 section 6.1.3. An instruction that no dynamic stall delays has samples
 * S = F × M; so some of a class's smaller ratios S / M are about its frequency F.
 */
#ifndef CPI_ANALYSIS_ESTIMATE_H
#define CPI_ANALYSIS_ESTIMATE_H

#include "analysis/equiv.h"
#include "analysis/freq.h"
#include "base/arena.h"
#include "base/buf.h"

enum estimate_rule {
	ESTIMATE_NONE,    /* the class has no instructions, or none that takes time */
	ESTIMATE_SUM,     /* ΣS / ΣM */
	ESTIMATE_CLUSTER, /* the mean of a cluster of ratios */
	ESTIMATE_FUSED,   /* from windows, too (fuse.h) */
	ESTIMATE_RETIRED, /* from samples of instructions, not of time */
};

#define ESTIMATE_ISSUE 0.4 /* cycles that an instruction takes, unless it stalls */

struct estimate {
	enum estimate_rule rule;
	double frequency; /* F: samples per cycle */
	bool at_most;     /* nothing was seen of it: it may be any less */
	double unseen;    /* sightings that a frequency of 1 would have brought, of the
			     kinds (samples, windows) of which there was none */
	double sd;        /* deviation of its logarithm */
	double samples;   /* ΣS */
	double cycles;    /* ΣM; out of order, what serves for it */
	int insns;
	int points;          /* issue points: instructions with M > 0 */
	int used;            /* of these, those in the cluster */
	const double *error; /* of its logarithm: FOLLOWED_DRAWS draws of what it shares
				with other classes; or NULL */
};

/*
 * requires: equiv_build(). An estimate for each class; chosen, when it is not NULL,
 * says of each instruction if its ratio is in the mean. All in the arena.
 * 0 or -ENOMEM.
 */
int estimate_classes(const struct freq_input *in, const struct equiv *eq,
		     struct arena *arena, struct estimate **out, bool *chosen);

/*
 * The same of a class with instructions, of which that many samples were taken as they
 * retired; each is worth so many samples of time. Cycles are instructions, then.
 */
void estimate_retired(double samples, double insns, double worth, struct estimate *e);

void estimate_dump(const struct estimate *est, int nr, struct buf *out);

#endif
