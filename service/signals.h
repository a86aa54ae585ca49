/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.h - receives the signals for a service through a descriptor
 */
#ifndef CPI_SERVICE_SIGNALS_H
#define CPI_SERVICE_SIGNALS_H

enum signals_request {
	SIGNALS_NONE,
	SIGNALS_RELOAD, /* SIGHUP: read the options again */
	SIGNALS_END,    /* SIGINT or SIGTERM; a SIGHUP beside it is dropped */
};

/*
 * Blocks SIGINT, SIGTERM and SIGHUP, and ignores SIGPIPE and SIGXFSZ. Returns a
 * descriptor that becomes readable when one of the three arrives, or -errno.
 */
int signals_open(void);

/* Returns the request of the signals that have arrived, once. */
enum signals_request signals_take(int fd);

#endif
