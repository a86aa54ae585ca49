/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status.h - the state of shipping, as metrics and as a line for the service manager
 */
#ifndef CPI_SHIP_STATUS_H
#define CPI_SHIP_STATUS_H

#include <stdint.h>

#include "base/buf.h"
#include "ship/ship.h"

struct ship_status {
	struct ship_stats stats;
	uint64_t sent_bytes;
	uint64_t nr_failures;
	int err;             /* of the last attempt; 0: it succeeded */
	uint64_t started_ns; /* wall clock, as those below */
	uint64_t failing_ns; /* the first failure since the last success, or 0 */
	uint64_t success_ns; /* the last success, or 0 */
	/*
	 * The last time at which no complete epoch was waiting; at first, the time of
	 * the start.
	 */
	uint64_t level_ns;
};

/* Notes the result of an attempt. nr is the number of shipped epochs, if err is 0. */
void ship_status_note(struct ship_status *s, int err, size_t nr);

/* Appends all numbers as text for Prometheus: cpi_ship_…. 0 or -ENOMEM. */
int ship_status_metrics(const struct ship_status *s, struct buf *out);

/* Appends a sentence without a full stop. */
void ship_status_say(const struct ship_status *s, struct buf *out);

#endif
