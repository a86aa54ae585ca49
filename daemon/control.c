/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One request, one reply, no state in between: a client is served the moment
 * its request is there, and what it asks for is done before the next one is
 * looked at, as the session is single-threaded too. A reply needs no waiting
 * either: nothing else is in the socket's queue, and its buffer is made large
 * enough for the longest one.
 */
#include "config.h"

#include "daemon/control.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "abi/control.h"
#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/listener.h"
#include "daemon/registration.h"

#define MAX_CLIENTS     16
#define CLIENT_PATIENCE (1 * NSEC_PER_SEC)
#define ACCEPT_PAUSE    (1 * NSEC_PER_SEC)
#define COMPLAINT_PAUSE (10 * NSEC_PER_SEC)

struct client {
	int fd; /* -1: free */
	uint64_t deadline_ns;
	struct ucred peer;
};

struct control {
	struct listener *listener;
	int epoll_fd;
	bool listening;        /* the listener is in the epoll set */
	uint64_t accept_at_ns; /* not before; 0: whenever a client is free */
	struct client clients[MAX_CLIENTS];
	uint64_t complain_at_ns; /* not before */
	unsigned int nr_unlogged;
};

/* A client that keeps sending rubbish must not fill the log. */
static void complain(struct control *c, const struct client *client, const char *why)
{
	uint64_t now = time_mono_ns();

	if (now < c->complain_at_ns) {
		c->nr_unlogged++;
		return;
	}
	if (c->nr_unlogged)
		log_warn("control: dropped %u more clients", c->nr_unlogged);
	log_warn("control: dropped a client (pid %d, uid %u): %s",
		 (int)client->peer.pid, (unsigned int)client->peer.uid, why);
	c->nr_unlogged = 0;
	c->complain_at_ns = now + COMPLAINT_PAUSE;
}

/* Cut at the end of a line, if the text is longer than a reply may be. */
static size_t reply_size(const struct buf *text)
{
	size_t max = CPI_CONTROL_REPLY - sizeof(struct cpi_control_reply);

	if (text->len <= max)
		return text->len;
	while (max > 0 && text->data[max - 1] != '\n')
		max--;
	return max;
}

static void reply(struct control *c, const struct client *client, int status,
		  const struct buf *text)
{
	struct cpi_control_reply head = {
		.magic = CPI_CONTROL_MAGIC,
		.version = CPI_CONTROL_VERSION,
		.status = status,
		.size = (uint32_t)reply_size(text),
	};
	struct iovec parts[] = {
		{ &head, sizeof(head) },
		{ text->data, head.size },
	};
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };

	if (sendmsg(client->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		complain(c, client, "it does not take its reply");
}

static int do_status(struct session *s, const char *arg, struct buf *text)
{
	buf_printf(text, "pid %d\n", (int)getpid());
	buf_puts(text, "version " PACKAGE_VERSION "\n");
	session_status(s, text);
	return text->err;
}

static int do_flush(struct session *s, const char *arg, struct buf *text)
{
	int err = session_flush(s);

	if (err)
		buf_printf(text,
			   "cannot store the samples: %s; they are kept in memory\n",
			   err_str(err));
	return err;
}

static int do_epoch(struct session *s, const char *arg, struct buf *text)
{
	int err;

	for (const char *p = arg; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f) {
			buf_puts(text, "a label holds no control characters\n");
			return -EINVAL;
		}
	}
	err = session_new_epoch(s, arg);
	if (err)
		buf_printf(text, "cannot begin an epoch: %s\n", err_str(err));
	return err;
}

static int do_rate(struct session *s, const char *arg, struct buf *text)
{
	char *end;
	double hz = strtod(arg, &end);
	int err;

	if (!strcmp(arg, "budget"))
		return session_set_rate(s, 0);
	if (end == arg || *end || !isfinite(hz) || hz <= 0) {
		buf_printf(text, "\"%s\" is no rate in samples per second\n", arg);
		return -EINVAL;
	}
	err = session_set_rate(s, hz);
	if (err)
		buf_printf(text, "cannot sample at %g Hz: %s\n", hz, err_str(err));
	return err;
}

