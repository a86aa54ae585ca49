/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * heartbeat.h - what the main thread is doing, for threads that must not wait for it
 *
 * The main thread names what may take long as it begins it. Each such beginning and
 * end, and each heartbeat_progress(), says that it gets on; a service manager that
 * would otherwise give up is told so by the owner's function.
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
 * The main thread begins this, a string that stays. Returns what it was doing before,
 * for heartbeat_end().
 */
const char *heartbeat_begin(struct heartbeat *h, const char *doing);
void heartbeat_end(struct heartbeat *h, const char *before);

/* What was begun is under way still, and gets on. */
void heartbeat_progress(struct heartbeat *h);

/* Any thread: what the main thread does, and since when. */
const char *heartbeat_read(struct heartbeat *h, uint64_t *since_ns);

#endif
