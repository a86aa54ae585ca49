/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.h - the signals that ask a service for something, as a descriptor
 */
#ifndef CPI_SERVICE_SIGNALS_H
#define CPI_SERVICE_SIGNALS_H

enum signals_wish {
	SIGNALS_NONE,
	SIGNALS_RELOAD, /* SIGHUP: options are to be read again */
	SIGNALS_END,    /* SIGINT or SIGTERM; comes before a reload */
};

/*
 * Blocks SIGINT, SIGTERM and SIGHUP, which the descriptor tells of by being readable,
 * and ignores SIGPIPE. A descriptor, or -errno.
 */
int signals_open(void);

/* What they ask for, once. */
enum signals_wish signals_take(int fd);

#endif
