/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * time_quota.h - how much time may be spent on what others ask for
 *
 * A token bucket of time: it fills at a fixed share of the elapsed time, up to a
 * maximum. Work may start while the bucket is not empty, and its duration is
 * subtracted afterwards. So in the long run all work together takes at most that
 * share.
 */
#ifndef CPI_DAEMON_TIME_QUOTA_H
#define CPI_DAEMON_TIME_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/* A zeroed quota is full. */
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
