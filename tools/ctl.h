/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl.h - asks a running cpid (abi/control.h)
 */
#ifndef CPI_TOOLS_CTL_H
#define CPI_TOOLS_CTL_H

#include "abi/control.h"
#include "base/buf.h"
#include "tools/cmd.h"

/* The socket that the options name, else $CPI_SOCKET, else the system's. */
const char *ctl_socket(const struct cmd_context *ctx);

/*
 * Sends one request and appends the reply's text. Returns 0, or the daemon's
 * refusal (reply then says why), or -errno of the connection; -ENOENT and
 * -ECONNREFUSED mean that no daemon listens. Nothing is logged.
 */
int ctl_call(const struct cmd_context *ctx, enum cpi_control_op op, const char *text,
	     struct buf *reply);

/* Whether err says that no daemon listens. */
bool ctl_is_absent(int err);

/* ctl_call() that prints the reply, or what went wrong. The exit status. */
int ctl_run(const struct cmd_context *ctx, enum cpi_control_op op, const char *text);

/* The same for a request of size bytes that has more than a text. */
int ctl_run_with(const struct cmd_context *ctx, const void *request, size_t size);

/* Calls fn for each line "name value" of a reply. */
typedef void (*ctl_line_fn)(void *ctx, const char *name, const char *value);
void ctl_each_line(const char *reply, ctl_line_fn fn, void *ctx);

#endif
