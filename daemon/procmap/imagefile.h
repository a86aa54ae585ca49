/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagefile.h - finds and reads the file of an image, in a child with a deadline
 *
 * The file of a mapping cannot be trusted: its path is below the root of an arbitrary
 * process, and its file system may not answer. So a child process with a deadline, a
 * worker of timed_child.h, opens, hashes, reads and closes it, and the daemon only gets
 * the results. The worker keeps recently used files open (openfiles.h).
 */
#ifndef CPI_DAEMON_IMAGEFILE_H
#define CPI_DAEMON_IMAGEFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "daemon/os/openfiles.h"
#include "daemon/os/timed_child.h"
#include "decode/elfid.h"

/*
 * Where the file is, and the device, inode, size and mtime that it had when it was
 * identified. Each request to the worker contains one of these.
 */
struct imagefile {
	uint64_t device, inode; /* of the mapping, as the kernel reported it */
	struct file_identity identity;
	pid_t tgid; /* a process that maps the file; 0: none is known */
	/* the name is below the root of this process; 0: below ours */
	pid_t place_tgid;
	bool has_place; /* the file was found by its name */
	bool is_known;  /* identity is valid; a file with another one is not opened */
	char name[PATH_MAX];
};

/* The result of imagefile_identify(). */
struct imagefile_found {
	struct elfid id;
	struct stat st;
	/* it was found by its name below the root of place_tgid; 0: ours */
	bool has_name;
	pid_t place_tgid;
};

/*
 * Finds the file that was mapped: by its name below tgid's root, by its name below our
 * root, or through the mapping itself. Reads its build id and hash. Returns 0, or
 * -errno as timed_child_ask() and elfid_read().
 */
int imagefile_identify(struct timed_child *a, const struct imagefile *f,
		       struct imagefile_found *out);

/*
 * Reads at most size bytes (at most 64 KiB) at an offset. Returns how many were read,
 * or -errno.
 */
ssize_t imagefile_read(struct timed_child *a, const struct imagefile *f, uint64_t at,
		       void *to, size_t size);

/*
 * Returns a socket that contains a descriptor of the open file (fdpass_unwrap()), or
 * -errno. The caller passes the socket on and closes it. If f->tgid is set, this also
 * works for a file without a name.
 */
int imagefile_wrap(struct timed_child *a, const struct imagefile *f);

/*
 * Whether the name below our own root still leads to the unchanged file. Then the file
 * will probably still exist when the process or container has ended.
 */
bool imagefile_stays(struct timed_child *a, const struct imagefile *f);

/*
 * Gets the status of the file that now has the name, below the root of place_tgid.
 * Returns 0 or -errno.
 */
int imagefile_look(struct timed_child *a, const struct imagefile *f, struct stat *st);

/* Lets the worker close files that it has kept open for too long. */
void imagefile_prune(struct timed_child *a);

/* Returns the only user who can write the file; -1 if others can, too. */
int64_t imagefile_author(const struct stat *st);

/*
 * Only for the worker: opens the file as imagefile_wrap() does. Returns a descriptor
 * that the caller closes, or -errno.
 */
int imagefile_open(struct openfiles *files, const struct imagefile *f);

#endif
