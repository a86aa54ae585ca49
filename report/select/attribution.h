/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribution.h - --attribution: which instruction the time of a sample belongs to
 */
#ifndef CPI_REPORT_ATTRIBUTION_H
#define CPI_REPORT_ATTRIBUTION_H

#include <stdbool.h>

#include "db/profile/model.h"
#include "db/profile/profile.h"

/* In the order of the option's words. */
enum attribution {
	ATTRIBUTION_AUTO, /* tip where there are weights, else by the landing model */
	ATTRIBUTION_TIP,  /* weights alone */
	ATTRIBUTION_PRECISE, /* what hardware says where it was, as it says it */
	ATTRIBUTION_RAW,     /* where samples were taken */
};

const char *attribution_str(enum attribution a); /* "tip" */

/* What "auto" meant for a profile with or without weights. */
enum attribution attribution_used(enum attribution asked, bool has_weights);

/* Whether a profile's weights are its time, instead of its counts. */
bool attribution_weighs(enum attribution a, const struct profile *p);

#endif
