/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procroot.h - files as another process sees them, and its owner
 *
 * These functions open regular files only, in the process's mount namespace and
 * below its root directory, and follow no symbolic link. Opening may block for
 * ever, so call them in a timed child (timed_child.h). Exception: procroot_peek()
 * with tgid 0 may be called directly, where procroot_can_peek().
 *
 * tgid 0 is this process here.
 */
#ifndef CPI_DAEMON_PROCROOT_H
#define CPI_DAEMON_PROCROOT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* Opens an absolute path of tgid's for reading. A descriptor, or -errno. */
int procroot_open(pid_t tgid, const char *path, struct stat *st);

/*
 * Opens a file by its inode, if tgid executes or maps it, even if it was deleted
 * or never had a name. device is the kernel's number for it, as in
 * /proc/PID/maps; of an executable on an overlay also the number that the file below
 * has. Returns a descriptor or -errno. For a file that is mapped but
 * is not the process's executable, the caller needs CAP_CHECKPOINT_RESTORE.
 */
int procroot_open_mapped(pid_t tgid, dev_t device, ino_t inode, struct stat *st);

/*
 * Opens the regular file behind descriptor fd of process tgid; the process must
 * have it open for reading. A descriptor, or -errno: -EACCES where it is open for
 * something else.
 */
int procroot_open_descriptor(pid_t tgid, int fd, struct stat *st);

/* Whether "/" is the same directory for the process and for us. */
bool procroot_is_ours(pid_t tgid);

/*
 * Gets the status of the file at a path, using only metadata that the kernel has
 * cached, as it has for files in use, so no file system is asked. Returns 0,
 * -EAGAIN if the file system would have to be asked, or another -errno. (The path
 * lookup may block unless procroot_can_peek().)
 */
int procroot_peek(pid_t tgid, const char *path, struct stat *st);

/*
 * Whether the kernel can tell what is in memory: since Linux 5.12, where no filter of
 * system calls denies openat2().
 */
bool procroot_can_peek(void);

/*
 * Gets the effective user id of a process, as numbered in the initial user
 * namespace. It only stats /proc/PID, which takes no lock of the process and so
 * cannot block. Returns 0, or -errno if the process is gone.
 */
int procowner_uid(uint32_t tgid, uint32_t *uid);

#endif
