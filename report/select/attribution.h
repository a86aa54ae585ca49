/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribution.h - --attribution: which instruction the time of a sample belongs to
 */
#ifndef CPI_REPORT_ATTRIBUTION_H
#define CPI_REPORT_ATTRIBUTION_H

#include <stdbool.h>

#include "db/profile/model.h"
#include "db/profile/profile.h"

/* In the order of the values of --attribution. */
enum attribution {
	ATTRIBUTION_AUTO,    /* weights of TIP records if the database has them, else
				counts with the landing model */
	ATTRIBUTION_TIP,     /* only weights count */
	ATTRIBUTION_PRECISE, /* the location or latency that hardware recorded */
	ATTRIBUTION_RAW,     /* the instruction at which the sample was taken */
};

const char *attribution_str(enum attribution a); /* "tip" */

/* Returns what to print for `asked`: for "auto", tip if a profile has weights, else
 * raw, because these reports show counts where they were sampled. */
enum attribution attribution_used(enum attribution asked, bool has_weights);

/* Whether the weights of a profile measure its time; else its counts do. */
bool attribution_weighs(enum attribution a, const struct profile *p);

#endif
