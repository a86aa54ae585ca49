/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * claim.c - takes the two locks that make a process the only collector of a database
 *
 * 	take_path()  flock() on DATABASE-lock; the id of the process is written into it
 * 	take_file()  a lock on one byte of the database, by its open file description
 *
 * The second lock detects a collector that uses the same file by another name. Some
 * file systems have no such locks; there only the first lock is used.
 */
#include "config.h"

#include "db/core/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "db/core/lockholder.h"

/* An arbitrary offset above SQLite's lock bytes, which end at 0x400001ff. */
#define CLAIM_BYTE 0x43504931

#define SEARCH_NS (2 * NSEC_PER_SEC) /* for finding the process that holds a lock */

/*
 * Returns the process that wrote its id into the lock file, if it lives; 0 if not
 * known.
 */
static pid_t noted_pid(int fd)
{
	char text[32];
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	pid_t pid;

	text[n > 0 ? n : 0] = '\0';
	pid = (pid_t)strtol(text, NULL, 10);
	return pid > 0 && (!kill(pid, 0) || errno == EPERM) ? pid : 0;
}

static int in_use(const char *path, const char *how, pid_t pid)
{
	char name[LOCKHOLDER_NAME_SIZE];

	if (pid)
		log_err("db: %s: process %d (%s) %s: stop that one, or name another "
			"file",
			path, (int)pid, lockholder_name(pid, name), how);
	else
		log_err("db: %s: another process %s: stop that one, or name another "
			"file",
			path, how);
	return -CPI_EINUSE;
}

/*
 * Logs that the path is claimed. If looks is set, finds the process that holds the
 * lock; a process that collects does not, because this may take long.
 */
static int path_in_use(const char *path, int fd, bool looks)
{
	struct lockholder_query q = { .kinds = "FLOCK", .max_ns = SEARCH_NS };
	struct stat st;
	pid_t pid = 0;

	if (looks && !fstat(fd, &st)) {
		q.inode = st.st_ino;
		pid = lockholder_find(&q);
	}
	if (looks && !pid)
		pid = noted_pid(fd);
	return in_use(path, "has claimed it already", pid);
}

static bool same_file(int a, int b)
{
	struct stat x, y;

	return !fstat(a, &x) && !fstat(b, &y) && file_same(&x, &y);
}

/*
 * Opens the lock file with mode 0600, so that readers cannot open it. Files of older
 * versions get this mode, too.
 */
static int open_lock_file(const char *name)
{
	const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	int fd = open(name, flags, 0600);

	if (fd < 0)
		return -errno;
	if (fchmod(fd, 0600) < 0)
		log_debug("db: %s: %s", name, err_str(-errno));
	return fd;
}

/*
 * Whether fd is still the file at name: it may have been deleted (claim_end()) before
 * it was locked.
 */
static bool is_at(int fd, const char *name)
{
	struct stat x, y;

	return !fstat(fd, &x) && !lstat(name, &y) && file_same(&x, &y);
}

/* Makes one attempt to claim the path. Returns -ESTALE if it must be tried again. */
static int try_path(const char *path, const struct claim *held, int *out)
{
	char *name = NULL;
	int fd, err = 0;

	if (asprintf(&name, "%s-lock", path) < 0)
		return -ENOMEM;
	fd = open_lock_file(name);
	if (fd < 0) {
		err = fd;
		log_err("db: %s: %s: may this user write in its folder?", name,
			err_str(err));
		goto out;
	}
	if (held && held->path_fd >= 0 && same_file(fd, held->path_fd)) {
		close(fd);
		/* the copy shares the lock */
		fd = fcntl(held->path_fd, F_DUPFD_CLOEXEC, 0);
		err = fd < 0 ? -errno : 0;
		if (err)
			log_err("db: %s: %s", name, err_str(err));
		goto out;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err = -errno;
		if (err == -EWOULDBLOCK)
			err = path_in_use(path, fd, !held);
		else
			log_err("db: %s: cannot be locked: %s: put the database on a "
				"local file system",
				name, err_str(err));
		goto out;
	}
	if (!is_at(fd, name)) {
		err = -ESTALE;
		goto out;
	}
	/*
	 * The pid is only for messages, so the claim is valid even if it cannot be
	 * written.
	 */
	if (ftruncate(fd, 0) < 0 || dprintf(fd, "%ld\n", (long)getpid()) < 0)
		log_warn("db: %s: %s", name, err_str(-errno));
out:
	if (err && fd >= 0)
		close(fd);
	if (!err)
		*out = fd;
	free(name);
	return err;
}

