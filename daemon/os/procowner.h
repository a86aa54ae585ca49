/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procowner.h - the user that owns a process
 */
#ifndef CPI_DAEMON_PROCOWNER_H
#define CPI_DAEMON_PROCOWNER_H

#include <stdint.h>

/*
 * Gets the effective user id of a process, as numbered in the initial user
 * namespace. It only stats /proc/PID, which takes no lock of the process and so
 * cannot block. Returns 0, or -errno if the process is gone.
 */
int procowner_uid(uint32_t tgid, uint32_t *uid);

#endif
