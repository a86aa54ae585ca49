/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * openfiles.h - the files that a worker keeps open for a while (timed_child.h)
 *
 * A file that was hashed is wanted again soon: for its code, to be captured, for its
 * unwind tables. It may have lost its name by then. It is not kept for long: as long as
 * it is, its file system cannot be unmounted.
 *
 * Closing a descriptor waits for the file system (FUSE's FLUSH), which may never
 * answer. Who wants a file has to pay for that, so it is closed before he is answered,
 * and kept within a socket (fdpass.h), which can be closed at any time: that waits for
 * nobody.
 */
#ifndef CPI_DAEMON_OPENFILES_H
#define CPI_DAEMON_OPENFILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#define OPENFILES_MAX 96
#define OPENFILES_NS  20000000000ULL /* since the last use */

/* What a file is known by; another time or size is another content. */
struct file_identity {
	uint64_t device, inode, size, mtime_ns;
};

struct file_identity file_identity_of(const struct stat *st);
bool file_identity_same(const struct file_identity *a, const struct file_identity *b);

struct openfiles;

struct openfiles *openfiles_new(void); /* NULL when out of memory */
void openfiles_free(struct openfiles *o);

/* A file that is still what it was: a descriptor, the caller's. Or -errno. */
int openfiles_find(struct openfiles *o, const struct file_identity *id);

/*
 * Keeps the file open, in place of the one that was used least lately, unless that
 * fails. fd stays the caller's.
 */
void openfiles_keep(struct openfiles *o, const struct file_identity *id, int fd);

/* Closes what was not used for OPENFILES_NS. Returns how many are left. */
int openfiles_prune(struct openfiles *o);

#endif
