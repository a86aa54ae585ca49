/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procroot.h - files as another process sees them
 *
 * In its mount namespace and below its root directory, through no link, regular
 * files only, and only from file systems whose answers the kernel gives itself: one
 * that a program answers for (FUSE), or a network, could hold the caller for ever.
 * So could an overlay that was mounted without privileges, for what is below it.
 *
 * tgid 0 is this process here.
 */
#ifndef CPI_DAEMON_PROCROOT_H
#define CPI_DAEMON_PROCROOT_H

#include <sys/stat.h>
#include <sys/types.h>

enum procroot_caution {
	PROCROOT_NEVER_WAIT, /* -EREMOTE for what might not answer */
	PROCROOT_MAY_WAIT,   /* for a process apart (apart.h) */
};

/* Opens an absolute path of tgid's for reading. A descriptor, or -errno. */
int procroot_open(pid_t tgid, const char *path, enum procroot_caution caution,
		  struct stat *st);

/*
 * Opens a file that tgid runs or has mapped, by its inode: also one whose name is gone,
 * or that never had one. device is the kernel's number for it, as in /proc/PID/maps. A
 * descriptor, or -errno: what a process maps, but does not run, needs
 * CAP_CHECKPOINT_RESTORE.
 */
int procroot_open_mapped(pid_t tgid, dev_t device, ino_t inode,
			 enum procroot_caution caution, struct stat *st);

/*
 * What is at a path, as far as that is in memory, as it is where a file is in use:
 * nobody is asked. 0; or -errno, -EAGAIN when somebody would have to be.
 */
int procroot_peek(pid_t tgid, const char *path, struct stat *st);

#endif
