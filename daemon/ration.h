/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ration.h - how much time may be spent on what others ask for
 *
 * A ration grows by a share of the time that goes by, up to a most. Work may begin
 * while something is left of it, and is paid with the time that it took: whatever
 * one piece costs, in the long run it is no more than the share.
 */
#ifndef CPI_DAEMON_RATION_H
#define CPI_DAEMON_RATION_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: as much as there may be at most. */
struct ration {
	int64_t spent_ns; /* of the most; above it when the last piece took more */
	uint64_t as_of_ns;
};

struct ration_limit {
	unsigned int per_mille; /* of the time */
	int64_t most_ns;
};

bool ration_has(struct ration *r, const struct ration_limit *limit, uint64_t now_ns);
void ration_spend(struct ration *r, uint64_t ns);

#endif
