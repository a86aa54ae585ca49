/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * syscallfilter.h - the only system calls that a process may still make
 */
#ifndef CPI_BASE_SYSCALLFILTER_H
#define CPI_BASE_SYSCALLFILTER_H

#include <stdbool.h>

#define SYSCALL_FILTER_MAX 64

/*
 * From now on every system call that is not in allowed[0..nr) fails with EPERM, so that
 * libraries which try an optional file go on; with opens, openat() of files that are
 * only read is allowed, too. For good, and for children. Needs PR_SET_NO_NEW_PRIVS or
 * CAP_SYS_ADMIN. Returns 0, -E2BIG (more than SYSCALL_FILTER_MAX) or -errno.
 */
int syscall_filter_set(const int *allowed, int nr, bool opens);

#endif
