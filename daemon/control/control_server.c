/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_server.c - the control thread
 *
 * One request, one reply, no state in between. A reply needs no waiting: nothing else
 * is in the socket's queue, and its buffer is made large enough for the longest one.
 *
 * A client is SILENT until its request arrives. It is DELAYED, with the request
 * unread, while its user's quota is spent or another request of the user is in
 * progress. Then it ASKS for the status, or for something that the main thread does,
 * and is answered.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/control/askers.h"
#include "daemon/control/control_private.h"
#include "daemon/os/foreignfds.h"
#include "daemon/os/privileges.h"

#define MAX_CLIENTS     64
#define CLIENT_PATIENCE (1 * NSEC_PER_SEC)
#define STATUS_PATIENCE (300 * NSEC_PER_MSEC) /* of the main thread's answer */
#define STATUS_SAME     (100 * NSEC_PER_MSEC) /* age of a status for other users */
#define DELAY_MS        10
#define ACCEPT_PAUSE    (1 * NSEC_PER_SEC)
#define COMPLAINT_PAUSE (10 * NSEC_PER_SEC)

/* Sources of epoll events; smaller numbers are clients. */
enum { EVENT_LISTENER = MAX_CLIENTS, EVENT_WAKE };

enum client_state {
	CLIENT_NONE,
	CLIENT_SILENT,
	CLIENT_DELAYED,
	CLIENT_ASKS_STATUS,
	CLIENT_ASKS, /* the main thread */
	CLIENT_DONE, /* cannot be closed yet */
};

struct client {
	enum client_state state;
	int fd;
	bool speaks; /* there is something to read */
	struct ucred peer;
	struct asker *asker; /* NULL: root or the daemon's user */
	uint64_t since_ns;   /* in this state */
	struct job *job;     /* the main thread's, until it is done */
};

struct server {
	struct control *c;
	int epoll_fd;
	bool listening;        /* the listener is in the epoll set */
	uint64_t accept_at_ns; /* not before; 0: whenever a client is free */
	struct client clients[MAX_CLIENTS];
	struct askers askers;
	struct foreignfds foreign;
	int left_fd;             /* not accepted, and not closed yet; -1: none */
	unsigned int first;      /* whose turn it is */
	uint64_t cpu_ns;         /* of this thread, charged to somebody */
	uint64_t complain_at_ns; /* not before */
	unsigned int nr_unlogged;
};

/* A client that keeps sending rubbish must not fill the log. */
static void complain(struct server *s, const struct client *client, const char *why)
{
	uint64_t now = time_mono_ns();

	if (now < s->complain_at_ns) {
		s->nr_unlogged++;
		return;
	}
	if (s->nr_unlogged)
		log_warn("control: dropped %u more clients", s->nr_unlogged);
	log_warn("control: dropped a client (pid %d, uid %u): %s",
		 (int)client->peer.pid, (unsigned int)client->peer.uid, why);
	s->nr_unlogged = 0;
	s->complain_at_ns = now + COMPLAINT_PAUSE;
}

/* ---- what it costs ---- */

/* Charges the asker for this thread's CPU time since the last charge, plus more_ns. */
static void charge(struct server *s, struct asker *asker, uint64_t more_ns)
{
	uint64_t now_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (asker)
		askers_spend(&s->askers, asker, now_ns - s->cpu_ns + more_ns);
	s->cpu_ns = now_ns;
}

