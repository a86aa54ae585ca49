/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_main.c - the server of cpi-capture (server.h): forks a worker for each image,
 * one after the other
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "abi/capture.h"
#include "base/fdpass.h"
#include "base/file.h"
#include "base/times.h"
#include "helpers/capture.h"
#include "helpers/server.h"

/*
 * The most children that may wait for a file system; beyond that no debug file is
 * opened.
 */
#define MAX_STRAYS 16

struct strays {
	pid_t pid[MAX_STRAYS];
	int nr;
};

struct job {
	const int *fd; /* CPI_CAPTURE_NR_FDS */
	int ask[2];    /* the server's end, the worker's */
	pid_t worker;
	int64_t author; /* of the image, as the collector says */
};

/* The image's descriptor comes in a socket: only the worker may wait for its file. */
static int work(const struct job *job)
{
	const int fds[CAPTURE_NR_FDS] = { job->fd[CPI_CAPTURE_REQUEST],
					  fdpass_unwrap(job->fd[CPI_CAPTURE_IMAGE]),
					  job->fd[CPI_CAPTURE_REPLY], job->ask[1] };

	if (fds[1] < 0 || sandbox_place_fds(fds, CAPTURE_NR_FDS) ||
	    sandbox_lock_in(CAPTURE_NR_FDS, CAPTURE_CPU_S))
		return EXIT_FAILURE;
	return capture_work();
}

/* Does not wait for just any child (-1), because the worker is a child, too. */
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
	child = capture_answer(job->ask[0], job->author, s->nr < MAX_STRAYS);
	if (child > 0)
		s->pid[s->nr++] = child;
	return child < 0 ? child : 0;
}

/*
 * Serves the worker until it ends or must be ended, its time is over, or the
 * collector has gone.
 */
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

/*
 * Replies -EBUSY. The write does not block, because the pipe has room; if the reader
 * is gone, it fails without harm.
 */
static void refuse(const struct job *job)
{
	const struct cpi_capture_reply reply = { .magic = CPI_CAPTURE_MAGIC,
						 .err = -EBUSY };

	file_write(job->fd[CPI_CAPTURE_REPLY], &reply, sizeof(reply));
}

/*
 * Kills the worker. If it does not die, because the image's file system blocks it,
 * it becomes a stray.
 */
static void end_worker(const struct job *job, struct strays *s)
{
	if (sandbox_end_worker(job->worker))
		return;
	if (s->nr == MAX_STRAYS)
		exit(EXIT_FAILURE); /* the collector starts another server */
	s->pid[s->nr++] = job->worker;
}

/* Call it before the fork: a worker could change the request. */
static int64_t read_author(const int *fd)
{
	struct cpi_capture_request q;

	return file_pread(fd[CPI_CAPTURE_REQUEST], &q, sizeof(q), 0) ? -1 : q.author;
}

/* The reply ends when the caller closes the job's descriptors. */
static void run_job(void *ctx, const int *fd)
{
	struct job job = { .fd = fd, .author = read_author(fd) };
	struct strays *strays = ctx;

	reap_strays(strays);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, job.ask) < 0) {
		refuse(&job);
		return;
	}
	job.worker = fork();
	if (job.worker == 0)
		_exit(work(&job));
	close(job.ask[1]);
	if (job.worker > 0) {
		watch(&job, strays);
		end_worker(&job, strays);
	} else {
		refuse(&job);
	}
	close(job.ask[0]);
}

int main(int argc, char **argv)
{
	struct strays strays = { .nr = 0 };
	int status = server_begin(argc, argv, CAPTURE_USER, true, CAPTURE_NICE);

	if (status)
		return status;
	signal(SIGPIPE, SIG_IGN);
	server_jobs(CPI_CAPTURE_NR_FDS, run_job, &strays);
	return EXIT_SUCCESS;
}
