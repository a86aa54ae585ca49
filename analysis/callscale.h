/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callscale.h - one factor for each procedure, so that calls and entries agree
 *
 * Windows are short. What they say of the frequencies inside a procedure is good;
 * between procedures that few of them connect it is as good as the weight of where they
 * began. But a procedure is entered as often as others call it: each callee ties its
 * own scale to those of its callers.
 */
#ifndef CPI_ANALYSIS_CALLSCALE_H
#define CPI_ANALYSIS_CALLSCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* What is known before calls are looked at. */
struct callscale_prior {
	double sd; /* of the logarithm of a factor, of a procedure with many samples */
	double entries; /* that have to be seen; of fewer nothing follows */
	bool rough;     /* a thousandth is exact enough */
};

struct callscale_procedure {
	double samples;
	double entries; /* executions, from the callers that are known */
	double seen;    /* windows that saw it entered */
	double guess;   /* the logarithm of its factor, before calls are looked at */
	double anchor;  /* the logarithm of its factor, as breakpoints say ... */
	double anchor_variance; /* 0: they do not */
};

struct callscale_call {
	int caller, callee; /* procedures */
	double calls;       /* executions */
};

/*
 * Sorts calls by callee, and finds the logarithm of each procedure's factor, in the
 * arena. Returns 0, -EINVAL for a number that is not finite, or negative where it is no
 * logarithm, or a procedure that there is not, or -ENOMEM.
 */
int callscale_find(const struct callscale_prior *prior,
		   const struct callscale_procedure *procedure, int nr,
		   struct callscale_call *call, size_t nr_calls, struct arena *arena,
		   double **log_factor);

#endif