static bool is_privileged(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* ---- clients ---- */

static void leave(struct server *s, struct client *client)
{
	client->state = CLIENT_DONE;
	if (foreignfds_close(&s->foreign, client->fd))
		return;
	if (client->asker) {
		client->asker->nr_clients--;
		s->askers.nr_clients--;
	}
	client->state = CLIENT_NONE;
}

/*
 * Whether a client has sent nothing. Also sees what came after the last
 * epoll_wait().
 */
static bool is_silent(struct client *client)
{
	char byte;

	if (client->state == CLIENT_SILENT && !client->speaks)
		client->speaks =
			recv(client->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 ||
			errno != EAGAIN;
	return client->state == CLIENT_SILENT && !client->speaks;
}

/*
 * Returns the client that has been silent for longest: of one asker, or of all if
 * `of` is NULL. Includes privileged clients only if `privileged` is set.
 */
static struct client *most_silent(struct server *s, const struct asker *of,
				  bool privileged)
{
	struct client *found = NULL;

	for (int i = 0; i < MAX_CLIENTS; i++) {
		struct client *client = &s->clients[i];

		if ((of && client->asker != of) || (!privileged && !client->asker) ||
		    (found && client->since_ns >= found->since_ns))
			continue;
		if (is_silent(client))
			found = client;
	}
	return found;
}

static struct client *find_free(struct server *s)
{
	for (int i = 0; i < MAX_CLIENTS; i++) {
		if (s->clients[i].state == CLIENT_NONE)
			return &s->clients[i];
	}
	return NULL;
}

/* Whether a client can be accepted, perhaps in place of a silent one. */
static bool has_room(struct server *s)
{
	return find_free(s) || most_silent(s, NULL, true);
}

/*
 * Makes room for a new client among the clients of its class. NULL: there is no room.
 */
static struct client *make_room(struct server *s, const struct asker *asker)
{
	struct client *client = find_free(s), *silent = NULL;
	bool full = !client;

	if (asker && asker->nr_clients >= ASKERS_MAX_OF_USER) {
		silent = most_silent(s, asker, false);
		full = true;
	} else if (asker && s->askers.nr_clients >= ASKERS_MAX) {
		silent = most_silent(s, NULL, false);
		full = true;
	} else if (full) {
		silent = most_silent(s, NULL, false);
		if (!silent && !asker)
			silent = most_silent(s, NULL, true);
	}
	if (!full)
		return client;
	if (!silent)
		return NULL;
	complain(s, silent, "it sent no request, and other clients wait");
	leave(s, silent);
	return silent->state == CLIENT_NONE ? silent : NULL;
}

static int watch(struct server *s, int op, int fd, unsigned int what, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.u32 = what };

	return epoll_ctl(s->epoll_fd, op, fd, &ev) < 0 ? -errno : 0;
}

/*
 * Gives the descriptor to a new client. Returns 0, or -errno; then the caller closes
 * the descriptor.
 */
static int admit(struct server *s, int fd)
{
	const int reply_bytes = 2 * CPI_CONTROL_REPLY;
	struct client added = { .state = CLIENT_SILENT,
				.fd = fd,
				.since_ns = time_mono_ns() },
		      *client;
	socklen_t size = sizeof(added.peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &added.peer, &size) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &reply_bytes, sizeof(reply_bytes)) <
		    0)
		return -errno;
	if (!is_privileged(added.peer.uid)) {
		added.asker = askers_get(&s->askers, added.peer.uid, added.since_ns);
		if (!added.asker)
			return -EUSERS;
	}
	client = make_room(s, added.asker);
	if (!client) {
		complain(s, &added, "it has too many requests at a time");
		charge(s, added.asker, 0);
		return -EUSERS;
	}
	if (watch(s, EPOLL_CTL_ADD, fd, (unsigned int)(client - s->clients),
		  EPOLLIN | EPOLLONESHOT))
		return -errno;
	if (added.asker) {
		added.asker->nr_clients++;
		s->askers.nr_clients++;
	}
	*client = added;
	charge(s, added.asker, 0);
	return 0;
}

/* Whether it is closed, or there was none. */
static bool close_left(struct server *s)
{
	if (s->left_fd >= 0 && !foreignfds_close(&s->foreign, s->left_fd))
		s->left_fd = -1;
	return s->left_fd < 0;
}

