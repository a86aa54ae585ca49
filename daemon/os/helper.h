/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper.h - our helper programs, which parse untrusted input for the daemon
 *
 * A helper's standard input is its socket. It exits when the socket is closed.
 */
#ifndef CPI_DAEMON_HELPER_H
#define CPI_DAEMON_HELPER_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts a helper by name, from this program's directory or from the installed
 * one. The helper's first action is to drop the privileges that it inherited. It
 * inherits no descriptor but the socket, not even those that this process
 * inherited itself. Returns -EPERM if this process is root without CAP_SETUID or
 * CAP_SETGID, because the helper could then not stop being root; -ENOENT if the
 * helper is not installed; or another -errno. The caller watches the socket, a
 * SOCK_SEQPACKET.
 */
int helper_start(const char *name, pid_t *pid, int *socket);

/* Whether helper_start() would find it. */
bool helper_is_installed(const char *name);

/*
 * Stops the helper and waits for its end (at most 4 s). Sets *pid to 0. Does
 * nothing if *pid is 0.
 */
void helper_stop(pid_t *pid, int *socket);

#endif
