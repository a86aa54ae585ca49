/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.h - asks a running cpid (abi/control.h)
 *
 * A socket that may be NULL is the one that $CPI_SOCKET names, else the system's.
 */
#ifndef CPI_REPORT_CLIENT_H
#define CPI_REPORT_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/control.h"
#include "base/buf.h"
#include "base/times.h"

#define CLIENT_PATIENCE_NS (60 * NSEC_PER_SEC) /* a flush on a slow disk */

const char *client_socket(const char *socket);

/* Whether the socket, or $CPI_SOCKET, names one. */
bool client_is_named(const char *socket);

/*
 * Sends one request and appends the reply's text. Each step of the connection waits no
 * longer than patience_ns, which is above 0. Returns 0, or the daemon's refusal (reply
 * then says why), or -errno of the connection; -ENOENT and -ECONNREFUSED mean that no
 * daemon listens, -ETIMEDOUT that it did not answer. Nothing is logged.
 */
int client_call(const char *socket, enum cpi_control_op op, const char *text,
		uint64_t patience_ns, struct buf *reply);

/* The same for a request of size bytes that has more than a text. */
int client_send(const char *socket, const void *request, size_t size,
		uint64_t patience_ns, struct buf *reply);

/* Whether err says that no daemon listens. */
bool client_is_absent(int err);

/* Calls fn for each line "name value" of a reply. */
typedef void (*client_line_fn)(void *ctx, const char *name, const char *value);
void client_each_line(const char *reply, client_line_fn fn, void *ctx);

#endif
