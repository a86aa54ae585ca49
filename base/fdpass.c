/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fdpass.c - sendmsg() and recvmsg() with SCM_RIGHTS
 *
 * A sender may attach descriptors that nobody expects. They would fill the receiver's
 * table, so the descriptors of every unexpected message are closed. The room for
 * descriptors is CMSG_LEN(), because CMSG_SPACE() of one has room for two.
 */
#include "config.h"

#include "base/fdpass.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr head; /* aligns */
	char bytes[CMSG_SPACE(FDPASS_MAX * sizeof(int))];
};

static int send_with(int socket, const void *data, size_t size, const int *fd, int nr,
		     int flags)
{
	struct iovec iov = { (void *)data, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union control control = { 0 };

	assert(nr <= FDPASS_MAX);
	if (nr) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(nr * sizeof(*fd));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(nr * sizeof(*fd));
		memcpy(CMSG_DATA(&control.head), fd, nr * sizeof(*fd));
	}
	return sendmsg(socket, &msg, MSG_NOSIGNAL | flags) < 0 ? -errno : 0;
}

int fdpass_send(int socket, const void *data, size_t size, const int *fd, int nr)
{
	return send_with(socket, data, size, fd, nr, MSG_DONTWAIT);
}

int fdpass_send_waiting(int socket, const void *data, size_t size, const int *fd,
			int nr)
{
	return send_with(socket, data, size, fd, nr, 0);
}

/* How many descriptors arrived; at most nr, because there is no room for more. */
static int take_fds(const struct msghdr *msg, int *fd)
{
	const struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	size_t size;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	size = c->cmsg_len - CMSG_LEN(0);
	memcpy(fd, CMSG_DATA(c), size);
	return (int)(size / sizeof(*fd));
}

int fdpass_take(int socket, void *data, size_t size, int *fd, int nr)
{
	struct iovec iov = { data, size };
	union control control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = CMSG_LEN(nr * sizeof(*fd)) };
	int got[FDPASS_MAX], nr_got;
	ssize_t n;

	assert(nr > 0 && nr <= FDPASS_MAX);
	n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	if (n < 0)
		return -errno;
	nr_got = take_fds(&msg, got);
	if (n == (ssize_t)size && !(msg.msg_flags & MSG_TRUNC) &&
	    (!nr_got || (nr_got == nr && !(msg.msg_flags & MSG_CTRUNC)))) {
		memcpy(fd, got, nr_got * sizeof(*fd));
		return nr_got;
	}
	while (nr_got)
		close(got[--nr_got]);
	return n ? -EPROTO : -EPIPE;
}

ssize_t fdpass_take_some(int socket, void *data, size_t size, int *fd, int flags)
{
	struct iovec iov = { data, size };
	union control control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = fd ? control.bytes : NULL,
			      .msg_controllen = fd ? CMSG_LEN(sizeof(*fd)) : 0 };
	int got = -1;
	ssize_t n;

	do {
		n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if (fd)
		take_fds(&msg, &got);
	if (!n || msg.msg_flags & MSG_TRUNC ||
	    (got >= 0 && msg.msg_flags & MSG_CTRUNC)) {
		if (got >= 0)
			close(got);
		return n ? -EPROTO : -EPIPE;
	}
	if (fd)
		*fd = got;
	return n;
}

int fdpass_wrap(int *other_end)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	*other_end = pair[1];
	return pair[0];
}

int fdpass_unwrap(int socket)
{
	char byte;
	int fd, nr = fdpass_take(socket, &byte, 1, &fd, 1);

	close(socket);
	return nr == 1 ? fd : nr < 0 ? nr : -EPROTO;
}

int fdpass_peek(int socket)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	union control control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = CMSG_LEN(sizeof(int)) };
	int fd;

	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC | MSG_PEEK | MSG_DONTWAIT) < 0)
		return -errno;
	return take_fds(&msg, &fd) == 1 ? fd : -EPROTO;
}

bool fdpass_is_socket(int fd)
{
	int type;
	socklen_t size = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) &&
	       type == SOCK_SEQPACKET;
}
