/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/ctl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/out.h"

#define TIMEOUT_S 60 /* a flush on a slow disk */

const char *ctl_socket(const struct cmd_context *ctx)
{
	const char *env = getenv("CPI_SOCKET");

	if (ctx->opt.socket)
		return ctx->opt.socket;
	return env && *env ? env : CPI_CONTROL_SOCKET;
}

bool ctl_is_absent(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED;
}

static int connect_to(const char *path)
{
	const struct timeval timeout = { .tv_sec = TIMEOUT_S };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0 ||
	    connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* Checks a reply of size bytes before it believes any of it. */
static int take_reply(const char *data, size_t size, struct buf *text)
{
	struct cpi_control_reply head;

	if (size < sizeof(head))
		return -CPI_ETRUNCATED;
	memcpy(&head, data, sizeof(head));
	if (head.magic != CPI_CONTROL_MAGIC)
		return -CPI_EFORMAT;
	if (head.version != CPI_CONTROL_VERSION)
		return -CPI_EVERSION;
	if (head.size != size - sizeof(head) || head.status > 0)
		return -CPI_ECORRUPT;
	buf_put(text, data + sizeof(head), head.size);
	return text->err ? text->err : head.status;
}

static int exchange(int fd, const void *request, size_t size, struct buf *reply)
{
	const size_t max = sizeof(struct cpi_control_reply) + CPI_CONTROL_REPLY;
	ssize_t got;
	char *data;
	int err;

	if (send(fd, request, size, MSG_NOSIGNAL) < 0)
		return -errno;
	data = malloc(max);
	if (!data)
		return -ENOMEM;
	do
		got = recv(fd, data, max, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		err = errno == EAGAIN ? -ETIMEDOUT : -errno;
	else
		err = take_reply(data, got, reply);
	free(data);
	return err;
}

static int call(const struct cmd_context *ctx, const void *request, size_t size,
		struct buf *reply)
{
	int fd, err;

	fd = connect_to(ctl_socket(ctx));
	if (fd < 0)
		return fd;
	err = exchange(fd, request, size, reply);
	close(fd);
	return err;
}

int ctl_call(const struct cmd_context *ctx, enum cpi_control_op op, const char *text,
	     struct buf *reply)
{
	struct cpi_control_request request = {
		.magic = CPI_CONTROL_MAGIC,
		.version = CPI_CONTROL_VERSION,
		.op = op,
	};

	if (strlen(text) >= sizeof(request.text))
		return -E2BIG;
	strcpy(request.text, text);
	return call(ctx, &request, sizeof(request), reply);
}

static void explain(const struct cmd_context *ctx, int err, struct buf *reply)
{
	const char *path = ctl_socket(ctx);

	if (reply->len)
		log_err("cpid at %s: %s", path, buf_str(reply));
	else if (ctl_is_absent(err))
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

void ctl_each_line(const char *reply, ctl_line_fn fn, void *ctx)
{
	while (*reply) {
		size_t line = strcspn(reply, "\n"), name = strcspn(reply, " \n");
		char *copy = strndup(reply, line);

		if (!copy)
			return;
		if (line) {
			copy[name] = '\0';
			fn(ctx, copy, name < line ? copy + name + 1 : "");
		}
		free(copy);
		reply += line + (reply[line] == '\n');
	}
}

static void print_line(void *ctx, const char *name, const char *value)
{
	out_line("%s%s%s", name, *value ? " " : "", value);
}

/* Prints what a call came to. The exit status. */
static int report(const struct cmd_context *ctx, int err, struct buf *reply)
{
	if (err)
		explain(ctx, err, reply);
	else
		ctl_each_line(buf_str(reply), print_line, NULL);
	buf_fini(reply);
	return err ? EXIT_FAIL : EXIT_OK;
}

int ctl_run(const struct cmd_context *ctx, enum cpi_control_op op, const char *text)
{
	struct buf reply = { 0 };
	int err = ctl_call(ctx, op, text, &reply);

	return report(ctx, err, &reply);
}

int ctl_run_with(const struct cmd_context *ctx, const void *request, size_t size)
{
	struct buf reply = { 0 };
	int err = call(ctx, request, size, &reply);

	return report(ctx, err, &reply);
}
