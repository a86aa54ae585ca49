/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpi-unwind: a server for one collector, which starts it before it gives up its own
 * privileges; nobody else has a use for it. It forks one worker at a time, and parses
 * nothing itself.
 */
#include "config.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/passing.h"
#include "tools/unwind.h"

/* The worker's: a message that may not be ends it, and its collector starts another. */
static int serve(void)
{
	static _Alignas(max_align_t) char message[CPI_UNWIND_MESSAGE];
	struct unwind_worker *w = unwind_worker_new(UNWIND_FD_IMAGES);
	const void *answer;
	ssize_t size = -1;
	size_t made;

	while (w && (size = read(UNWIND_FD_WORK, message, sizeof(message))) > 0) {
		if (unwind_worker_take(w, message, (size_t)size, &answer, &made) ||
		    (made && file_write(UNWIND_FD_WORK, answer, made)))
			return EXIT_FAILURE;
	}
	return w && !size ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int work(const int fd[CPI_UNWIND_NR_FDS])
{
	if (sandbox_place_fds(fd, CPI_UNWIND_NR_FDS) ||
	    sandbox_lock_in(CPI_UNWIND_NR_FDS, 0))
		return EXIT_FAILURE;
	return serve();
}

static void end_worker(pid_t worker)
{
	if (worker <= 0)
		return;
	kill(worker, SIGKILL);
	waitpid(worker, NULL, 0);
}

int main(int argc, char **argv)
{
	int fd[CPI_UNWIND_NR_FDS];
	pid_t worker = 0;
	char byte;

	if (argc > 1 || !passing_is_socket(STDIN_FILENO)) {
		fprintf(stderr,
			"%s: started by cpid(8) and cpi-record(1), for them: see "
			"cpi-unwind(8)\n",
			argv[0]);
		return 2;
	}
	if (sandbox_give_up(UNWIND_USER, false, UNWIND_NICE))
		return EXIT_FAILURE;
	while (passing_take(STDIN_FILENO, &byte, 1, fd, CPI_UNWIND_NR_FDS) ==
	       CPI_UNWIND_NR_FDS) {
		end_worker(worker);
		worker = fork();
		if (worker == 0)
			_exit(work(fd));
		for (int i = 0; i < CPI_UNWIND_NR_FDS; i++)
			close(fd[i]);
	}
	end_worker(worker);
	return EXIT_SUCCESS;
}
