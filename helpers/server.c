/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server.c - gives up privileges, receives jobs, and answers a worker's messages
 *
 * An invalid message ends the loop, and with it the process. The collector then starts
 * another one.
 */
#include "config.h"

#include "helpers/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fdpass.h"
#include "base/file.h"
#include "helpers/sandbox.h"

int server_begin(int argc, char **argv, const char *name, bool keep_reading, int nice)
{
	if (argc > 1 || !fdpass_is_socket(STDIN_FILENO)) {
		fprintf(stderr,
			"%s: only cpid(8) and cpi-record(1) can start this program; "
			"see %s(8)\n",
			argv[0], name);
		return 2;
	}
	return sandbox_give_up(name, keep_reading, nice) ? EXIT_FAILURE : 0;
}

void server_jobs(int nr, void (*job)(void *ctx, const int *fd), void *ctx)
{
	int fd[FDPASS_MAX];
	char byte;

	while (fdpass_take(STDIN_FILENO, &byte, 1, fd, nr) == nr) {
		job(ctx, fd);
		for (int i = 0; i < nr; i++)
			close(fd[i]);
	}
}

int server_work(int fd, void *message, size_t size, server_take_fn take, void *worker)
{
	const void *answer;
	size_t made;
	ssize_t got;

	while ((got = read(fd, message, size)) > 0) {
		if (take(worker, message, (size_t)got, &answer, &made) ||
		    (made && file_write(fd, answer, made)))
			return EXIT_FAILURE;
	}
	return got ? EXIT_FAILURE : EXIT_SUCCESS;
}
