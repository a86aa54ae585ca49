/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * privileges.h - what cpid may do, and giving up the rest
 */
#ifndef CPI_DAEMON_PRIVILEGES_H
#define CPI_DAEMON_PRIVILEGES_H

#include <stdbool.h>

/* Whether the capability (CAP_PERFMON, …) is effective now. */
bool privileges_have(int cap);

/*
 * Becomes user, with its groups, and keeps the capabilities: called by root
 * before it creates files. The cause of a failure is logged. Returns 0 or
 * -errno.
 */
int privileges_become(const char *user);

/*
 * Drops permanently all capabilities except those that sampling still needs
 * (cpid(8), "PRIVILEGES"). Programs that this process executes cannot regain any.
 * First raises the limit of locked memory as far as the process may; if it has no
 * capabilities, it does nothing else. The cause of a failure is logged. Returns 0 or
 * -errno.
 */
int privileges_drop(void);

/*
 * The same for a process that only reads files of other users. Returns 0 or
 * -errno.
 */
int privileges_keep_reading(void);

/*
 * Drops all capabilities of the calling thread. Other threads keep theirs.
 * Returns 0 or -errno.
 */
int privileges_give_up_all(void);

#endif
