/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl.h - sends requests of commands to a running cpid (report/select/client.h)
 */
#ifndef CPI_TOOLS_CTL_H
#define CPI_TOOLS_CTL_H

#include <stddef.h>

#include "abi/control.h"
#include "base/buf.h"
#include "tools/ui/cmd.h"

#define OPT_SOCKET OPT("socket", 0, "PATH", "cpid's control socket", OPT_STRING, socket)

/* Sends a request and prints the reply or the error. Returns the exit status. */
int ctl_run(const char *socket, enum cpi_control_op op, const char *text);

/* The same for a binary request of size bytes. */
int ctl_run_with(const char *socket, const void *request, size_t size);

/* Prints the result of a call that was made, and frees reply. Returns the exit status.
 */
int ctl_report(const char *socket, int err, struct buf *reply);

#endif
