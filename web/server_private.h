/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server_private.h - shared by the files that implement server.h
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
#define SERVER_NR_ASKED   1024

/* The connections that use one certificate. */
struct server_daemon {
	struct MHD_Daemon *daemon;
	struct watch watch;
};

/* One socket that listens, and its connections. */
struct server_listener {
	struct server *server;
	struct server_daemon now,
		former; /* former: connections with the previous certificate, or NULL */
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
	/* questions that were asked before; the hash of a question chooses its slot */
	struct job_key asked[SERVER_NR_ASKED];
	struct tls former_tls; /* the TLS data of the former daemons */
	uint64_t renew_ns; /* when to load the certificates again after a failure; 0: no
			      failure */
	bool refuses_files; /* the certificate's files changed, but cannot be used */
	struct server_listener listener[SERVER_MAX_SOCKETS];
	int nr_listeners;
	unsigned int nr_reloads; /* of options, on which answers depend */
	bool is_ending; /* the server ends: no request is answered or waits any more */
	struct reply *asset[SERVER_MAX_ASSETS]; /* in the order of assets[] */
	struct reply *not_found, *not_allowed;
	uint64_t started_ns;
	uint64_t nr_requests, nr_errors;
};

/* The kind of a request: how the reply of its job is used. */
enum request_kind { REQUEST_REPORT, REQUEST_METRICS, REQUEST_READY };

/* One request, from its first line until it is answered. */
struct request {
	struct server_listener *listener;
	struct MHD_Connection *mhd;
	char text[TARGET_MAX + 1]; /* the target; the member target points into it */
	bool is_long;              /* the target was longer */
	bool is_checked;
	bool is_refused; /* the rest of the connection is not read */
	bool is_gone;    /* the client has closed the connection */
	bool is_suspended;
	bool may_ask;     /* the client is authenticated, or need not be */
	bool is_stamping; /* it waits for the stamp of its epochs */
	bool was_stamped; /* the stamp was asked for, and is not asked for again */
	enum request_kind kind;
	struct target target;
	struct job_waiter waiter;
	struct job_waiter stamp; /* waits for the stamp while the report is made */
	unsigned int nr_reloads; /* the server's, when it asked */
	struct job_key question;
	struct login_waiter login;
	struct watch watch; /* notices if the client closes the connection, while the
			       request waits */
	struct reply *reply;
	char file[64]; /* file name for saving the answer, or "" */
};

/* The functions that MHD calls; cls is the listener. */
void *request_begin(void *cls, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result request_handle(void *cls, struct MHD_Connection *mhd, const char *url,
			       const char *method, const char *version,
			       const char *upload, size_t *nr_upload, void **request);
void request_end(void *cls, struct MHD_Connection *mhd, void **request,
		 enum MHD_RequestTerminationCode why);

/*
 * Returns the reply to a request whose headers were checked, as a new reference.
 * Returns NULL if r now waits for a job, or when out of memory; then r does not wait.
 */
struct reply *route(struct request *r);

/*
 * Call when "epoch stamp" has replied with the stamp of r's epochs. The key that
 * follows from the stamp is the one under which the cache keeps the report. If the
 * report is not finished, but the cache has an answer with this key, r gets that
 * answer.
 */
void route_stamped(struct request *r, const struct reply *reply);

/* The server's own figures for Prometheus. */
void metrics_put(const struct server *s, struct buf *out);

#endif
