/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notify.h - the service manager's readiness protocol (sd_notify(3))
 */
#ifndef CPI_SERVICE_NOTIFY_H
#define CPI_SERVICE_NOTIFY_H

#include <stdint.h>

/*
 * Sends lines "NAME=value" ("READY=1", "STOPPING=1", "STATUS=…") to the socket
 * that $NOTIFY_SOCKET names. Returns 0, also when no manager asked to be told,
 * or -errno.
 */
int notify_send(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Tells that a reload begins; "READY=1" tells its end. As notify_send(). */
int notify_reloading(void);

/*
 * How long the manager waits for WATCHDOG=1 before it takes this process for dead
 * ($WATCHDOG_USEC, where $WATCHDOG_PID is this process or unset); 0: it does not wait.
 */
uint64_t notify_watchdog_ns(void);

#endif
