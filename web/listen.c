/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * listen.c - makes sockets from addresses, or takes the service manager's
 *
 * A local socket that a dead server left is removed, but only after connect() was
 * refused: the socket of a running server, and any file of another kind, stay.
 */
#include "config.h"

#include "web/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/number.h"

#define FIRST_INHERITED 3
#define BACKLOG         128

union any_address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static int read_port(struct server_socket *s)
{
	union any_address a = { .any = { 0 } };
	socklen_t size = sizeof(a);

	if (getsockname(s->fd, &a.any, &size) < 0)
		return -errno;
	s->port = a.any.sa_family == AF_INET    ? ntohs(a.in.sin_port)
		  : a.any.sa_family == AF_INET6 ? ntohs(a.in6.sin6_port)
						: 0;
	return 0;
}

bool listen_is_local(const struct server_socket *s)
{
	union any_address a = { .any = { 0 } };
	socklen_t size = sizeof(a);

	if (getsockname(s->fd, &a.any, &size) < 0)
		return false;
	if (a.any.sa_family == AF_INET)
		return ntohl(a.in.sin_addr.s_addr) >> 24 == 127;
	if (a.any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&a.in6.sin6_addr);
	return a.any.sa_family == AF_UNIX;
}

int listen_inherited(struct server_socket *out, int max)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t own, nr = 0;
	int err;

	if (!pid || !fds || number_parse(pid, 10, &own) || (pid_t)own != getpid() ||
	    number_parse(fds, 10, &nr))
		return 0;
	if (nr > (uint64_t)max) {
		log_err("web: the service manager has more than %d sockets", max);
		return -E2BIG;
	}
	for (int i = 0; i < (int)nr; i++) {
		out[i].fd = FIRST_INHERITED + i;
		fcntl(out[i].fd, F_SETFD, FD_CLOEXEC);
		fcntl(out[i].fd, F_SETFL, O_NONBLOCK);
		err = read_port(&out[i]);
		if (err) {
			log_err("web: a socket of the service manager: %s",
				err_str(err));
			return err;
		}
	}
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	return (int)nr;
}

/* "127.0.0.1:8080", "[::1]:8080" */
static int parse_address(const char *text, union any_address *a, socklen_t *size)
{
	const char *colon = strrchr(text, ':');
	char name[64];
	uint64_t port;

	if (!colon || number_parse(colon + 1, 10, &port) || port > UINT16_MAX)
		return -EINVAL;
	snprintf(name, sizeof(name), "%.*s", (int)(colon - text), text);
	*a = (union any_address){ .in = { .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)port) } };
	*size = sizeof(a->in);
	if (inet_pton(AF_INET, name, &a->in.sin_addr) == 1)
		return 0;
	if (*name != '[' || name[strlen(name) - 1] != ']')
		return -EINVAL;
	name[strlen(name) - 1] = '\0';
	*a = (union any_address){ .in6 = { .sin6_family = AF_INET6,
					   .sin6_port = htons((uint16_t)port) } };
	*size = sizeof(a->in6);
	return inet_pton(AF_INET6, name + 1, &a->in6.sin6_addr) == 1 ? 0 : -EINVAL;
}

/* Removes the file of a socket on which no process listens; leaves every other file. */
static int clear_path(const union any_address *a, socklen_t size)
{
	struct stat st;
	int fd, err = 0;

	if (lstat(a->un.sun_path, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, &a->any, size))
		err = -EADDRINUSE;
	else if (errno != ECONNREFUSED || unlink(a->un.sun_path) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int make_path(const char *path, union any_address *a, socklen_t *size)
{
	*a = (union any_address){ .un = { .sun_family = AF_UNIX } };
	*size = sizeof(a->un);
	if (strlen(path) >= sizeof(a->un.sun_path))
		return -ENAMETOOLONG;
	strcpy(a->un.sun_path, path);
	return clear_path(a, *size);
}

static int open_socket(const union any_address *a, socklen_t size)
{
	const int on = 1;
	mode_t mask;
	int err = 0, fd = socket(a->any.sa_family,
				 SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	if (a->any.sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	if (a->any.sa_family != AF_UNIX)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	mask = umask(0117); /* of a local one: its owner and group */
	if (bind(fd, &a->any, size) < 0 || listen(fd, BACKLOG) < 0)
		err = -errno;
	umask(mask);
	if (!err)
		return fd;
	close(fd);
	return err;
}

int listen_address(const char *text, struct server_socket *out)
{
	union any_address a;
	socklen_t size;
	int err;

	if (!strncmp(text, "unix:", 5))
		err = make_path(text + 5, &a, &size);
	else
		err = parse_address(text, &a, &size);
	if (!err) {
		out->fd = open_socket(&a, size);
		err = out->fd < 0 ? out->fd : read_port(out);
	}
	if (err)
		log_err("web: --listen=%s: %s", text, err_str(err));
	return err;
}
