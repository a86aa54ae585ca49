/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procroot.h - files as another process sees them
 *
 * In its mount namespace and below its root directory, through no link, regular files
 * only. Whoever opens one may wait for ever: so this is for a timed child
 * (timed_child.h), all but procroot_peek() of a file here.
 *
 * tgid 0 is this process here.
 */
#ifndef CPI_DAEMON_PROCROOT_H
#define CPI_DAEMON_PROCROOT_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens an absolute path of tgid's for reading. A descriptor, or -errno. */
int procroot_open(pid_t tgid, const char *path, struct stat *st);

/*
 * Opens a file that tgid runs or has mapped, by its inode: also one whose name is gone,
 * or that never had one. device is the kernel's number for it, as in /proc/PID/maps. A
 * descriptor, or -errno: what a process maps, but does not run, needs
 * CAP_CHECKPOINT_RESTORE.
 */
int procroot_open_mapped(pid_t tgid, dev_t device, ino_t inode, struct stat *st);

/*
 * Opens the regular file that a process has open for reading, by its descriptor there.
 * A descriptor, or -errno: -EACCES where it is open for something else.
 */
int procroot_open_descriptor(pid_t tgid, int fd, struct stat *st);

/* Whether "/" is the same directory for the process and for us. */
bool procroot_is_ours(pid_t tgid);

/*
 * What is at a path, as far as that is in memory, as it is where a file is in use:
 * nobody is asked. 0; or -errno, -EAGAIN when somebody would have to be.
 */
int procroot_peek(pid_t tgid, const char *path, struct stat *st);

/* Whether the kernel can tell what is in memory (since Linux 5.12). */
bool procroot_can_peek(void);

#endif