/* Returns whether there may be one more. */
static bool accept_one(struct server *s)
{
	int fd, err;

	if (!close_left(s) || !has_room(s) ||
	    !askers_may_accept(&s->askers, time_mono_ns()))
		return false;
	fd = accept4(listener_fd(s->c->listener), NULL, NULL,
		     SOCK_NONBLOCK | SOCK_CLOEXEC);
	err = fd < 0 ? -errno : admit(s, fd);
	if (!err || err == -ECONNABORTED || err == -EINTR)
		return true;
	s->left_fd = fd;
	close_left(s);
	if (err == -EUSERS)
		return true;
	if (err != -EAGAIN) { /* no descriptors or memory left: later */
		log_warn("control: cannot accept a client: %s", err_str(err));
		s->accept_at_ns = time_mono_ns() + ACCEPT_PAUSE;
	}
	return false;
}

static void accept_all(struct server *s)
{
	if (s->accept_at_ns && time_mono_ns() >= s->accept_at_ns)
		s->accept_at_ns = 0;
	while (!s->accept_at_ns && accept_one(s))
		;
}

/* ---- replies ---- */

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

/* Sends the reply, and drops the client. */
static void reply(struct server *s, struct client *client, int status,
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
		complain(s, client, "it does not take its reply");
	leave(s, client);
}

