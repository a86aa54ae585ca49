/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_quota.h - how much time may be spent on what others ask for
 *
 * A time quota grows by a share of the time that goes by, up to a most. Work may begin
 * while something is left of it, and is paid with the time that it took: whatever
 * one piece costs, in the long run it is no more than the share.
 */
#ifndef CPI_DAEMON_TIME_QUOTA_H
#define CPI_DAEMON_TIME_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: as much as there may be at most. */
struct time_quota {
	int64_t spent_ns; /* of the most; above it when the last piece took more */
	uint64_t as_of_ns;
};

struct time_quota_limit {
	unsigned int per_mille; /* of the time */
	int64_t most_ns;
};

bool time_quota_has(struct time_quota *r, const struct time_quota_limit *limit,
		    uint64_t now_ns);
void time_quota_spend(struct time_quota *r, uint64_t ns);

#endif
