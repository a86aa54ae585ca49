/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "base/passing.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

union control {
	struct cmsghdr head; /* aligns */
	char bytes[CMSG_SPACE(PASSING_MAX * sizeof(int))];
};

int passing_send(int socket, const void *data, size_t size, const int *fd, int nr)
{
	struct iovec iov = { (void *)data, size };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union control control = { 0 };

	assert(nr <= PASSING_MAX);
	if (nr) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(nr * sizeof(*fd));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(nr * sizeof(*fd));
		memcpy(CMSG_DATA(&control.head), fd, nr * sizeof(*fd));
	}
	return sendmsg(socket, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

/* How many descriptors came; at most nr, for there is no room for more. */
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

int passing_take(int socket, void *data, size_t size, int *fd, int nr)
{
	struct iovec iov = { data, size };
	union control control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = CMSG_SPACE(nr * sizeof(*fd)) };
	int got[PASSING_MAX], nr_got;
	ssize_t n;

	assert(nr > 0 && nr <= PASSING_MAX);
	n = recvmsg(socket, &msg, MSG_CMSG_CLOEXEC);
	if (n <= 0)
		return n < 0 ? -errno : -EPIPE;
	nr_got = take_fds(&msg, got);
	if (n == (ssize_t)size && !(msg.msg_flags & MSG_TRUNC) &&
	    (!nr_got || nr_got == nr)) {
		memcpy(fd, got, nr_got * sizeof(*fd));
		return nr_got;
	}
	while (nr_got)
		close(got[--nr_got]);
	return -EPROTO;
}

bool passing_is_socket(int fd)
{
	int type;
	socklen_t size = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) &&
	       type == SOCK_SEQPACKET;
}
