/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * openfiles.h - the files that a worker keeps open for a while (timed_child.h)
 *
 * A file that was identified is usually needed again soon, for its code, its
 * symbols and its unwind tables. By then it may have been deleted. It is kept
 * open only for a short time, because its file system cannot be unmounted while
 * it is open.
 *
 * Closing a descriptor waits for the file system (FUSE's FLUSH), which may never
 * answer. The time of close() is charged to the process that caused it, so the
 * worker closes the file before it answers. A copy stays inside a socket
 * (fdpass.h). Closing that socket never blocks.
 */
#ifndef CPI_DAEMON_OPENFILES_H
#define CPI_DAEMON_OPENFILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define OPENFILES_MAX 96
#define OPENFILES_NS  20000000000ULL /* since the last use */

/*
 * Identifies a file and its contents: if size or mtime differ, the contents may
 * differ.
 */
struct file_identity {
	uint64_t device, inode, size, mtime_ns;
};

struct file_identity file_identity_of(const struct stat *st);
bool file_identity_same(const struct file_identity *a, const struct file_identity *b);

struct openfiles;

struct openfiles *openfiles_new(void); /* NULL when out of memory */
void openfiles_free(struct openfiles *o);

/*
 * Returns a descriptor of the kept file if it is unchanged; the caller owns it.
 * Otherwise returns -errno.
 */
int openfiles_find(struct openfiles *o, const struct file_identity *id);

/*
 * Keeps the file open. If no slot is free, it replaces the least recently used
 * file. On failure nothing is kept. fd stays the caller's.
 */
void openfiles_keep(struct openfiles *o, const struct file_identity *id, int fd);

/* Closes what was not used for OPENFILES_NS. Returns how many are left. */
int openfiles_prune(struct openfiles *o);

#endif
