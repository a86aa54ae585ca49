/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lingering.h - a descriptor whose release takes as long as one likes
 *
 * A TCP socket over loopback with unsent data, a peer that reads nothing, and
 * SO_LINGER.
 */
#ifndef CPI_T_LINGERING_H
#define CPI_T_LINGERING_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Returns the socket, or -errno. The process has to live for as long as it is to
 * linger: *peer is the other end.
 */
static inline int lingering_make(int seconds, int *peer)
{
	const struct linger linger = { .l_onoff = 1, .l_linger = seconds };
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t size = sizeof(at);
	static char bytes[65536];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listener < 0 || fd < 0 ||
	    bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 ||
	    listen(listener, 1) < 0 ||
	    getsockname(listener, (struct sockaddr *)&at, &size) < 0 ||
	    connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return -errno;
	*peer = accept(listener, NULL, NULL);
	close(listener);
	if (*peer < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)) < 0)
		return -errno;
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	return fd;
}

/* Sends bytes with the descriptor, which is closed. 0 or -errno. */
static inline int lingering_send(int socket, const void *data, size_t size, int fd)
{
	struct iovec part = { (void *)data, size };
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr msg = { .msg_iov = &part,
			      .msg_iovlen = 1,
			      .msg_control = &control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *c;
	int err;

	memset(&control, 0, sizeof(control));
	c = CMSG_FIRSTHDR(&msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	err = sendmsg(socket, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
	if (!err)
		close(fd);
	return err;
}

#endif
