/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ctl.c - sends a request to cpid and prints the reply
 */
#include "config.h"

#include "tools/ctl.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "report/select/client.h"
#include "tools/ui/out.h"

static void explain(const char *socket, int err, struct buf *reply)
{
	const char *path = client_socket(socket);

	if (reply->len)
		log_err("cpid at %s: %s", path, buf_str(reply));
	else if (client_is_absent(err))
		log_err("%s: no cpid listens there: start it, or name its socket with "
			"--socket",
			path);
	else if (err == -EACCES || err == -EPERM)
		log_err("%s: %s: only cpid's user and root may ask this", path,
			err_str(err));
	else if (err == -E2BIG)
		log_err("the argument is longer than %d bytes", CPI_CONTROL_TEXT - 1);
	else
		log_err("%s: %s", path, err_str(err));
}

static void print_line(void *ctx, const char *name, const char *value)
{
	out_line("%s%s%s", name, *value ? " " : "", value);
}

int ctl_report(const char *socket, int err, struct buf *reply)
{
	if (err)
		explain(socket, err, reply);
	else
		client_each_line(buf_str(reply), print_line, NULL);
	buf_fini(reply);
	return err ? EXIT_FAIL : EXIT_OK;
}

int ctl_run(const char *socket, enum cpi_control_op op, const char *text)
{
	struct buf reply = { 0 };
	int err = client_call(socket, op, text, CLIENT_PATIENCE_NS, &reply);

	return ctl_report(socket, err, &reply);
}

int ctl_run_with(const char *socket, const void *request, size_t size)
{
	struct buf reply = { 0 };
	int err = client_send(socket, request, size, CLIENT_PATIENCE_NS, &reply);

	return ctl_report(socket, err, &reply);
}
