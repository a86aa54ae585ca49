/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listen.h - the sockets that the server listens on
 */
#ifndef CPI_WEB_LISTEN_H
#define CPI_WEB_LISTEN_H

#include <stdbool.h>

#include "web/server.h"

/*
 * Gets up to max sockets from the service manager (sd_listen_fds(3)). Returns their
 * number, which may be 0, or -errno, logged.
 */
int listen_inherited(struct server_socket *out, int max);

/*
 * Listens on "ADDRESS:PORT", where port 0 is a free one, or "unix:PATH", which is
 * replaced if nothing listens there. 0 or -errno; logged.
 */
int listen_address(const char *text, struct server_socket *out);

/* Whether only this machine can reach a socket. */
bool listen_is_local(const struct server_socket *socket);

#endif