static double seconds(uint64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

/* These lines come first, so that a reader notices that the numbers are old. */
static void put_age(struct server *s, uint64_t status_ns, struct buf *text)
{
	uint64_t now_ns = time_mono_ns(), since_ns;
	const char *doing = heartbeat_read(s->c->heartbeat, &since_ns);

	if (!status_ns) /* nothing was published: it begins */
		status_ns = since_ns ? since_ns : now_ns;
	buf_printf(text, "main_waits_s %.3f\n", seconds(now_ns - status_ns));
	buf_printf(text, "main_activity %s\n", doing);
	if (since_ns)
		buf_printf(text, "main_activity_s %.3f\n",
			   now_ns > since_ns ? seconds(now_ns - since_ns) : 0.0);
}

static void reply_status(struct server *s, struct client *client, bool late)
{
	struct control *c = s->c;
	struct buf text = { 0 };

	pthread_mutex_lock(&c->lock);
	if (late || !c->status_ns)
		put_age(s, c->status_ns, &text);
	buf_printf(&text, "pid %d\n", (int)getpid());
	buf_puts(&text, "version " PACKAGE_VERSION "\n");
	if (c->status_ns)
		buf_put(&text, c->status.data, c->status.len);
	else
		buf_puts(&text, "state starting\n");
	pthread_mutex_unlock(&c->lock);
	reply(s, client, text.err, &text);
	buf_fini(&text);
}

/*
 * Whether to answer now. A privileged client never gets a status that is older than
 * its request, unless none comes in time (*late).
 */
static bool has_status(struct server *s, const struct client *client, bool *late)
{
	struct control *c = s->c;
	uint64_t oldest_ns = client->since_ns;
	bool ending;

	if (client->asker)
		oldest_ns -= STATUS_SAME;
	pthread_mutex_lock(&c->lock);
	*late = c->status_ns < oldest_ns;
	ending = c->ending;
	pthread_mutex_unlock(&c->lock);
	return !*late || ending || time_mono_ns() - client->since_ns >= STATUS_PATIENCE;
}

/* ---- requests ---- */

static int give_to_main(struct server *s, struct client *client,
			const union request *request)
{
	struct control *c = s->c;
	struct job *job = calloc(1, sizeof(*job));
	bool ending;

	if (!job)
		return -ENOMEM;
	job->request = *request;
	job->peer = client->peer;
	job->privileged = !client->asker;
	pthread_mutex_lock(&c->lock);
	ending = c->ending;
	if (!ending) {
		jobs_add(&c->todo[job->privileged], job);
		control_signal(c->work_fd);
	}
	pthread_mutex_unlock(&c->lock);
	if (ending) {
		free(job);
		return -ESHUTDOWN;
	}
	client->job = job;
	client->state = CLIENT_ASKS;
	if (client->asker)
		client->asker->has_job = true;
	return 0;
}

static void ask_status(struct server *s, struct client *client)
{
	struct control *c = s->c;
	bool late;

	client->state = CLIENT_ASKS_STATUS;
	if (has_status(s, client, &late)) {
		reply_status(s, client, late);
		return;
	}
	pthread_mutex_lock(&c->lock);
	c->status_wanted = true;
	control_signal(c->work_fd);
	pthread_mutex_unlock(&c->lock);
}

static void take_request(struct server *s, struct client *client,
			 const union request *request)
{
	struct buf text = { 0 };
	int status = request_check(request, !client->asker, &text);

	client->since_ns = time_mono_ns();
	if (!status && request->head.op == CPI_CONTROL_STATUS) {
		ask_status(s, client);
	} else {
		if (!status)
			status = give_to_main(s, client, request);
		if (status == -ESHUTDOWN)
			buf_puts(&text, "cpid is ending\n");
		if (status)
			reply(s, client, status, &text);
	}
	buf_fini(&text);
}

/* There is something to read. */
static void hear(struct server *s, struct client *client)
{
	union request request = { 0 };
	ssize_t n;

	client->speaks = false;
	if (foreignfds_came(&s->foreign, client->fd, 0)) {
		complain(s, client, "it sent descriptors");
		leave(s, client);
		return;
	}
	/* with MSG_TRUNC the result is the size of the message */
	n = recv(client->fd, &request, sizeof(request), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		watch(s, EPOLL_CTL_MOD, client->fd, (unsigned int)(client - s->clients),
		      EPOLLIN | EPOLLONESHOT);
	} else if (n <= 0) {
		leave(s, client); /* gone without a word */
	} else if (!request_is_valid(&request, n)) {
		complain(s, client, "what it sent is no request");
		leave(s, client);
	} else {
		take_request(s, client, &request);
	}
}

/* Whether it is this client's turn. */
static bool may_speak(struct server *s, const struct client *client)
{
	struct asker *asker = client->asker;

	return !asker ||
	       (!asker->has_job && askers_may(&s->askers, asker, time_mono_ns()));
}

static void step(struct server *s, struct client *client)
{
	bool late;

	switch (client->state) {
	case CLIENT_SILENT:
	case CLIENT_DELAYED:
		if (client->speaks && may_speak(s, client)) {
			client->state = CLIENT_SILENT;
			hear(s, client);
			charge(s, client->asker, 0);
		} else if (client->speaks) {
			client->state = CLIENT_DELAYED;
		} else if (time_mono_ns() >= client->since_ns + CLIENT_PATIENCE) {
			complain(s, client, "it sent no request");
			leave(s, client);
		}
		break;
	case CLIENT_ASKS_STATUS:
		if (has_status(s, client, &late)) {
			reply_status(s, client, late);
			charge(s, client->asker, 0);
		}
		break;
	case CLIENT_DONE:
		leave(s, client);
		break;
	default:
		break;
	}
}

static struct client *find_asking(struct server *s, const struct job *job)
{
	for (int i = 0; i < MAX_CLIENTS; i++) {
		if (s->clients[i].state == CLIENT_ASKS && s->clients[i].job == job)
			return &s->clients[i];
	}
	return NULL;
}

/* Replies to what the main thread has done. Returns whether the end is wanted. */
static bool take_done(struct server *s)
{
	struct control *c = s->c;
	struct client *client;
	struct jobs done;
	struct job *job;
	uint64_t count;
	bool quit;

	(void)!read(c->wake_fd, &count, sizeof(count));
	pthread_mutex_lock(&c->lock);
	done = c->done;
	c->done = (struct jobs){ .first = NULL };
	quit = c->quit;
	pthread_mutex_unlock(&c->lock);
	while ((job = jobs_take(&done))) {
		client = find_asking(s, job);
		if (client) {
			if (client->asker)
				client->asker->has_job = false;
			reply(s, client, job->status, &job->text);
			charge(s, client->asker, job->cost_ns);
		}
		buf_fini(&job->text);
		free(job);
	}
	return quit;
}

/* ---- the loop ---- */

/* A listener that is not going to be asked must not wake the thread. */
static void listen_if(struct server *s, bool wanted)
{
	if (wanted != s->listening &&
	    !watch(s, EPOLL_CTL_MOD, listener_fd(s->c->listener), EVENT_LISTENER,
		   wanted ? EPOLLIN : 0))
		s->listening = wanted;
}

static void until(uint64_t then_ns, uint64_t now_ns, int *ms)
{
	uint64_t wait_ns = then_ns > now_ns ? then_ns - now_ns : 0;
	int wait_ms = (int)(wait_ns / NSEC_PER_MSEC) + 1;

	if (*ms < 0 || wait_ms < *ms)
		*ms = wait_ms;
}

/* How long there is nothing to do, unless something comes; -1: for ever. */
static int wait_ms(struct server *s)
{
	uint64_t now_ns = time_mono_ns();
	bool accepts = !s->accept_at_ns && s->left_fd < 0 && has_room(s);
	int ms = -1;

	if (s->accept_at_ns)
		until(s->accept_at_ns, now_ns, &ms);
	if (accepts && !askers_may_accept(&s->askers, now_ns)) {
		accepts = false;
		until(now_ns + DELAY_MS * NSEC_PER_MSEC, now_ns, &ms);
	}
	if (s->left_fd >= 0)
		until(now_ns + FOREIGNFDS_PATIENCE_MS * NSEC_PER_MSEC, now_ns, &ms);
	listen_if(s, accepts);
	for (int i = 0; i < MAX_CLIENTS; i++) {
		const struct client *client = &s->clients[i];

		if (client->state == CLIENT_SILENT)
			until(client->since_ns + CLIENT_PATIENCE, now_ns, &ms);
		else if (client->state == CLIENT_ASKS_STATUS)
			until(client->since_ns + STATUS_PATIENCE, now_ns, &ms);
		else if (client->state == CLIENT_DELAYED)
			until(now_ns + DELAY_MS * NSEC_PER_MSEC, now_ns, &ms);
		else if (client->state == CLIENT_DONE)
			until(now_ns + CLIENT_PATIENCE, now_ns, &ms);
	}
	return ms;
}

static void note_events(struct server *s, const struct epoll_event *events, int nr)
{
	for (int i = 0; i < nr; i++) {
		if (events[i].data.u32 < MAX_CLIENTS)
			s->clients[events[i].data.u32].speaks = true;
	}
}

static void run_server(struct server *s)
{
	struct epoll_event events[MAX_CLIENTS];
	bool quit = false;
	int nr;

	while (!quit) {
		nr = epoll_wait(s->epoll_fd, events, MAX_CLIENTS, wait_ms(s));
		note_events(s, events, nr);
		quit = take_done(s);
		/* Privileged clients first; each round begins with another client. */
		s->first++;
		for (unsigned int i = 0; i < 2 * MAX_CLIENTS; i++) {
			struct client *client =
				&s->clients[(s->first + i) % MAX_CLIENTS];

			if (!client->asker == (i < MAX_CLIENTS))
				step(s, client);
		}
		if (!quit)
			accept_all(s);
	}
}

int server_new(struct control *c, struct server **out)
{
	struct server *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->c = c;
	s->foreign.refused = listener_refuses_fds(c->listener);
	s->listening = true;
	s->left_fd = -1;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	err = s->epoll_fd < 0 ? -errno : 0;
	if (!err)
		err = watch(s, EPOLL_CTL_ADD, listener_fd(c->listener), EVENT_LISTENER,
			    EPOLLIN);
	if (!err)
		err = watch(s, EPOLL_CTL_ADD, c->wake_fd, EVENT_WAKE, EPOLLIN);
	if (err) {
		server_free(s);
		return err;
	}
	*out = s;
	return 0;
}

void server_free(struct server *s)
{
	if (!s)
		return;
	for (int i = 0; i < MAX_CLIENTS; i++) {
		if (s->clients[i].state != CLIENT_NONE)
			leave(s, &s->clients[i]);
	}
	close_left(s);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s);
}

void *server_run(void *arg)
{
	struct server *s = arg;
	int err = privileges_give_up_all();

	if (err)
		log_err("control: nothing is answered: privileges cannot be given up: "
			"%s",
			err_str(err));
	s->cpu_ns = time_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (!err)
		run_server(s);
	return NULL;
}