static int do_quit(struct session *s, const char *arg, struct buf *text)
{
	return 0; /* what control_run() reports is the deed */
}

/* What a client sent; only an operation of its own has more than the head. */
union request {
	struct cpi_control_request head;
	struct cpi_control_register registration;
};

static int do_register(const struct client *client, const union request *r,
		       struct session *s, struct buf *text)
{
	const struct cpi_control_register *c = &r->registration;
	struct registration asked = {
		.tgid = c->pid,
		.uid = client->peer.uid,
		.path = c->path,
		.base = c->base,
		.size = c->size,
		.offset = c->offset,
	};

	if (!memchr(c->path, '\0', sizeof(c->path))) {
		buf_puts(text, "the path is too long\n");
		return -ENAMETOOLONG;
	}
	return session_register(s, &asked, text);
}

static const struct operation {
	bool for_all; /* who may connect */
	int (*run)(struct session *s, const char *arg, struct buf *text);
} operations[] = {
	[CPI_CONTROL_STATUS] = { true, do_status },
	[CPI_CONTROL_FLUSH] = { false, do_flush },
	[CPI_CONTROL_EPOCH] = { false, do_epoch },
	[CPI_CONTROL_RATE] = { false, do_rate },
	[CPI_CONTROL_QUIT] = { false, do_quit },
};

static int perform(const struct client *client, const union request *request,
		   struct session *s, struct buf *text)
{
	const struct cpi_control_request *r = &request->head;
	const struct operation *op = NULL;

	if (r->version != CPI_CONTROL_VERSION) {
		buf_printf(text,
			   "this cpid speaks version %d of the protocol, not %u\n",
			   CPI_CONTROL_VERSION, r->version);
		return -EPROTONOSUPPORT;
	}
	if (r->op == CPI_CONTROL_REGISTER)
		return do_register(client, request, s, text);
	if (r->op < sizeof(operations) / sizeof(operations[0]))
		op = &operations[r->op];
	if (!op || !op->run) {
		buf_printf(text, "this cpid knows no operation %u\n", r->op);
		return -EOPNOTSUPP;
	}
	if (!op->for_all && client->peer.uid != 0 && client->peer.uid != geteuid()) {
		buf_puts(text,
			 "only root and the user that cpid runs as may do that\n");
		return -EPERM;
	}
	if (!memchr(r->text, '\0', sizeof(r->text))) {
		buf_puts(text, "the argument is too long\n");
		return -ENAMETOOLONG;
	}
	return op->run(s, r->text, text);
}

/* Whether these n bytes ask for something, in whatever version. */
static bool is_request(const struct cpi_control_request *r, ssize_t n)
{
	ssize_t size = r->op == CPI_CONTROL_REGISTER
			       ? (ssize_t)sizeof(struct cpi_control_register)
			       : (ssize_t)sizeof(*r);

	if (n < (ssize_t)offsetof(struct cpi_control_request, op) ||
	    r->magic != CPI_CONTROL_MAGIC)
		return false;
	return r->version != CPI_CONTROL_VERSION || n == size;
}

/* Serves client if its request is there. Returns whether it is done with. */
static bool serve(struct control *c, const struct client *client, struct session *s,
		  bool *quit)
{
	union request request = { 0 };
	struct buf text = { 0 };
	ssize_t n;
	int status;

	/* with MSG_TRUNC the result is the size of the message */
	n = recv(client->fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0)
		return true; /* gone without a word */
	if (!is_request(&request.head, n)) {
		complain(c, client, "what it sent is no request");
		return true;
	}
	status = perform(client, &request, s, &text);
	reply(c, client, status, &text);
	if (request.head.op == CPI_CONTROL_QUIT && !status) {
		log_info("control: pid %d (uid %u) asked to quit",
			 (int)client->peer.pid, (unsigned int)client->peer.uid);
		*quit = true;
	}
	buf_fini(&text);
	return true;
}

static void drop(struct client *client)
{
	close(client->fd); /* which takes it out of the epoll set */
	client->fd = -1;
}

static struct client *find_free(struct control *c)
{
	for (int i = 0; i < MAX_CLIENTS; i++) {
		if (c->clients[i].fd < 0)
			return &c->clients[i];
	}
	return NULL;
}

