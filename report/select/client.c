/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * client.c - sends one request to cpid, and reads the reply
 *
 * A reply is not trusted: its length and header are checked before anything else in it
 * is used. Each request has a connection of its own.
 */
#include "config.h"

#include "report/select/client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/times.h"

/* Returns the socket that was named, or NULL if none was. */
static const char *named_socket(const char *socket)
{
	const char *env = getenv("CPI_SOCKET");

	if (socket)
		return socket;
	return env && *env ? env : NULL;
}

bool client_is_named(const char *socket)
{
	return named_socket(socket);
}

const char *client_socket(const char *socket)
{
	const char *named = named_socket(socket);

	return named ? named : CPI_CONTROL_SOCKET;
}

bool client_is_absent(int err)
{
	return err == -ENOENT || err == -ECONNREFUSED;
}

/* The error of a call whose time is limited. */
static int limited_error(void)
{
	return errno == EAGAIN ? -ETIMEDOUT : -errno;
}

static int connect_to(const char *path, uint64_t patience_ns)
{
	const struct timeval timeout = {
		.tv_sec = (time_t)(patience_ns / NSEC_PER_SEC),
		.tv_usec = (suseconds_t)(patience_ns % NSEC_PER_SEC / 1000),
	};
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
		err = limited_error();
		close(fd);
		return err;
	}
	return fd;
}

int client_take_reply(const char *data, size_t size, struct buf *text)
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
	if (head.status && text->len && text->data[text->len - 1] == '\n')
		text->len--; /* the text of an error becomes a part of a message */
	return text->err ? text->err : head.status;
}

static int exchange(int fd, const void *request, size_t size, struct buf *reply)
{
	const size_t max = sizeof(struct cpi_control_reply) + CPI_CONTROL_REPLY;
	ssize_t got;
	char *data;
	int err;

	if (send(fd, request, size, MSG_NOSIGNAL) < 0)
		return limited_error();
	data = malloc(max);
	if (!data)
		return -ENOMEM;
	do
		got = recv(fd, data, max, 0);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		err = limited_error();
	else
		err = client_take_reply(data, got, reply);
	free(data);
	return err;
}

int client_send(const char *socket, const void *request, size_t size,
		uint64_t patience_ns, struct buf *reply)
{
	int fd, err;

	fd = connect_to(client_socket(socket), patience_ns);
	if (fd < 0)
		return fd;
	err = exchange(fd, request, size, reply);
	close(fd);
	return err;
}

int client_call(const char *socket, enum cpi_control_op op, const char *text,
		uint64_t patience_ns, struct buf *reply)
{
	struct cpi_control_request request = {
		.magic = CPI_CONTROL_MAGIC,
		.version = CPI_CONTROL_VERSION,
		.op = op,
	};

	if (strlen(text) >= sizeof(request.text))
		return -E2BIG;
	strcpy(request.text, text);
	return client_send(socket, &request, sizeof(request), patience_ns, reply);
}

void client_each_line(const char *reply, client_line_fn fn, void *ctx)
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
