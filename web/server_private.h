/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server_private.h - what the server's files share
 */
#ifndef CPI_WEB_SERVER_PRIVATE_H
#define CPI_WEB_SERVER_PRIVATE_H

#include <microhttpd.h>
#include <stddef.h>

#include "web/auth/login.h"
#include "web/cache.h"
#include "web/conn.h"
#include "web/job.h"
#include "web/loop.h"
#include "web/server.h"
#include "web/target.h"

#define SERVER_MAX_ASSETS 64

/* Connections with one certificate. */
struct server_daemon {
	struct MHD_Daemon *daemon;
	struct watch watch;
};

/* One socket that listens, and its connections. */
struct server_listener {
	struct server *server;
	struct server_daemon now,
		former; /* former: of the certificate before, or NULL */
	int fd;
	unsigned int port;
	bool has_tls;
};

struct server {
	const struct server_config *config;
	struct loop loop;
	struct jobs jobs;
	struct conns conns;
	struct logins logins;
	struct cache cache;
	struct tls former_tls; /* of the listeners' former daemons */
	uint64_t renew_ns;     /* when certificates are tried again; 0: they worked */
	struct server_listener listener[SERVER_MAX_SOCKETS];
	int nr_listeners;
	bool is_ending; /* no request is answered, or waits, any more */
	struct reply *asset[SERVER_MAX_ASSETS]; /* as assets[] */
	struct reply *not_found, *not_allowed;
	uint64_t started_ns;
	uint64_t nr_requests, nr_errors;
};

/* What is done with a job's reply before it is sent. */
enum request_kind { REQUEST_REPORT, REQUEST_METRICS, REQUEST_READY };

/* One request, from its first line until it is answered. */
struct request {
	struct server_listener *listener;
	struct MHD_Connection *mhd;
	char text[TARGET_MAX + 1]; /* its target; target points into it */
	bool is_long;              /* the target was longer */
	bool is_checked;
	bool is_refused; /* what follows on the connection is not read */
	bool is_gone;    /* the client has closed the connection */
	bool is_suspended;
	bool may_ask;     /* the client is known, or need not be */
	bool is_stamping; /* it waits for the name of its epochs' content */
	bool was_stamped; /* and does so once */
	enum request_kind kind;
	struct target target;
	struct job_waiter waiter;
	struct login_waiter login;
	struct watch watch; /* of the client's going away, while it waits */
	struct reply *reply;
	char file[64]; /* name to save it under, or "" */
};

/* The functions that MHD calls; cls is the listener. */
void *request_begin(void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result request_handle(void *cls, struct MHD_Connection *mhd, const char *url,
			       const char *method, const char *version,
			       const char *upload, size_t *nr_upload, void **request);
void request_end(void *cls, struct MHD_Connection *mhd, void **request,
		 enum MHD_RequestTerminationCode why);

/*
 * The reply to a request whose headers were checked: a new reference. NULL: r waits for
 * a job, or, if it does not, memory is out.
 */
struct reply *route(struct request *r);

/* The server's own figures for Prometheus. */
void metrics_put(const struct server *s, struct buf *out);

#endif
