/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribution.h - whose the time of a sample is: what --attribution chooses
 */
#ifndef CPI_TOOLS_ATTRIBUTION_H
#define CPI_TOOLS_ATTRIBUTION_H

#include <stdbool.h>

#include "db/model.h"
#include "db/profile.h"

/* In the order of the option's words. */
enum attribution {
	ATTRIBUTION_AUTO, /* tip where there are weights, else by the landing model */
	ATTRIBUTION_TIP,  /* weights alone */
	ATTRIBUTION_PRECISE, /* what hardware says where it was, as it says it */
	ATTRIBUTION_RAW,     /* where samples were taken */
};

#define OPT_ATTRIBUTION                                                                \
	OPT("attribution", 0, "auto|tip|precise|raw", "whose the time is", OPT_CHOICE, \
	    attribution)

const char *attribution_str(enum attribution a); /* "tip" */

/* What "auto" was, where some time is that of weights or none is. */
enum attribution attribution_used(enum attribution asked, bool weighed);

/* Whether its weights are its time, and its counts are none. */
bool attribution_weighs(enum attribution a, const struct profile *p);

#endif
