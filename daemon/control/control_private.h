/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_private.h - what the main thread and the control thread share
 */
#ifndef CPI_DAEMON_CONTROL_PRIVATE_H
#define CPI_DAEMON_CONTROL_PRIVATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "abi/control.h"
#include "base/buf.h"
#include "daemon/control/control.h"
#include "daemon/os/listener.h"

/* What a client sent; only an operation of its own has more than the head. */
union request {
	struct cpi_control_request head;
	struct cpi_control_register registration;
};

/* One request on its way to the main thread and back. The thread makes and frees it. */
struct job {
	struct job *next;
	union request request;
	struct ucred peer;
	bool privileged; /* root's or the daemon's user's: goes first */
	int status;
	struct buf text;
	uint64_t cost_ns; /* of the main thread's CPU */
};

struct jobs {
	struct job *first, **end; /* end: NULL while there is none */
};

struct control {
	struct listener *listener;
	struct server *server; /* the control thread's, while that runs */
	struct heartbeat *heartbeat;
	int work_fd; /* an eventfd: the main thread has something to do */
	int wake_fd; /* another one: the control thread has */
	pthread_t thread;
	bool started;
	/* of both threads, under the lock */
	pthread_mutex_t lock;
	struct jobs todo[2]; /* [1]: privileged */
	struct jobs done;
	bool status_wanted;
	bool ending; /* nothing is begun any more */
	bool quit;   /* the thread ends when it has replied */
	struct buf status;
	uint64_t status_ns; /* when the main thread began to make it; 0: never */
	/* the main thread's */
	struct buf description; /* at the end of each status */
	uint64_t published_ns;
};

void jobs_add(struct jobs *jobs, struct job *job);
struct job *jobs_take(struct jobs *jobs); /* the first one, or NULL */

/* ---- control_request.c ---- */

/* Whether these n bytes ask for something, in whatever version. */
bool request_is_valid(const union request *r, ssize_t n);

/*
 * Whether the peer may ask for it, as far as the request alone tells. 0 or -errno, with
 * a line in text.
 */
int request_check(const union request *r, bool privileged, struct buf *text);

/* Does it, in the main thread. */
void request_perform(struct job *job, struct session *s);

/* ---- control_server.c ---- */

struct server;

/* What the thread works on; the listener and wake_fd are open. 0 or -errno. */
int server_new(struct control *c, struct server **out);
void server_free(struct server *s); /* drops the clients; accepts NULL */

/* The control thread; returns when c->quit is set. */
void *server_run(void *server);

/* Wakes the other one; an eventfd never fills up. */
void control_signal(int eventfd);

#endif
