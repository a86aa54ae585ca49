/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procroot.h - files as another process sees them
 *
 * In its mount namespace and below its root directory, through no link, regular
 * files only, and only from file systems whose answers the kernel gives itself: one
 * that a program answers for (FUSE), or a network, could hold the caller for ever.
 */
#ifndef CPI_DAEMON_PROCROOT_H
#define CPI_DAEMON_PROCROOT_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

/*
 * Opens an absolute path of tgid's for reading; tgid 0: as this process sees it. A
 * descriptor, or -errno: -EREMOTE for file systems that might not answer.
 */
int procroot_open(pid_t tgid, const char *path, struct stat *st);

/*
 * Opens a file that tgid runs or has mapped, by its inode: also one whose name is gone,
 * or that never had one. device is the kernel's number for it, as in /proc/PID/maps. A
 * descriptor, or -errno: what a process maps, but does not run, needs
 * CAP_CHECKPOINT_RESTORE.
 */
int procroot_open_mapped(pid_t tgid, dev_t device, ino_t inode, struct stat *st);

/*
 * Whether a path lies on such a file system, by the text of /proc/PID/mountinfo: a
 * mount that is covered by another counts as well.
 */
bool procroot_is_remote(const char *mountinfo, const char *path);

#endif
