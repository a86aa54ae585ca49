/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_quota.c - limits the time that is spent on requests of others
 *
 * The spent time is stored. The earned time is subtracted when the quota is checked, so
 * no timer is needed.
 */
#include "config.h"

#include "daemon/os/time_quota.h"

bool time_quota_has(struct time_quota *r, const struct time_quota_limit *limit,
		    uint64_t now_ns)
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

void time_quota_spend(struct time_quota *r, uint64_t ns)
{
	r->spent_ns += (int64_t)ns;
}
