/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * signals.h - the signals that end a service
 */
#ifndef CPI_SIGNALS_H
#define CPI_SIGNALS_H

/*
 * SIGINT and SIGTERM are blocked from now on. Returns a signalfd to read them from,
 * with O_NONBLOCK, the caller's; or -errno. SIGPIPE is ignored: writers see EPIPE. Call
 * it once, before threads.
 */
int signals_open(void);

#endif
