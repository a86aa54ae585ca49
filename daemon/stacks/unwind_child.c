/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_child.c - the client side of cpi-unwind
 */
#include "config.h"

#include "daemon/stacks/unwind_child.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fdpass.h"
#include "daemon/os/helper.h"

struct unwind_message {
	struct unwind_message *next;
	size_t size;
	_Alignas(max_align_t) char data[];
};

int unwind_child_start(struct unwind_child *c)
{
	c->fd[CPI_UNWIND_WORK] = c->fd[CPI_UNWIND_IMAGES] = -1;
	c->last = &c->first;
	return helper_start(UNWIND_CHILD_NAME, &c->pid, &c->control);
}

void unwind_child_stop(struct unwind_child *c)
{
	unwind_child_end(c);
	helper_stop(&c->pid, &c->control);
}

static int watch(const struct unwind_child *c, int op, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.fd = fd };

	return epoll_ctl(c->epoll_fd, op, fd, &ev) < 0 ? -errno : 0;
}

int unwind_child_begin(struct unwind_child *c)
{
	int pair[CPI_UNWIND_NR_FDS][2], theirs[CPI_UNWIND_NR_FDS], err = 0, nr = 0;

	for (; !err && nr < CPI_UNWIND_NR_FDS; nr += !err)
		err = socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair[nr]) <
				      0
			      ? -errno
			      : 0;
	for (int i = 0; i < nr; i++) {
		c->fd[i] = pair[i][0];
		theirs[i] = pair[i][1];
	}
	if (!err)
		err = fdpass_send(c->control, "", 1, theirs, nr);
	for (int i = 0; i < nr; i++) {
		if (!err)
			err = watch(c, EPOLL_CTL_ADD, c->fd[i], EPOLLIN);
		close(theirs[i]);
	}
	if (err)
		unwind_child_end(c);
	return err;
}

void unwind_child_end(struct unwind_child *c)
{
	for (int i = 0; i < CPI_UNWIND_NR_FDS; i++) {
		if (c->fd[i] >= 0)
			close(c->fd[i]);
		c->fd[i] = -1;
	}
	while (c->first) {
		struct unwind_message *m = c->first;

		c->first = m->next;
		free(m);
	}
	c->last = &c->first;
	c->bytes = 0;
	c->waits = false;
}

void *unwind_child_put(struct unwind_child *c, size_t size)
{
	struct unwind_message *m = malloc(sizeof(*m) + size);

	if (!m)
		return NULL;
	m->next = NULL;
	m->size = size;
	*c->last = m;
	c->last = &m->next;
	c->bytes += size;
	return m->data;
}

int unwind_child_send(struct unwind_child *c)
{
	const int fd = c->fd[CPI_UNWIND_WORK];
	bool waits;

	while (c->first) {
		struct unwind_message *m = c->first;

		if (send(fd, m->data, m->size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
			if (errno == EAGAIN || errno == ENOBUFS)
				break;
			return -errno;
		}
		c->first = m->next;
		if (!c->first)
			c->last = &c->first;
		c->bytes -= m->size;
		free(m);
	}
	waits = c->first;
	if (waits == c->waits)
		return 0;
	c->waits = waits;
	return watch(c, EPOLL_CTL_MOD, fd, waits ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

ssize_t unwind_child_take(struct unwind_child *c, void *data, size_t size)
{
	const ssize_t n = recv(c->fd[CPI_UNWIND_WORK], data, size, MSG_DONTWAIT);

	return n > 0 ? n : n < 0 ? -errno : -EPIPE;
}

int unwind_child_asked(struct unwind_child *c, uint32_t *image)
{
	const ssize_t n = recv(c->fd[CPI_UNWIND_IMAGES], image, sizeof(*image),
			       MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0)
		return -errno;
	return n == sizeof(*image) ? 0 : -EPIPE;
}

int unwind_child_answer(struct unwind_child *c, uint32_t image, int fd, bool wrapped)
{
	const struct cpi_unwind_image answer = { image, fd < 0 ? fd : 0, wrapped };

	return fdpass_send(c->fd[CPI_UNWIND_IMAGES], &answer, sizeof(answer), &fd,
			   fd >= 0);
}
