/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_files.c - how a worker that may open nothing gets debug files
 *
 * cpi-capture is linked with this file_open_regular() in place of base/file_open.c's.
 * The worker sends the path. A child of the server opens the file, if capture_open.c
 * allows it, and sends the descriptor. A file system that does not answer stops only
 * that child; the worker waits until its time is over.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fdpass.h"
#include "base/file.h"
#include "helpers/capture.h"

/* The descriptor of an answer, or its error. */
static int take_answer(int socket)
{
	int answer = -EPROTO, fd;
	const int nr = fdpass_take(socket, &answer, sizeof(answer), &fd, 1);

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

/*
 * Runs in the child. While it may block, it holds no descriptor whose closing
 * another process waits for.
 */
static _Noreturn void answer(int socket, int64_t author, const char *path)
{
	const int own = dup2(socket, CAPTURE_FD_REQUEST);
	int fd, err;

	if (own < 0 || dup2(STDOUT_FILENO, STDIN_FILENO) < 0)
		_exit(EXIT_FAILURE);
	closefrom(own + 1);
	fd = capture_open(path, author);
	err = fd < 0 ? fd : 0;
	fdpass_send(own, &err, sizeof(err), &fd, fd >= 0);
	_exit(EXIT_SUCCESS);
}

/* Takes the question before the fork, so that a later child cannot receive it again. */
int capture_answer(int socket, int64_t author, bool may_open)
{
	char path[PATH_MAX];
	const ssize_t size = recv(socket, path, sizeof(path) - 1, 0);
	int err = -EBUSY;

	if (size <= 0)
		return size < 0 ? -errno : -EPIPE;
	path[size] = '\0';
	if (may_open) {
		const pid_t child = fork();

		if (child == 0)
			answer(socket, author, path);
		if (child > 0)
			return child;
		err = -errno;
	}
	return fdpass_send(socket, &err, sizeof(err), NULL, 0);
}
