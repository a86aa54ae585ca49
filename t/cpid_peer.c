/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpid_peer - who cpid talks to, for the tests in t/
 *
 *	cpid_peer request SOCKET OP [TEXT]	prints the reply; exit 1 when it is
 *						an error, 3 when there is none
 *	cpid_peer rubbish SOCKET COUNT SEED	sends what is no request; exit 1
 *						when it is answered
 *	cpid_peer flood SOCKET OP SECONDS UID	asks for "status", or to "register" in a
 *						process of another's, as fast as it can,
 *						as that user; says how often it was
 *						answered
 *	cpid_peer notify SOCKET			is the service manager: prints
 *						"bound", then what it is told
 *	cpid_peer can-sample			may we sample a CPU?
 *
 * An alarm ends it after ten minutes, or $CPI_PEER_SECONDS, with a line
 * "EXIT=timeout", so that a test that waits for more does not hang.
 */
#include "config.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "abi/control.h"

enum { EXIT_ANSWERED = 1, EXIT_USAGE = 2, EXIT_NO_REPLY = 3, EXIT_SYSTEM = 4 };

static const char *const op_names[] = {
	[CPI_CONTROL_STATUS] = "status", [CPI_CONTROL_FLUSH] = "flush",
	[CPI_CONTROL_EPOCH] = "epoch",   [CPI_CONTROL_RATE] = "rate",
	[CPI_CONTROL_QUIT] = "quit",     [CPI_CONTROL_MARK] = "mark",
};

static void give_up(int number)
{
	static const char line[] = "EXIT=timeout\n";

	(void)!write(STDOUT_FILENO, line, sizeof(line) - 1);
	_exit(EXIT_SYSTEM);
}

static void die(const char *what)
{
	perror(what);
	exit(EXIT_SYSTEM);
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		die(path);
	}
	strcpy(addr.sun_path, path);
	return addr;
}

static int connect_to(const char *path)
{
	struct sockaddr_un addr = address_of(path);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		die(path);
	return fd;
}

static int request(const char *path, const char *op, const char *text)
{
	static union {
		struct cpi_control_reply head;
		char bytes[CPI_CONTROL_REPLY];
	} reply;
	struct cpi_control_request r = {
		.magic = CPI_CONTROL_MAGIC,
		.version = CPI_CONTROL_VERSION,
	};
	ssize_t n;
	int fd;

	for (uint16_t i = 0; i < sizeof(op_names) / sizeof(op_names[0]); i++) {
		if (op_names[i] && !strcmp(op, op_names[i]))
			r.op = i;
	}
	snprintf(r.text, sizeof(r.text), "%s", text);
	fd = connect_to(path);
	if (send(fd, &r, sizeof(r), MSG_NOSIGNAL) != sizeof(r))
		die("send");
	n = recv(fd, &reply, sizeof(reply), 0);
	close(fd);
	if (n < (ssize_t)sizeof(reply.head) || reply.head.magic != CPI_CONTROL_MAGIC ||
	    reply.head.size != n - sizeof(reply.head))
		return EXIT_NO_REPLY;
	fwrite(reply.bytes + sizeof(reply.head), 1, reply.head.size, stdout);
	return reply.head.status ? EXIT_ANSWERED : 0;
}

static int rubbish(const char *path, long count, unsigned int seed)
{
	char bytes[300], answer[16];

	srand(seed);
	while (count-- > 0) {
		size_t size = 1 + (size_t)rand() % sizeof(bytes);
		int fd = connect_to(path);

		for (size_t i = 0; i < size; i++)
			bytes[i] = (char)rand();
		if (send(fd, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
			die("send");
		if (recv(fd, answer, sizeof(answer), 0) != 0) {
			fprintf(stderr, "seed %u: rubbish was answered\n", seed);
			return EXIT_ANSWERED;
		}
		close(fd);
	}
	return 0;
}

static int flood(const char *path, const char *op, int seconds, uid_t uid)
{
	struct cpi_control_register r = {
		.head = { .magic = CPI_CONTROL_MAGIC, .version = CPI_CONTROL_VERSION },
		.pid = 1,
	};
	bool registers = !strcmp(op, "register");
	size_t size = registers ? sizeof(r) : sizeof(r.head);
	static char reply[CPI_CONTROL_REPLY];
	const time_t end = time(NULL) + seconds;
	long answered = 0;

	r.head.op = registers ? CPI_CONTROL_REGISTER : CPI_CONTROL_STATUS;
	if (setresuid(uid, uid, uid) < 0)
		die("setresuid");
	while (time(NULL) < end) {
		int fd = connect_to(path);

		if (send(fd, &r, size, MSG_NOSIGNAL) == (ssize_t)size &&
		    recv(fd, reply, sizeof(reply), 0) > 0)
			answered++;
		close(fd);
	}
	printf("%ld\n", answered);
	return 0;
}

static int notify(const char *path)
{
	struct sockaddr_un addr = address_of(path);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char text[2048];
	ssize_t n;

	umask(0); /* whoever is served may tell */
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		die(path);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("bound");
	while ((n = recv(fd, text, sizeof(text) - 1, 0)) >= 0) {
		text[n] = '\0';
		puts(text);
	}
	die("recv");
	return EXIT_SYSTEM;
}

static int can_sample(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.disabled = 1,
	};

	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0UL) < 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *seconds = getenv("CPI_PEER_SECONDS");

	signal(SIGALRM, give_up);
	alarm(seconds ? (unsigned int)atoi(seconds) : 600);
	if (!strcmp(what, "request") && (argc == 4 || argc == 5))
		return request(argv[2], argv[3], argc == 5 ? argv[4] : "");
	if (!strcmp(what, "rubbish") && argc == 5)
		return rubbish(argv[2], atol(argv[3]), (unsigned int)atol(argv[4]));
	if (!strcmp(what, "flood") && argc == 6)
		return flood(argv[2], argv[3], atoi(argv[4]), (uid_t)atoi(argv[5]));
	if (!strcmp(what, "notify") && argc == 3)
		return notify(argv[2]);
	if (!strcmp(what, "can-sample") && argc == 2)
		return can_sample();
	fprintf(stderr, "usage: see the top of t/cpid_peer.c\n");
	return EXIT_USAGE;
}
