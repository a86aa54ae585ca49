/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.h - sends requests to a running cpid (abi/control.h)
 *
 * A socket argument is the path of cpid's socket. NULL stands for $CPI_SOCKET or,
 * if that is not set, for the default path.
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

const char *client_socket(const char *socket); /* the path that is used */

/* Whether socket or $CPI_SOCKET is set, so that the default path is not used. */
bool client_is_named(const char *socket);

/*
 * Sends one request and appends the text of the reply. Connecting, sending and each
 * read wait at most patience_ns, which is above 0. Returns 0; or the error with which
 * the daemon refused (reply then has the reason); or -errno of the connection. -ENOENT
 * and -ECONNREFUSED mean that no daemon listens, -ETIMEDOUT that it did not answer.
 * Logs nothing.
 */
int client_call(const char *socket, enum cpi_control_op op, const char *text,
		uint64_t patience_ns, struct buf *reply);

/*
 * The same as client_call(), but the caller has made the whole request (struct
 * cpi_control_request, or a larger one that begins with it), of size bytes.
 */
int client_send(const char *socket, const void *request, size_t size,
		uint64_t patience_ns, struct buf *reply);

/*
 * Checks the header of a reply of size bytes, and appends its text. Returns the status
 * in it, or an error if it is not a reply.
 */
int client_take_reply(const char *data, size_t size, struct buf *text);

/* Whether err means that no daemon listens. */
bool client_is_absent(int err);

/* Calls fn for each line "name value" of a reply. */
typedef void (*client_line_fn)(void *ctx, const char *name, const char *value);
void client_each_line(const char *reply, client_line_fn fn, void *ctx);

#endif
