/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.h - the signals that end a service
 */
#ifndef CPI_SIGNALS_H
#define CPI_SIGNALS_H

/*
 * SIGINT and SIGTERM are blocked from now on, and readable from the descriptor that comes
 * back: a signalfd, O_NONBLOCK, the caller's. SIGPIPE is ignored: writers see EPIPE.
 * -errno. Call it once, before threads.
 */
int signals_open(void);

#endif
