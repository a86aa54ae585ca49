/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_descriptors.c - clients attach descriptors to what they send to cpid's sockets
 *
 * The first byte chooses: bit 0, the kernel refuses descriptors, if it can; bit 1, the
 * receiver wants the sender's credentials, as for the loader hook; bit 2, the
 * connection is closed with what is unread. Each further byte is a message: bits 0 to
 * 2, how many descriptors; bits 3 to 5, of what kind the first is. What arrives is what
 * was sent without descriptors, in this order, and no descriptor stays open.
 *
 * The time of an execution is that of forks: of what they copy, and of waiting.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/os/foreignfds.h"
#include "t/fuzz/fuzz.h"

#define MAX_MESSAGES 12
#define MAX_ATTACHED 7
#define MAX_FD       256
#define TABLES_MIN   (16ul << 20) /* bytes of a mapping; ASan's own are larger */
#define TABLES_MAX   (64ul << 20)

static int nr_open(void)
{
	struct pollfd p[MAX_FD];
	int nr = 0;

	for (int fd = 0; fd < MAX_FD; fd++)
		p[fd] = (struct pollfd){ .fd = fd };
	fuzz_check(poll(p, MAX_FD, 0) >= 0);
	for (int fd = 0; fd < MAX_FD; fd++)
		nr += !(p[fd].revents & POLLNVAL);
	return nr;
}

/* Forks need not copy libFuzzer's tables of features, which are nearly all its memory.
 */
static void spare_tables(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to, inode;
	char line[512], rights[5];

	fuzz_check(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s %*s %*s %lu", &from, &to, rights,
			   &inode) == 4 &&
		    !inode && !strcmp(rights, "rw-p") && to - from >= TABLES_MIN &&
		    to - from <= TABLES_MAX)
			madvise((void *)from, to - from, MADV_WIPEONFORK);
	fclose(maps);
}

/* A new descriptor; of a socket pair or pipe the other end is closed. */
static int make_one(unsigned int kind, int socket)
{
	int pair[2], fd = -1;

	switch (kind % 8) {
	case 0:
		fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
		break;
	case 1:
		fd = eventfd(0, EFD_CLOEXEC);
		break;
	case 2:
		fd = epoll_create1(EPOLL_CLOEXEC);
		break;
	case 3:
		fd = dup(socket); /* the sender's own end of the connection */
		break;
	case 4:
	case 5:
		fuzz_check(!pipe(pair));
		fd = pair[kind & 1];
		close(pair[!(kind & 1)]);
		break;
	default:
		fuzz_check(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
		fd = pair[kind & 1];
		close(pair[!(kind & 1)]);
	}
	fuzz_check(fd >= 0);
	return fd;
}

/* Returns whether it was sent. The kernel may refuse a message with descriptors. */
static bool send_one(int socket, uint8_t number, uint8_t how)
{
	const int nr = how & 7;
	union {
		struct cmsghdr aligned;
		char space[CMSG_SPACE(MAX_ATTACHED * sizeof(int))];
	} control = { 0 };
	struct iovec part = { &number, 1 };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	int fd[MAX_ATTACHED];
	ssize_t sent;

	for (int i = 0; i < nr; i++)
		fd[i] = make_one((unsigned int)(how >> 3) + (unsigned int)i, socket);
	if (nr) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE((size_t)nr * sizeof(int));
		control.aligned.cmsg_level = SOL_SOCKET;
		control.aligned.cmsg_type = SCM_RIGHTS;
		control.aligned.cmsg_len = CMSG_LEN((size_t)nr * sizeof(int));
		memcpy(CMSG_DATA(&control.aligned), fd, (size_t)nr * sizeof(int));
	}
	sent = sendmsg(socket, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	for (int i = 0; i < nr; i++)
		close(fd[i]);
	return sent == 1;
}

static void await_drop(struct foreignfds *f)
{
	struct pollfd p[FOREIGNFDS_MAX];

	while (foreignfds_is_dropping(f)) {
		for (int i = 0; i < FOREIGNFDS_MAX; i++)
			p[i] = (struct pollfd){ f->apart[i].fd - 1, POLLIN, 0 };
		poll(p, FOREIGNFDS_MAX, FOREIGNFDS_PATIENCE_MS);
	}
}

/* As the servers do: 1 if there may be more, 0 if there is nothing, and its number. */
static int receive(struct foreignfds *f, int socket, bool credentials, int *number)
{
	union {
		struct cmsghdr aligned;
		char space[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	uint8_t byte;
	struct iovec part = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &part, .msg_iovlen = 1 };
	const size_t expected = credentials ? sizeof(control) : 0;

	*number = -1;
	if (foreignfds_came(f, socket, expected)) {
		fuzz_check(!foreignfds_drop(f, socket));
		await_drop(f);
		return 1;
	}
	msg.msg_control = credentials ? &control : NULL;
	msg.msg_controllen = expected;
	if (recvmsg(socket, &msg, MSG_DONTWAIT) != 1)
		return 0;
	*number = byte;
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool spared;
	struct foreignfds f = { .refused = false };
	const int on = 1, before = nr_open();
	uint8_t expected[MAX_MESSAGES];
	int pair[2], nr = 0, got = 0, number;
	size_t nr_messages;

	if (!size)
		return 0;
	if (!spared)
		spare_tables();
	spared = true;
	nr_messages = size - 1 < MAX_MESSAGES ? size - 1 : MAX_MESSAGES;
	fuzz_check(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair));
	if (data[0] & 1)
		f.refused = foreignfds_refuse(pair[1]);
	if (data[0] & 2)
		fuzz_check(
			!setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)));
	for (size_t i = 0; i < nr_messages; i++) {
		const bool sent = send_one(pair[0], (uint8_t)i, data[i + 1]);

		fuzz_check(sent || data[i + 1] & 7);
		if (sent && !(data[i + 1] & 7))
			expected[nr++] = (uint8_t)i;
	}
	while (!(data[0] & 4) && receive(&f, pair[1], data[0] & 2, &number))
		if (number >= 0 && !(data[number + 1] & 7))
			fuzz_check(got < nr && number == expected[got++]);
	fuzz_check(data[0] & 4 || got == nr);
	close(pair[0]);
	fuzz_check(!foreignfds_close(&f, pair[1]));
	await_drop(&f);
	for (int i = 0; i < FOREIGNFDS_MAX; i++)
		if (f.apart[i].fd)
			close(f.apart[i].fd - 1);
	fuzz_check(nr_open() == before);
	return 0;
}
