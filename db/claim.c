/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"

static int in_use(const char *path, int fd)
{
	char pid[32];
	ssize_t n = pread(fd, pid, sizeof(pid) - 1, 0);

	pid[n > 0 ? n : 0] = '\0';
	log_err("db: %s: process %ld collects into it already: "
		"stop that one, or name another file",
		path, strtol(pid, NULL, 10));
	return -CPI_EINUSE;
}

int claim_take(const char *path, int *out)
{
	const int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	char *name = NULL;
	int fd, err = 0;

	if (asprintf(&name, "%s-lock", path) < 0)
		return -ENOMEM;
	fd = open(name, flags, 0640);
	if (fd < 0) {
		err = -errno;
		log_err("db: %s: %s: may this user write in its folder?", name,
			err_str(err));
		goto out;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err = errno == EWOULDBLOCK ? in_use(path, fd) : -errno;
		goto out;
	}
	/* The pid is for messages only: on a full disk the claim stands as well. */
	if (ftruncate(fd, 0) < 0 || dprintf(fd, "%ld\n", (long)getpid()) < 0)
		log_warn("db: %s: %s", name, err_str(-errno));
	*out = fd;
	fd = -1;
out:
	if (fd >= 0)
		close(fd);
	free(name);
	return err;
}
