/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper.h - programs of ours that read for the collector what may be anything
 *
 * A helper ends when its socket, its standard input, does.
 */
#ifndef CPI_DAEMON_HELPER_H
#define CPI_DAEMON_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts one by its name: from beside this program, or from where it is installed. It
 * begins with giving up this process's privileges, and has no descriptor of it but the
 * socket, also where this process itself was given some. -EPERM where it would keep
 * root's rights, for this process can no longer give them up; -ENOENT when it is not
 * installed; -errno. The caller watches the socket, a SOCK_SEQPACKET.
 */
int helper_start(const char *name, pid_t *pid, int *socket);

/* Whether helper_start() would find it. */
bool helper_is_installed(const char *name);

/* Ends it, and waits for that; harmless when *pid is 0, which it is then. */
void helper_stop(pid_t *pid, int *socket);

#endif
