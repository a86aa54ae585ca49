/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * linger - sends descriptors whose release takes long to a unix socket
 *
 *	linger SECONDS COUNT SOCKET
 *
 * A socket whose name ends in ".announce" gets COUNT datagrams; of another one, COUNT
 * connections get a request for the status each, and behind it a second message with
 * the descriptor. Prints how many were taken, and waits for the end of its input: until
 * then they linger.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/un.h>

#include "abi/announce.h"
#include "abi/control.h"
#include "t/lingering.h"

static int connect_to(const char *path, int type)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(addr.sun_path))
		return -1;
	strcpy(addr.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return -1;
	return fd;
}

static int send_one(const char *path, int seconds)
{
	const struct cpi_control_request status = { .magic = CPI_CONTROL_MAGIC,
						    .version = CPI_CONTROL_VERSION,
						    .op = CPI_CONTROL_STATUS };
	const size_t suffix = strlen(CPI_ANNOUNCE_SUFFIX), length = strlen(path);
	int is_announce =
		length > suffix && !strcmp(path + length - suffix, CPI_ANNOUNCE_SUFFIX);
	int peer, fd = lingering_make(seconds, &peer);
	int to = connect_to(path, is_announce ? SOCK_DGRAM : SOCK_SEQPACKET);

	if (fd < 0 || to < 0) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	if (!is_announce)
		send(to, &status, sizeof(status), MSG_NOSIGNAL);
	return lingering_send(to, &status, sizeof(status), fd);
}

int main(int argc, char **argv)
{
	int taken = 0;
	char byte;

	if (argc != 4) {
		fprintf(stderr, "usage: linger SECONDS COUNT SOCKET\n");
		return 2;
	}
	for (int i = 0; i < atoi(argv[2]); i++)
		taken += !send_one(argv[3], atoi(argv[1]));
	printf("%d\n", taken);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return EXIT_SUCCESS;
}
