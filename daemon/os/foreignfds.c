/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The child is double-forked, because a parent could not wait for a stuck child.
 * It holds only the socket and one end of a socket pair. When this process has
 * closed the socket, it shuts down its end of the pair; the child then exits, and
 * its copy is the last reference. When the child is gone, this process sees the
 * end of the pair.
 */
#include "config.h"

#include "daemon/os/foreignfds.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/times.h"

#ifndef SO_PASSRIGHTS /* asm-generic, which x86 and arm64 use */
#define SO_PASSRIGHTS 83
#endif

#define CONTROL_MAX 256

bool foreignfds_refuse(int socket)
{
	const int off = 0;

	return !setsockopt(socket, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof(off));
}

/*
 * MSG_PEEK installs copies of the attached descriptors, if there is room. Closing
 * the copies never drops a last reference.
 */
static bool close_attached(struct msghdr *msg)
{
	bool any = false;
	int fd;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		any = true;
		for (size_t at = CMSG_LEN(0); at + sizeof(fd) <= c->cmsg_len;
		     at += sizeof(fd)) {
			memcpy(&fd, (char *)c + at, sizeof(fd));
			close(fd);
		}
	}
	return any;
}

bool foreignfds_came(const struct foreignfds *f, int socket, size_t expected)
{
	union {
		struct cmsghdr aligned;
		char space[CONTROL_MAX];
	} control;
	struct msghdr msg = { .msg_control = expected ? &control : NULL,
			      .msg_controllen = expected };

	if (f->refused || expected > sizeof(control) ||
	    recvmsg(socket, &msg, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0)
		return false;
	return close_attached(&msg) || msg.msg_flags & MSG_CTRUNC;
}

/* Only calls that are safe after a fork() beside other threads. */
static void take_apart(int socket, int pair, bool closes)
{
	const struct itimerval end = {
		.it_value = { .tv_usec = FOREIGNFDS_PATIENCE_MS * 1000 },
	};
	struct msghdr msg = { .msg_iov = NULL };
	sigset_t none;
	char byte;

	/* In this order: the pair may be descriptor 0, the socket 1. */
	socket = dup2(dup(socket), STDERR_FILENO);
	dup2(dup(pair), STDIN_FILENO);
	close(STDOUT_FILENO);
	file_close_from(STDERR_FILENO + 1);
	sigemptyset(&none);
	signal(SIGALRM, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setitimer(ITIMER_REAL, &end, NULL);
	if (closes)
		(void)!read(STDIN_FILENO, &byte, 1);
	else
		recvmsg(socket, &msg, MSG_DONTWAIT);
	_exit(0);
}

static bool is_gone(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* Where to remember one more, or -1. */
static int find_place(struct foreignfds *f)
{
	int place = -1;

	for (int i = 0; i < FOREIGNFDS_MAX; i++) {
		int fd = f->apart[i].fd - 1;

		if (fd >= 0 && is_gone(fd)) {
			close(fd);
			f->apart[i].fd = 0;
		}
		if (!f->apart[i].fd)
			place = i;
	}
	return place;
}

/* Returns this process's end of the pair, or -errno. */
static int start(int socket, bool closes)
{
	int pair[2], status = 0, err = 0;
	pid_t child, grandchild;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	child = fork();
	if (!child) {
		grandchild = fork();
		if (!grandchild)
			take_apart(socket, pair[1], closes);
		_exit(grandchild < 0);
	}
	if (child < 0)
		err = -errno;
	close(pair[1]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status)
		err = -EAGAIN;
	if (!err)
		return pair[0];
	close(pair[0]);
	return err;
}

static int begin(struct foreignfds *f, int socket, bool closes)
{
	int place = find_place(f), fd;

	if (place < 0)
		return -EBUSY;
	fd = start(socket, closes);
	if (fd < 0)
		return fd;
	f->apart[place].fd = fd + 1;
	f->apart[place].until_ns =
		time_mono_ns() + 2 * FOREIGNFDS_PATIENCE_MS * NSEC_PER_MSEC;
	return place;
}

int foreignfds_drop(struct foreignfds *f, int socket)
{
	int place = begin(f, socket, false);

	return place < 0 ? place : 0;
}

bool foreignfds_is_dropping(struct foreignfds *f)
{
	uint64_t now_ns = time_mono_ns();

	find_place(f);
	for (int i = 0; i < FOREIGNFDS_MAX; i++) {
		if (f->apart[i].fd && now_ns < f->apart[i].until_ns)
			return true;
	}
	return false;
}

/*
 * Shuts down reading, and returns whether a message is unread. An empty message
 * looks like the end, except that its sender's credentials do not fit here
 * (MSG_CTRUNC).
 */
static bool is_unread(int socket)
{
	const int on = 1;
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t n;

	shutdown(socket, SHUT_RD);
	setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	n = recvmsg(socket, &msg, MSG_PEEK | MSG_DONTWAIT);
	return n > 0 || (!n && msg.msg_flags & MSG_CTRUNC);
}

int foreignfds_close(struct foreignfds *f, int socket)
{
	int place;

	if (!f->refused && is_unread(socket)) {
		place = begin(f, socket, true);
		if (place < 0)
			return place;
		close(socket);
		shutdown(f->apart[place].fd - 1, SHUT_WR);
		return 0;
	}
	close(socket);
	return 0;
}
