/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop.c - an epoll instance that reports one event for each call
 *
 * With several events for each call, the function of the first could free the watch of
 * the second, which would then be used. One system call more for each event costs
 * little beside the start of a child.
 */
#include "config.h"

#include "web/loop.h"

#include <errno.h>
#include <unistd.h>

int loop_init(struct loop *l)
{
	l->stop = false;
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	return l->epoll < 0 ? -errno : 0;
}

void loop_fini(struct loop *l)
{
	close(l->epoll);
}

int loop_add(struct loop *l, struct watch *w, uint32_t events)
{
	struct epoll_event e = { .events = events, .data.ptr = w };

	return epoll_ctl(l->epoll, EPOLL_CTL_ADD, w->fd, &e) < 0 ? -errno : 0;
}

void loop_remove(struct loop *l, struct watch *w)
{
	epoll_ctl(l->epoll, EPOLL_CTL_DEL, w->fd, NULL);
}

int loop_once(struct loop *l, int timeout_ms)
{
	struct epoll_event e;
	struct watch *w;
	int n = epoll_wait(l->epoll, &e, 1, timeout_ms);

	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n) {
		w = e.data.ptr;
		w->fn(w, e.events);
	}
	return 0;
}
