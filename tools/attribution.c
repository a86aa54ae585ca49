/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/attribution.h"

const char *attribution_str(enum attribution a)
{
	static const char *const names[] = { "auto", "tip", "precise", "raw" };

	return names[a];
}

enum attribution attribution_used(enum attribution asked, bool weighed)
{
	if (asked != ATTRIBUTION_AUTO)
		return asked;
	return weighed ? ATTRIBUTION_TIP : ATTRIBUTION_RAW;
}

bool attribution_weighs(enum attribution a, const struct profile *p)
{
	return a == ATTRIBUTION_TIP ||
	       (a == ATTRIBUTION_AUTO && profile_is_weighted(p));
}
