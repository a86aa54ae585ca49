/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procowner.h - whose a process is
 */
#ifndef CPI_DAEMON_PROCOWNER_H
#define CPI_DAEMON_PROCOWNER_H

#include <stdint.h>

/*
 * The user id that a process has now, as the initial namespace numbers it. One look at
 * /proc/PID, which takes none of the process's locks and so never waits for it. 0, or
 * -errno: it is gone.
 */
int procowner_uid(uint32_t tgid, uint32_t *uid);

#endif
