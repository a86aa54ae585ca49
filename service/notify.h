/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notify.h - the service manager's readiness protocol (sd_notify(3))
 */
#ifndef CPI_SERVICE_NOTIFY_H
#define CPI_SERVICE_NOTIFY_H

#include <stdint.h>

/*
 * Sends lines "NAME=value" ("READY=1", "STOPPING=1", "STATUS=…") to the socket that
 * $NOTIFY_SOCKET names. Returns 0, also if $NOTIFY_SOCKET is not set, or -errno.
 */
int notify_send(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Notifies the manager that a reload begins; "READY=1" notifies it of the end. Returns
 * as notify_send().
 */
int notify_reloading(void);

/*
 * After how long without WATCHDOG=1 the manager restarts this process ($WATCHDOG_USEC,
 * if $WATCHDOG_PID is this process or unset); 0: never.
 */
uint64_t notify_watchdog_ns(void);

#endif
