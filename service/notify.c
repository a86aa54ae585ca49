/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * notify.c - sends notifications to the service manager
 *
 * The protocol is one datagram to a unix socket, so libsystemd is not needed. If the
 * manager does not read, the send gives up after a second, so that the service goes on.
 */
#include "config.h"

#include "service/notify.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/times.h"

#define MESSAGE_SIZE  1024
#define NSEC_PER_USEC 1000

/* A path, or '@' and an abstract name, which has no NUL at its end. */
static int make_address(const char *name, struct sockaddr_un *addr, socklen_t *size)
{
	size_t len = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || !name[1])
		return -EINVAL;
	if (len >= sizeof(addr->sun_path))
		return -ENAMETOOLONG;
	memset(addr, 0, sizeof(*addr));
	addr->sun_family = AF_UNIX;
	memcpy(addr->sun_path, name, len);
	*size = offsetof(struct sockaddr_un, sun_path) + len;
	if (name[0] == '@')
		addr->sun_path[0] = '\0';
	else
		*size += 1;
	return 0;
}

int notify_send(const char *fmt, ...)
{
	const struct timeval patience = { .tv_sec = 1 };
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un addr;
	char text[MESSAGE_SIZE];
	socklen_t size;
	va_list ap;
	int fd, n, err;

	if (!name)
		return 0;
	err = make_address(name, &addr, &size);
	if (err)
		return err;
	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0 || n >= (int)sizeof(text))
		return -EMSGSIZE;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
	    sendto(fd, text, n, MSG_NOSIGNAL, (struct sockaddr *)&addr, size) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* A number and nothing else. */
static bool read_number(const char *text, unsigned long long *out)
{
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !*end && !errno;
}

int notify_reloading(void)
{
	return notify_send("RELOADING=1\nMONOTONIC_USEC=%llu",
			   (unsigned long long)(time_mono_ns() / NSEC_PER_USEC));
}

uint64_t notify_watchdog_ns(void)
{
	const char *for_pid = getenv("WATCHDOG_PID");
	unsigned long long pid, usec;

	if (for_pid &&
	    (!read_number(for_pid, &pid) || pid != (unsigned long long)getpid()))
		return 0;
	if (!read_number(getenv("WATCHDOG_USEC"), &usec) ||
	    usec > UINT64_MAX / NSEC_PER_USEC)
		return 0;
	return usec * NSEC_PER_USEC;
}
