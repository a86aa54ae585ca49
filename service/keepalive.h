/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keepalive.h - the service manager's watchdog (sd_notify(3))
 *
 * If a main thread hangs, it sends no notification, and the manager restarts the
 * service. A slow step must call keepalive_beat() while it makes progress. This sends
 * WATCHDOG=1 while the service runs. While the service starts or stops, there is no
 * watchdog; then it sends EXTEND_TIMEOUT_USEC.
 */
#ifndef CPI_SERVICE_KEEPALIVE_H
#define CPI_SERVICE_KEEPALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Starts as { 0 }: the service is starting. */
struct keepalive {
	uint64_t interval_ns; /* between two WATCHDOG=1; 0: none are sent */
	uint64_t next_ns;     /* time of the next notification */
	bool running;         /* between READY=1 and STOPPING=1 */
	int err;              /* of the last attempt */
};

/* Call it after READY=1 was sent: reads the interval that the manager expects. */
void keepalive_run(struct keepalive *k);

/* Call it after STOPPING=1 was sent. */
void keepalive_stop(struct keepalive *k);

/*
 * Call it only in the main thread, when it has made progress: sends a notification if
 * one is due.
 */
void keepalive_beat(struct keepalive *k);

/* Milliseconds until the next notification is due; -1: none will be. */
int keepalive_wait_ms(const struct keepalive *k);

#endif
