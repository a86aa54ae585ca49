/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_files.c - how a process that may open nothing gets debug files
 *
 * In cpi-capture file_open_regular() is this one, not base/file_open.c's: the worker
 * sends the path, a child of the server opens the file and sends the descriptor. What
 * may be had so is little: a regular file that everybody may read (the server is
 * nobody), below the debug files' root or named as debug files are. A file system that
 * does not answer stops that child alone; the worker waits until its time is over.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/debugfile.h"
#include "base/file.h"
#include "base/passing.h"
#include "tools/capture.h"

/* The descriptor of an answer, or its error. */
static int take_answer(int socket)
{
	int answer = -EPROTO, fd;
	const int nr = passing_take(socket, &answer, sizeof(answer), &fd, 1);

	if (nr == 1)
		return fd;
	return !nr && answer < 0 ? answer : -EPROTO;
}

int file_open_regular(int dirfd, const char *path, struct stat *st)
{
	struct iovec iov = { (char *)path, strlen(path) + 1 };
	const struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	int fd;

	if (sendmsg(CAPTURE_FD_ASK, &msg, MSG_NOSIGNAL) < 0)
		return -errno;
	fd = take_answer(CAPTURE_FD_ASK);
	return fd < 0 ? fd : file_keep_regular(fd, st);
}

static bool is_below_root(const char *path)
{
	return strncmp(path, DEBUGFILE_ROOT "/", sizeof(DEBUGFILE_ROOT)) == 0;
}

static bool is_debug_name(const char *path)
{
	static const char *const suffixes[] = { ".debug", ".dwo", ".dwp", ".dwz" };
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strcmp(dot, suffixes[i]) == 0)
			return true;
	return false;
}

static bool is_elf(int fd)
{
	char magic[SELFMAG];

	return !file_pread(fd, magic, SELFMAG, 0) && !memcmp(magic, ELFMAG, SELFMAG);
}

/* Distributions make symlinks below root, which is root's: those are followed. */
static int open_allowed(const char *path)
{
	char *real = NULL;
	int fd;

	if (path[0] != '/' || strstr(path, "/../"))
		return -EPERM;
	if (is_below_root(path))
		real = realpath(path, NULL);
	else if (!is_debug_name(path))
		return -EPERM;
	fd = open(real ? real : path, FILE_OPEN_FLAGS);
	free(real);
	if (fd < 0)
		return -errno;
	fd = file_keep_regular(fd, NULL);
	if (fd < 0 || is_elf(fd))
		return fd;
	close(fd);
	return -EPERM;
}

/* While it waits it holds nothing whose end somebody else waits for. */
static _Noreturn void answer(int socket, const char *path)
{
	const int own = dup2(socket, CAPTURE_FD_REQUEST);
	int fd, err;

	if (own < 0)
		_exit(EXIT_FAILURE);
	closefrom(own + 1);
	fd = open_allowed(path);
	err = fd < 0 ? fd : 0;
	passing_send(own, &err, sizeof(err), &fd, fd >= 0);
	_exit(EXIT_SUCCESS);
}

/* What was sent is taken before the fork: the next question is another child's. */
int capture_answer(int socket)
{
	char path[PATH_MAX];
	const ssize_t size = recv(socket, path, sizeof(path) - 1, 0);
	pid_t child;
	int err;

	if (size <= 0)
		return size < 0 ? -errno : -EPIPE;
	path[size] = '\0';
	child = fork();
	if (child == 0)
		answer(socket, path);
	if (child > 0)
		return child;
	err = -errno;
	return passing_send(socket, &err, sizeof(err), NULL, 0);
}
