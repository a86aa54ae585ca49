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
 * Gives up every capability but those that sampling goes on to need, as far as
 * they are there (cpid(8), "PRIVILEGES"), for good: nothing that this process
 * executes gets more. Harmless for who has none. The cause of a failure is
 * logged. Returns 0 or -errno.
 */
int privileges_drop(void);

/* The same of a process that does nothing but read what is others': 0 or -errno. */
int privileges_keep_reading(void);

/*
 * Gives up every capability of the calling thread, which no other thread's depend on.
 * Returns 0 or -errno.
 */
int privileges_give_up_all(void);

#endif
