/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * keepalive.h - the service manager's watchdog (sd_notify(3))
 *
 * A main thread that hangs says nothing, and the manager starts the service again. What
 * takes long but gets on says so: while it runs by WATCHDOG=1, and at its start and
 * end, which the watchdog does not cover, by more time.
 */
#ifndef CPI_SERVICE_KEEPALIVE_H
#define CPI_SERVICE_KEEPALIVE_H

#include <stdbool.h>
#include <stdint.h>

/* Zeroed: it starts. */
struct keepalive {
	uint64_t interval_ns; /* of WATCHDOG=1; 0: nobody wants it */
	uint64_t next_ns;     /* nothing is sent before */
	bool running;         /* between READY=1 and STOPPING=1 */
	int err;              /* of the last attempt */
};

/* READY=1 was sent: takes the interval that the manager asks for. */
void keepalive_run(struct keepalive *k);

/* STOPPING=1 was sent. */
void keepalive_stop(struct keepalive *k);

/* The main thread alone: it gets on. Sends what is due. */
void keepalive_beat(struct keepalive *k);

/* Milliseconds until a beat is due; -1: none will be. */
int keepalive_wait_ms(const struct keepalive *k);

#endif
