/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_main.c - the server of cpi-unwind (server.h): forks one worker at a time
 *
 * A worker keeps the tables of images, so it serves until the collector asks for
 * another one.
 */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers/server.h"
#include "helpers/unwind.h"

/*
 * Runs in the worker. An invalid message ends it, and the collector asks for another
 * one.
 */
static int serve(void)
{
	static _Alignas(max_align_t) char message[CPI_UNWIND_MESSAGE];
	struct unwind_worker *w = unwind_worker_new(UNWIND_FD_IMAGES);

	return w ? server_work(UNWIND_FD_WORK, message, sizeof(message),
			       unwind_worker_take, w)
		 : EXIT_FAILURE;
}

static int work(const int *fd)
{
	if (sandbox_place_fds(fd, CPI_UNWIND_NR_FDS) ||
	    sandbox_lock_in(CPI_UNWIND_NR_FDS, 0))
		return EXIT_FAILURE;
	return serve();
}

/* If a file system blocks the worker, a later call reaps it. */
static void end_worker(pid_t worker)
{
	if (worker > 0)
		sandbox_end_worker(worker);
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

static void run_job(void *ctx, const int *fd)
{
	pid_t *worker = ctx;

	end_worker(*worker);
	*worker = fork();
	if (*worker == 0)
		_exit(work(fd));
}

int main(int argc, char **argv)
{
	pid_t worker = 0;
	int status = server_begin(argc, argv, UNWIND_USER, false, UNWIND_NICE);

	if (status)
		return status;
	server_jobs(CPI_UNWIND_NR_FDS, run_job, &worker);
	end_worker(worker);
	return EXIT_SUCCESS;
}
