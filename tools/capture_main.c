/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpi-capture: a server for one collector, which starts it before it gives up its own
 * privileges; nobody else has a use for it. It forks a worker for each job, and parses
 * nothing itself.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/capture.h"
#include "base/file.h"
#include "base/passing.h"
#include "base/times.h"
#include "tools/capture.h"

/* Children that still wait for a file system: of more, none is asked any more. */
#define MAX_STRAYS 16

struct strays {
	pid_t pid[MAX_STRAYS];
	int nr;
};

struct job {
	int fd[CPI_CAPTURE_NR_FDS];
	int ask[2]; /* the server's end, the worker's */
	pid_t worker;
};

static int work(const struct job *job)
{
	const int fds[CAPTURE_NR_FDS] = { job->fd[CPI_CAPTURE_REQUEST],
					  job->fd[CPI_CAPTURE_IMAGE],
					  job->fd[CPI_CAPTURE_REPLY], job->ask[1] };

	if (sandbox_place_fds(fds, CAPTURE_NR_FDS) ||
	    sandbox_lock_in(CAPTURE_NR_FDS, CAPTURE_CPU_S))
		return EXIT_FAILURE;
	return capture_work();
}

/* Each by its number, for the worker is a child as well. */
static void reap_strays(struct strays *s)
{
	for (int i = s->nr - 1; i >= 0; i--)
		if (waitpid(s->pid[i], NULL, WNOHANG))
			s->pid[i] = s->pid[--s->nr];
}

/* Answers what the worker asks. 0, or negative: it has ended, or is to end. */
static int answer(const struct job *job, struct strays *s)
{
	int child;

	reap_strays(s);
	if (s->nr == MAX_STRAYS)
		return -EAGAIN;
	child = capture_answer(job->ask[0]);
	if (child > 0)
		s->pid[s->nr++] = child;
	return child < 0 ? child : 0;
}

/* Until the worker's end of the socket is closed: it is dead, or its time is over. */
static void watch(const struct job *job, struct strays *strays)
{
	const uint64_t end_ns = time_mono_ns() + CAPTURE_WALL_S * NSEC_PER_SEC;
	struct pollfd fds[] = { { .fd = job->ask[0], .events = POLLIN },
				{ .fd = STDIN_FILENO } };

	for (;;) {
		const uint64_t now = time_mono_ns();

		if (now >= end_ns || fds[1].revents ||
		    poll(fds, 2, (int)((end_ns - now) / NSEC_PER_MSEC) + 1) < 0)
			return;
		if (fds[0].revents && answer(job, strays) < 0)
			return;
	}
}

/* A pipe has room for that. Its reader may be gone, and then wants no answer. */
static void refuse(const struct job *job)
{
	const struct cpi_capture_reply reply = { .magic = CPI_CAPTURE_MAGIC,
						 .err = -EBUSY };

	file_write(job->fd[CPI_CAPTURE_REPLY], &reply, sizeof(reply));
}

static void close_job(const struct job *job)
{
	for (int i = 0; i < CPI_CAPTURE_NR_FDS; i++)
		close(job->fd[i]);
}

static void run_job(struct job *job, struct strays *strays)
{
	reap_strays(strays);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, job->ask) < 0) {
		refuse(job);
		return;
	}
	job->worker = fork();
	if (job->worker == 0)
		_exit(work(job));
	close(job->ask[1]);
	if (job->worker > 0) {
		watch(job, strays);
		kill(job->worker, SIGKILL);
		waitpid(job->worker, NULL, 0);
	} else {
		refuse(job);
	}
	close(job->ask[0]);
}

int main(int argc, char **argv)
{
	struct strays strays = { .nr = 0 };
	struct job job;
	char byte;

	if (argc > 1 || !passing_is_socket(STDIN_FILENO)) {
		fprintf(stderr,
			"%s: started by cpid(8) and cpi-record(1), for them: see "
			"cpi-capture(8)\n",
			argv[0]);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	if (sandbox_give_up(CAPTURE_USER, true, CAPTURE_NICE))
		return EXIT_FAILURE;
	while (passing_take(STDIN_FILENO, &byte, 1, job.fd, CPI_CAPTURE_NR_FDS) ==
	       CPI_CAPTURE_NR_FDS) {
		run_job(&job, &strays);
		close_job(&job); /* here the reply ends */
	}
	return EXIT_SUCCESS;
}