static int admit(struct control *c, int fd, struct client *client)
{
	const int reply_bytes = 2 * CPI_CONTROL_REPLY;
	struct epoll_event ready = { .events = EPOLLIN };
	socklen_t size = sizeof(client->peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &client->peer, &size) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &reply_bytes, sizeof(reply_bytes)) <
		    0 ||
	    epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &ready) < 0)
		return -errno;
	client->fd = fd;
	client->deadline_ns = time_mono_ns() + CLIENT_PATIENCE;
	return 0;
}

/* Returns whether there may be one more. */
static bool accept_one(struct control *c)
{
	struct client *client = find_free(c);
	int fd, err;

	if (!client)
		return false;
	fd = accept4(listener_fd(c->listener), NULL, NULL,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	err = fd < 0 ? -errno : admit(c, fd, client);
	if (!err || err == -ECONNABORTED || err == -EINTR)
		return true;
	if (fd >= 0)
		close(fd);
	if (err != -EAGAIN) { /* no descriptors or memory left: later */
		log_warn("control: cannot accept a client: %s", err_str(err));
		c->accept_at_ns = time_mono_ns() + ACCEPT_PAUSE;
	}
	return false;
}

/* A listener that is not going to be asked must not wake the owner. */
static void listen_if(struct control *c, bool wanted)
{
	struct epoll_event ready = { .events = wanted ? EPOLLIN : 0 };

	if (wanted != c->listening && epoll_ctl(c->epoll_fd, EPOLL_CTL_MOD,
						listener_fd(c->listener), &ready) == 0)
		c->listening = wanted;
}

static int milliseconds_until(uint64_t then_ns, uint64_t now_ns)
{
	return then_ns <= now_ns ? 0 : (int)((then_ns - now_ns) / NSEC_PER_MSEC) + 1;
}

/* The first moment at which something is due, or 0. */
static uint64_t next_deadline(const struct control *c)
{
	uint64_t first = c->accept_at_ns;

	for (int i = 0; i < MAX_CLIENTS; i++) {
		const struct client *client = &c->clients[i];

		if (client->fd >= 0 && (!first || client->deadline_ns < first))
			first = client->deadline_ns;
	}
	return first;
}

int control_run(struct control *c, struct session *s, bool *quit)
{
	uint64_t now, next;

	if (c->accept_at_ns && time_mono_ns() >= c->accept_at_ns)
		c->accept_at_ns = 0;
	while (!c->accept_at_ns && accept_one(c))
		;
	for (int i = 0; i < MAX_CLIENTS; i++) {
		struct client *client = &c->clients[i];

		if (client->fd < 0)
			continue;
		/* Late is only who has not spoken by the time it is looked at. */
		now = time_mono_ns();
		if (serve(c, client, s, quit)) {
			drop(client);
		} else if (now >= client->deadline_ns) {
			complain(c, client, "it asked for nothing");
			drop(client);
		}
	}
	listen_if(c, !c->accept_at_ns && find_free(c));
	next = next_deadline(c);
	return next ? milliseconds_until(next, time_mono_ns()) : -1;
}

int control_open(const char *path, gid_t group, struct control **out)
{
	struct epoll_event ready = { .events = EPOLLIN };
	struct control *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	for (int i = 0; i < MAX_CLIENTS; i++)
		c->clients[i].fd = -1;
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll_fd < 0) {
		err = -errno;
		goto out;
	}
	err = listener_open(path, group, &c->listener);
	if (err)
		goto out;
	if (epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, listener_fd(c->listener), &ready) <
	    0) {
		err = -errno;
		goto out;
	}
	c->listening = true;
	*out = c;
	return 0;
out:
	control_close(c);
	return err;
}

int control_fd(const struct control *c)
{
	return c->epoll_fd;
}

void control_close(struct control *c)
{
	if (!c)
		return;
	for (int i = 0; i < MAX_CLIENTS; i++) {
		if (c->clients[i].fd >= 0)
			drop(&c->clients[i]);
	}
	listener_close(c->listener);
	if (c->epoll_fd >= 0)
		close(c->epoll_fd);
	free(c);
}
