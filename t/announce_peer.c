/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announce_peer - who the loader hook, or cpid, talks to, for the tests in t/
 *
 *	announce_peer hold SOCKET	binds it, prints "bound", takes nothing
 *	announce_peer drain SOCKET
 *		the same, but takes what has come every 5 ms; no alarm ends it
 *	announce_peer forge SOCKET COUNT
 *		states what is not true of itself, and rubbish, COUNT times
 *	announce_peer flood SOCKET COUNT
 *		sends COUNT of the largest datagrams, as fast as they are taken
 *	announce_peer other SOCKET PID
 *		as nobody, speaks for PID; exit 0 when the kernel does not let it
 *
 * An alarm ends it after ten minutes.
 */
#define _GNU_SOURCE
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "abi/announce.h"

#define NOBODY 65534

static struct {
	struct cpi_announce_head head;
	struct cpi_announce_record record;
	struct cpi_announce_segment segment;
	char rest[4];
} forged = {
	.head = { CPI_ANNOUNCE_MAGIC, CPI_ANNOUNCE_VERSION, 0 },
	.record = { .size = sizeof(forged) - sizeof(forged.head),
		    .what = CPI_ANNOUNCE_LOADED,
		    .nr_segments = 1,
		    .base = 0x10000 },
	.segment = { 0, 0, 0x1000 },
};

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(addr.sun_path))
		die(path);
	strcpy(addr.sun_path, path);
	return addr;
}

static int connect_to(const char *path)
{
	struct sockaddr_un addr = address_of(path);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		die(path);
	return fd;
}

/* Takes what has come, every now and then, or nothing ever. */
static int hold(const char *path, bool drains)
{
	static char data[CPI_ANNOUNCE_MAX];
	struct sockaddr_un addr = address_of(path);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		die(path);
	puts("bound");
	fflush(stdout);
	while (drains) {
		usleep(5000);
		while (recv(fd, data, sizeof(data), MSG_DONTWAIT) >= 0)
			;
	}
	pause();
	return 0;
}

/* A blocking send waits for room: each one is taken. */
static int forge(const char *path, long count)
{
	int fd = connect_to(path);

	for (long i = 0; i < count; i++) {
		if (send(fd, &forged, sizeof(forged), 0) < 0 ||
		    send(fd, "rubbish", 7, 0) < 0)
			die("send");
	}
	return 0;
}

/* Records without end, all of them false. */
static int flood(const char *path, long count)
{
	static char data[CPI_ANNOUNCE_MAX];
	int fd = connect_to(path);
	size_t size = sizeof(forged.head);

	memcpy(data, &forged.head, size);
	while (size + forged.record.size <= sizeof(data)) {
		memcpy(data + size, &forged.record, forged.record.size);
		size += forged.record.size;
	}
	for (long i = 0; i < count; i++) {
		if (send(fd, data, size, 0) < 0)
			die("send");
	}
	return 0;
}

static int speak_as(const char *path, pid_t pid)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(struct ucred))];
	} control = { 0 };
	struct iovec part = { &forged, sizeof(forged) };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct ucred who = { pid, 0, 0 };
	int fd = connect_to(path);

	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		die("nobody");
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_CREDENTIALS;
	control.head.cmsg_len = CMSG_LEN(sizeof(who));
	memcpy(CMSG_DATA(&control.head), &who, sizeof(who));
	return sendmsg(fd, &msg, 0) >= 0 || errno != EPERM;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";

	if (!strcmp(what, "drain") && argc == 3)
		return hold(argv[2], true);
	alarm(600);
	if (!strcmp(what, "hold") && argc == 3)
		return hold(argv[2], false);
	if (!strcmp(what, "forge") && argc == 4)
		return forge(argv[2], atol(argv[3]));
	if (!strcmp(what, "flood") && argc == 4)
		return flood(argv[2], atol(argv[3]));
	if (!strcmp(what, "other") && argc == 4)
		return speak_as(argv[2], atoi(argv[3]));
	fprintf(stderr, "usage: see the top of t/announce_peer.c\n");
	return 2;
}
