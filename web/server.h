/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the server: listens, answers, until it is told to stop
 *
 * One thread. Reports are made by children (job.h), so no request keeps another
 * waiting. Bounds: connections (conn.h), children and questions (job.h), kept answers
 * (cache.h).
 */
#ifndef CPI_WEB_SERVER_H
#define CPI_WEB_SERVER_H

#include "base/textlist.h"
#include "web/auth/passwords.h"
#include "web/auth/tls.h"
#include "web/conn.h"
#include "web/job.h"

#define SERVER_TOKEN_SIZE  33 /* hexadecimal, with its NUL */
#define SERVER_MAX_SOCKETS 4

/* A socket that listens. */
struct server_socket {
	int fd;
	unsigned int port; /* 0: a local socket */
};

struct server_config {
	struct text_list dbs;   /* at least one */
	struct text_list hosts; /* names of this server besides the loopback's */
	const char *token;      /* the first part of each path without TLS, or NULL */
	struct tls *tls; /* all ports have it; NULL: none has. New ones replace it */
	const struct tls_files *tls_files; /* that it is read from again */
	struct passwords *passwords;       /* who may ask with TLS; or NULL */
	struct jobs_config jobs;
	struct conns_config conns;
	uint64_t cache_bytes;
	const char *
		ship_metrics; /* the file of cpi-ship's metrics, which may be missing */
	struct server_socket socket[SERVER_MAX_SOCKETS];
	int nr_sockets;
};

struct server;

/*
 * Takes over the sockets on success. 0 or -errno; logged. config must stay;
 * server_run() says what of it may change.
 */
int server_new(const struct server_config *config, struct server **out);
void server_free(struct server *s); /* accepts NULL */

/*
 * Serves until a signal (service/signals.h) says to end. SIGHUP calls reload, which may
 * change the configuration but for sockets, TLS and users. 0 or a negative error, also
 * of reload.
 */
int server_run(struct server *s, int signals, int (*reload)(void *ctx), void *ctx);

#endif
