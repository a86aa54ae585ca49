/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * estimate.h - the frequency of each class from its own samples
 *
 * SOSP'97 section 6.1.3: without stalls an instruction has samples S = F × M.
 */
#ifndef CPI_ANALYSIS_ESTIMATE_H
#define CPI_ANALYSIS_ESTIMATE_H

#include "analysis/cfg/equiv.h"
#include "analysis/freq/freq.h"
#include "base/arena.h"
#include "base/buf.h"

enum estimate_rule {
	ESTIMATE_NONE,    /* the class has no instructions */
	ESTIMATE_SUM,     /* ΣS / ΣM */
	ESTIMATE_WINDOWS, /* windows contributed (estimate_windows.h) */
	ESTIMATE_RETIRED, /* from samples of instructions, not of time */
};

#define ESTIMATE_ISSUE 0.4 /* cycles that an instruction takes, unless it stalls */

struct estimate {
	enum estimate_rule rule;
	double frequency; /* F: samples / cycles of one execution */
	bool at_most;     /* neither samples nor windows saw it: an upper bound */
	double unseen;    /* how many samples and windows would be expected at frequency
			     1, from those sources that saw none */
	double sd;        /* deviation of its logarithm */
	double samples;   /* ΣS */
	double cycles;    /* ΣM: ESTIMATE_ISSUE × insns */
	int insns;
	const double
		*error; /* WINDOW_WEIGHTS_DRAWS random draws of the part of the error of
			   log(frequency) that is common to several classes; or NULL */
};

/*
 * requires: equiv_build(). Makes an estimate for each class, in the arena. Returns 0 or
 * -ENOMEM.
 */
int estimate_classes(const struct freq_input *in, const struct equiv *eq,
		     struct arena *arena, struct estimate **out);

/*
 * Estimates a class from samples that were taken as its instructions retired. One such
 * sample is worth `worth` samples of time; one retired instruction counts as one cycle.
 */
void estimate_retired(double samples, double worth, struct estimate *e);

void estimate_dump(const struct estimate *est, int nr, struct buf *out);

#endif
