/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * callscale.h - one factor for each procedure, so that calls and entries agree
 *
 * Windows are short. They measure frequencies inside a procedure well. The ratio
 * between two procedures that few windows connect is only as exact as the weights of
 * the windows. But a procedure is entered as often as others call it, so each call
 * determines the callee's scale from the caller's.
 */
#ifndef CPI_ANALYSIS_CALLSCALE_H
#define CPI_ANALYSIS_CALLSCALE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* What is known without the calls. */
struct callscale_prior {
	double sd; /* of the logarithm of a factor, of a procedure with many samples */
	double entries; /* windows that must have seen a procedure entered; fewer change
			   nothing */
	bool rough;     /* a thousandth is exact enough */
};

struct callscale_procedure {
	double samples;
	double entries; /* executions, by known callers only */
	double seen;    /* windows that saw it entered */
	double guess;   /* the logarithm of its factor, without the calls */
};

struct callscale_call {
	int caller, callee; /* procedures */
	double calls;       /* executions */
};

/*
 * Sorts calls by callee, and finds the logarithm of each procedure's factor, in the
 * arena. Returns 0; -EINVAL for a number that is not finite, for a negative number
 * other than a logarithm, or for a procedure beyond nr; or -ENOMEM.
 */
int callscale_find(const struct callscale_prior *prior,
		   const struct callscale_procedure *procedure, int nr,
		   struct callscale_call *call, size_t nr_calls, struct arena *arena,
		   double **log_factor);

#endif
