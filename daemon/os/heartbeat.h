/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heartbeat.h - what the main thread is doing, for threads that must not wait for it
 *
 * Before a step that may take long, the main thread publishes the step's name.
 * Each begin, end and heartbeat_progress() calls progress(). The daemon uses it
 * to tell the service manager that it is still making progress.
 *
 * Everything accepts NULL, for sessions that nobody watches.
 */
#ifndef CPI_DAEMON_HEARTBEAT_H
#define CPI_DAEMON_HEARTBEAT_H

#include <stdatomic.h>
#include <stdint.h>

struct heartbeat {
	_Atomic(const char *) doing; /* a literal */
	_Atomic uint64_t since_ns;
	void (*progress)(void *ctx); /* of the main thread alone; may be NULL */
	void *ctx;
};

/*
 * The main thread begins the step doing, a string that must stay valid. Returns
 * the step before, for heartbeat_end().
 */
const char *heartbeat_begin(struct heartbeat *h, const char *doing);
void heartbeat_end(struct heartbeat *h, const char *before);

/* Reports progress of the current step. */
void heartbeat_progress(struct heartbeat *h);

/* Any thread: what the main thread does, and since when. */
const char *heartbeat_read(struct heartbeat *h, uint64_t *since_ns);

#endif