static int take_path(const char *path, const struct claim *held, int *out)
{
	int err;

	do {
		err = try_path(path, held, out);
	} while (err == -ESTALE);
	return err;
}

static struct flock byte_lock(short type)
{
	return (struct flock){
		.l_type = type, .l_whence = SEEK_SET, .l_start = CLAIM_BYTE, .l_len = 1
	};
}

static pid_t file_holder(int fd, bool write_only, bool looks)
{
	struct lockholder_query q = { .kinds = "OFDLCK POSIX",
				      .byte = CLAIM_BYTE,
				      .write_only = write_only,
				      .max_ns = SEARCH_NS };
	struct stat st;

	if (!looks || fstat(fd, &st))
		return 0;
	q.inode = st.st_ino;
	return lockholder_find(&q);
}

static void warn_of_shared(const char *path, pid_t pid)
{
	char who[32] = "another process";

	if (pid)
		snprintf(who, sizeof(who), "process %d", (int)pid);
	log_warn("db: %s: %s holds a shared lock on it: a second collector by another "
		 "name would not be noticed",
		 path, who);
}

/*
 * Called if the lock is held. If even a shared lock is refused, a collector holds it.
 */
static int lock_refused(const char *path, int fd, bool looks)
{
	struct flock lock = byte_lock(F_RDLCK);

	if (fcntl(fd, F_OFD_GETLK, &lock) < 0) {
		const int err = -errno;

		log_err("db: %s: cannot be locked: %s", path, err_str(err));
		return err;
	}
	if (lock.l_type != F_UNLCK)
		return in_use(path, "collects into the same file by another name",
			      file_holder(fd, true, looks));
	warn_of_shared(path, file_holder(fd, false, looks));
	return 0;
}

static int take_file(const char *path, bool looks, int *out)
{
	struct flock lock = byte_lock(F_WRLCK);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	int err = 0;

	if (fd < 0) {
		err = -errno;
		log_err("db: %s: %s: be its owner to write it", path, err_str(err));
		return err;
	}
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		if (errno == EAGAIN || errno == EACCES)
			err = lock_refused(path, fd, looks);
		else /* the file system has no such locks */
			log_debug("db: %s: %s", path, err_str(-errno));
	}
	if (err)
		close(fd);
	else
		*out = fd;
	return err;
}

int claim_take(const char *path, const struct claim *held, struct claim *out)
{
	struct claim c = CLAIM_NONE;
	int err = take_path(path, held, &c.path_fd);

	if (!err)
		err = take_file(path, !held, &c.file_fd);
	if (err)
		claim_drop(&c);
	else
		*out = c;
	return err;
}

void claim_drop(struct claim *c)
{
	if (c->file_fd >= 0)
		close(c->file_fd);
	if (c->path_fd >= 0)
		close(c->path_fd);
	*c = CLAIM_NONE;
}

pid_t claim_holder(const char *path, uint64_t max_ns)
{
	struct lockholder_query q = { .kinds = "FLOCK", .max_ns = max_ns };
	struct stat st;
	char *name;
	pid_t pid = 0;

	if (asprintf(&name, "%s-lock", path) < 0)
		return 0;
	if (!stat(name, &st)) {
		q.inode = st.st_ino;
		pid = lockholder_find(&q);
	}
	free(name);
	return pid;
}

void claim_end(struct claim *c, const char *path)
{
	char *name;

	if (c->path_fd >= 0 && asprintf(&name, "%s-lock", path) >= 0) {
		if (is_at(c->path_fd, name))
			unlink(name);
		free(name);
	}
	claim_drop(c);
}

int claim_stat(const struct claim *c, struct stat *st)
{
	if (c->file_fd < 0)
		return -EBADF;
	return fstat(c->file_fd, st) < 0 ? -errno : 0;
}
