/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.h - the server: listens and answers until a signal stops it
 *
 * The server has one thread. Child processes make the reports (job.h), so no request
 * delays another. Connections (conn.h), children and waiting questions (job.h) and
 * cached answers (cache.h) are bounded.
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
	struct text_list hosts; /* names of this server other than the loopback's */
	const char *token;      /* without TLS, each path must begin with it; or NULL */
	struct tls *tls; /* used on all ports; NULL: no TLS. A renewed certificate
			    replaces it */
	const struct tls_files *
		tls_files; /* the files of tls, which are read again when they change */
	struct passwords *passwords; /* the users who may connect with TLS; or NULL */
	struct jobs_config jobs;
	struct conns_config conns;
	uint64_t cache_bytes;
	const char *
		ship_metrics; /* the file of cpi-ship's metrics, which may be missing */
	struct server_socket socket[SERVER_MAX_SOCKETS];
	int nr_sockets;
	int dir_fd; /* the service manager's folder, for refusal.h; -1: none */
};

struct server;

/*
 * On success takes over the sockets. Returns 0 or -errno, logged. config must stay
 * valid; server_run() says which parts may change.
 */
int server_new(const struct server_config *config, struct server **out);
void server_free(struct server *s); /* accepts NULL */

/*
 * Serves until a signal (service/signals.h) ends it. SIGHUP calls reload, which may
 * change the configuration except sockets, TLS and users. Returns 0 or a negative
 * error, also that of reload.
 */
int server_run(struct server *s, int signals, int (*reload)(void *ctx), void *ctx);

#endif
