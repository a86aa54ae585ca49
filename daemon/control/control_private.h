/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * control_private.h - shared by the main thread and the control thread
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

/* A client's message; most have only the head. */
union request {
	struct cpi_control_request head;
	struct cpi_control_register registration;
	struct cpi_control_container container;
};

/* One request on its way to the main thread and back. The thread makes and frees it. */
struct job {
	struct job *next;
	union request request;
	struct ucred peer;
	bool privileged; /* of root or the daemon's user: carried out first */
	int status;
	struct buf text;
	uint64_t cost_ns; /* CPU time of the main thread */
};

struct jobs {
	struct job *first, **end; /* end: NULL if the list is empty */
};

struct control {
	struct listener *listener;
	struct server *server; /* belongs to the control thread while it runs */
	struct heartbeat *heartbeat;
	int work_fd; /* an eventfd that wakes the main thread */
	int wake_fd; /* an eventfd that wakes the control thread */
	pthread_t thread;
	bool started;
	/* used by both threads, under the lock */
	pthread_mutex_t lock;
	struct jobs todo[2]; /* [1]: privileged */
	struct jobs done;
	bool status_wanted;
	bool ending; /* no request is begun any more */
	bool quit;   /* the thread ends after its replies */
	struct buf status;
	uint64_t
		status_ns; /* when the main thread began to make the status; 0: never */
	/* used only by the main thread */
	struct buf description;          /* at the end of each status */
	uint64_t published_ns, asked_ns; /* 0: never */
};

void jobs_add(struct jobs *jobs, struct job *job);
struct job *jobs_take(struct jobs *jobs); /* the first one, or NULL */

/* ---- control_request.c ---- */

/* Whether these n bytes are a request, of any version. */
bool request_is_valid(const union request *r, ssize_t n);

/*
 * Checks whether the peer may make the request, as far as the request alone shows.
 * Returns 0, or -errno and a line in text.
 */
int request_check(const union request *r, bool privileged, struct buf *text);

/* Carries out the request, in the main thread. */
void request_perform(struct job *job, struct session *s);

/* ---- control_server.c ---- */

struct server;

/*
 * Makes the state of the thread; the listener and wake_fd are open. Returns 0 or
 * -errno.
 */
int server_new(struct control *c, struct server **out);
void server_free(struct server *s); /* drops the clients; accepts NULL */

/* The control thread; returns when c->quit is set. */
void *server_run(void *server);

/* Wakes the other thread; writing to an eventfd never blocks here. */
void control_signal(int eventfd);

#endif
