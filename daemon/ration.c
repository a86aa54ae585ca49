/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/ration.h"

bool ration_has(struct ration *r, const struct ration_limit *limit, uint64_t now_ns)
{
	uint64_t passed_ns = now_ns > r->as_of_ns ? now_ns - r->as_of_ns : 0;
	uint64_t earned_ns = passed_ns / 1000 * limit->per_mille;

	if (earned_ns) { /* else it is not lost, but counted later */
		r->spent_ns = earned_ns < (uint64_t)r->spent_ns
				      ? r->spent_ns - (int64_t)earned_ns
				      : 0;
		r->as_of_ns = now_ns;
	}
	return r->spent_ns < limit->most_ns;
}

void ration_spend(struct ration *r, uint64_t ns)
{
	r->spent_ns += (int64_t)ns;
}
