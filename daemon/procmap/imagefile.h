/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * imagefile.h - the file of an image, as a timed child finds and reads it
 *
 * The file of a mapping is another's: its path is below the root of a process that
 * nobody trusts, on a file system that may not answer. So it is opened, hashed, read
 * and closed by the worker of timed_child.h; here is only what came of it. The worker
 * keeps the last ones open (openfiles.h).
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

/* Where it is, and what it was when it was identified. A question begins with it. */
struct imagefile {
	uint64_t device, inode; /* of the mapping, as the kernel reported it */
	struct file_identity identity;
	pid_t tgid;       /* a process that has it mapped; 0: none is known */
	pid_t place_tgid; /* below this process's root it has its name; 0: here */
	bool has_place;   /* it was found by its name */
	bool is_known;    /* identity is valid, and what is opened has to have it */
	char name[PATH_MAX];
};

/* What it says of itself. */
struct imagefile_found {
	struct elfid id;
	struct stat st;
	bool has_name; /* it was found by it, in place_tgid's root; 0: here */
	pid_t place_tgid;
};

/*
 * Finds the file that was mapped: by its name as tgid sees it, as we do, or through the
 * mapping. Reads what it is. 0 or -errno, as timed_child_ask() and elfid_read().
 */
int imagefile_identify(struct timed_child *a, const struct imagefile *f,
		       struct imagefile_found *out);

/* Reads at most size bytes (64 KiB) at an offset. How many there are, or -errno. */
ssize_t imagefile_read(struct timed_child *a, const struct imagefile *f, uint64_t at,
		       void *to, size_t size);

/*
 * A socket with the open file's descriptor in it (fdpass_unwrap()), for the caller to
 * pass on and close, or -errno. With tgid also a file that has no name.
 */
int imagefile_wrap(struct timed_child *a, const struct imagefile *f);

/* Whether it is at its place, unchanged, for us: it will probably stay. */
bool imagefile_stays(struct timed_child *a, const struct imagefile *f);

/* What is at its place now, below whoever's root. 0 or -errno. */
int imagefile_look(struct timed_child *a, const struct imagefile *f, struct stat *st);

/* Lets the worker close what it has kept for long. */
void imagefile_prune(struct timed_child *a);

/* The user who alone may have written a file; -1 where others may, too. */
int64_t imagefile_author(const struct stat *st);

/* In the worker: opens it as above. A descriptor, the caller's, or -errno. */
int imagefile_open(struct openfiles *files, const struct imagefile *f);

#endif
