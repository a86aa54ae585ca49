/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_child.c - requests and replies, in order
 *
 * If a worker dies, the request that it was working on gets no answer; its
 * successor continues with the next request. So an answer to a later request
 * means that earlier requests will get none.
 */
#include "config.h"

#include "daemon/windows/translate_child.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/os/helper.h"
#include "daemon/windows/translate_check.h"

#define NAME        "cpi-translate"
#define PATIENCE_NS (30 * NSEC_PER_SEC) /* it goes behind everything else */

struct asked {
	uint32_t cookie;
	bool forms; /* not a page */
	uint64_t when_ns;
};

struct translate_child {
	pid_t pid;
	int socket;
	uint32_t next_cookie;
	struct asked asked[TRANSLATE_CHILD_MAX_ASKED]; /* oldest first */
	int nr_asked;
	bool have_reply; /* a reply that answers none of the first ones */
	bool dead;
	uint64_t cpu_ns;
	uint64_t worked_ns; /* the time until which cpu_ns may have been used */
	struct cpi_translate_reply reply;
};

int translate_child_open(int epoll_fd, struct translate_child **out)
{
	struct epoll_event ev = { .events = EPOLLIN };
	struct translate_child *t = calloc(1, sizeof(*t));
	int err;

	if (!t)
		return -ENOMEM;
	t->socket = -1;
	err = helper_start(NAME, &t->pid, &t->socket);
	if (!err && epoll_fd >= 0 && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, t->socket, &ev))
		err = -errno;
	if (err) {
		translate_child_close(t);
		return err;
	}
	*out = t;
	return 0;
}

void translate_child_close(struct translate_child *t)
{
	if (!t)
		return;
	helper_stop(&t->pid, &t->socket);
	free(t);
}

/* Its socket would be readable for ever. */
static void end(struct translate_child *t)
{
	t->dead = true;
	if (t->pid > 0)
		kill(t->pid, SIGKILL); /* else helper_stop() may wait for seconds */
	helper_stop(&t->pid, &t->socket);
	log_warn("windows: cpi-translate has ended: windows cannot follow new code");
}

int translate_child_ask(struct translate_child *t, struct cpi_translate_request *q,
			uint32_t *cookie)
{
	const size_t size = offsetof(struct cpi_translate_request, code) + q->size;

	if (t->dead)
		return -EPIPE;
	if (t->nr_asked == TRANSLATE_CHILD_MAX_ASKED)
		return -EAGAIN;
	q->magic = CPI_TRANSLATE_MAGIC;
	q->cookie = t->next_cookie;
	if (send(t->socket, q, size, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		if (errno != EPIPE && errno != ECONNRESET)
			return -errno;
		end(t);
		return -EPIPE;
	}
	t->asked[t->nr_asked++] =
		(struct asked){ t->next_cookie, q->nr_forms != 0, time_mono_ns() };
	*cookie = t->next_cookie++;
	return 0;
}

static int check_reply(const struct cpi_translate_reply *r, size_t size)
{
	const size_t head = r->nr_forms
				    ? offsetof(struct cpi_translate_reply, forms.uop)
				    : offsetof(struct cpi_translate_reply, page.uop);

	if (r->err)
		return r->err < 0 ? r->err : -CPI_ECORRUPT;
	if (size < head || r->nr_uops > CPI_UOPS_PER_PAGE ||
	    r->nr_forms > CPI_TRANSLATE_FORMS ||
	    size != head + r->nr_uops * sizeof(struct cpi_uop))
		return -CPI_ECORRUPT;
	if (r->nr_forms)
		return translate_check_forms(&r->forms, r->nr_forms, r->nr_uops);
	return translate_check_page(&r->page, r->nr_uops);
}

/*
 * Adds what an answer says that it took. The worker is not trusted, and does one thing
 * at a time: so it is no more than the time that has passed since the oldest question,
 * and since what was added before.
 */
static void add_cpu_time(struct translate_child *t, uint32_t cpu_us)
{
	const uint64_t now = time_mono_ns();
	uint64_t ns = (uint64_t)cpu_us * 1000;

	if (!t->nr_asked)
		return;
	if (t->worked_ns < t->asked[0].when_ns)
		t->worked_ns = t->asked[0].when_ns;
	if (ns > now - t->worked_ns)
		ns = now - t->worked_ns;
	t->worked_ns += ns;
	t->cpu_ns += ns;
}

/* Whether there is a reply that can be told to belong to a question. */
static bool receive(struct translate_child *t)
{
	struct cpi_translate_reply *r = &t->reply;
	ssize_t size;

	if (t->have_reply || t->dead)
		return t->have_reply;
	size = recv(t->socket, r, sizeof(*r), MSG_DONTWAIT);
	if (size == 0 || (size < 0 && errno == ECONNRESET))
		end(t);
	if (size < (ssize_t)offsetof(struct cpi_translate_reply, page) ||
	    r->magic != CPI_TRANSLATE_MAGIC)
		return false;
	memset((char *)r + size, 0, sizeof(*r) - (size_t)size); /* of one before */
	add_cpu_time(t, r->cpu_us);
	r->err = check_reply(r, (size_t)size);
	for (int i = 0; i < t->nr_asked; i++)
		t->have_reply |= t->asked[i].cookie == r->cookie;
	return t->have_reply;
}

static void pass(struct translate_child *t)
{
	t->nr_asked--;
	memmove(t->asked, t->asked + 1, (size_t)t->nr_asked * sizeof(t->asked[0]));
}

int translate_child_take(struct translate_child *t, uint32_t *cookie, int *err,
			 struct cpi_translate_reply **reply)
{
	const struct asked first = t->asked[0];

	if (!t->nr_asked) { /* the child has ended, or this is an answer to a dropped
			       request */
		receive(t);
		t->have_reply = false;
		return -EAGAIN;
	}
	if (receive(t) && t->reply.cookie == first.cookie) {
		t->have_reply = false;
		*err = t->reply.err;
		if (!*err && (t->reply.nr_forms != 0) != first.forms)
			*err = -CPI_ECORRUPT; /* it was checked as the other one */
		*reply = &t->reply;
	} else if (t->have_reply || t->dead) {
		*err = -ECHILD;
	} else if (time_mono_ns() > first.when_ns + PATIENCE_NS) {
		*err = -ETIMEDOUT;
	} else {
		return -EAGAIN;
	}
	*cookie = first.cookie;
	pass(t);
	return 0;
}

uint64_t translate_child_cpu_ns(const struct translate_child *t)
{
	return t->cpu_ns;
}
