/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribution.c - the values of --attribution, and what auto means
 */
#include "config.h"

#include "report/select/attribution.h"

const char *attribution_str(enum attribution a)
{
	static const char *const names[] = { "auto", "tip", "precise", "raw" };

	return names[a];
}

enum attribution attribution_used(enum attribution asked, bool has_weights)
{
	if (asked != ATTRIBUTION_AUTO)
		return asked;
	return has_weights ? ATTRIBUTION_TIP : ATTRIBUTION_RAW;
}

bool attribution_weighs(enum attribution a, const struct profile *p)
{
	return a == ATTRIBUTION_TIP ||
	       (a == ATTRIBUTION_AUTO && profile_is_weighted(p));
}
