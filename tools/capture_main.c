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
#include "base/times.h"
#include "tools/capture.h"

/* Children that still wait for a file system: of more, none is asked any more. */
#define MAX_STRAYS 16

struct job {
	int fd[CPI_CAPTURE_NR_FDS];
	int ask[2]; /* the server's end, the worker's */
	pid_t worker;
};

/* Takes the next job's descriptors. False when there will be none. */
static bool take_job(int socket, struct job *job)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	union {
		struct cmsghdr head; /* aligns */
		char bytes[CMSG_SPACE(sizeof(job->fd))];
	} control = { 0 };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.bytes,
			      .msg_controllen = sizeof(control.bytes) };
	const struct cmsghdr *c;

	if (recvmsg(socket, &msg, MSG_CMSG_CLOEXEC) != 1)
		return false;
	c = CMSG_FIRSTHDR(&msg);
	if (!c || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof(job->fd)))
		return false;
	memcpy(job->fd, CMSG_DATA(c), sizeof(job->fd));
	return true;
}

/* By way of higher numbers: what is there may be where something else has to go. */
static int place_fds(const struct job *job)
{
	const int from[] = { job->fd[CPI_CAPTURE_REQUEST], job->fd[CPI_CAPTURE_IMAGE],
			     job->fd[CPI_CAPTURE_REPLY], job->ask[1] };
	int high[CAPTURE_FD_END - CAPTURE_FD_REQUEST];

	for (int i = 0; i < CAPTURE_FD_END - CAPTURE_FD_REQUEST; i++) {
		high[i] = fcntl(from[i], F_DUPFD, CAPTURE_FD_END);
		if (high[i] < 0)
			return -errno;
	}
	for (int i = 0; i < CAPTURE_FD_END - CAPTURE_FD_REQUEST; i++)
		if (dup2(high[i], CAPTURE_FD_REQUEST + i) < 0)
			return -errno;
	return dup2(STDOUT_FILENO, STDIN_FILENO) < 0 ? -errno : 0;
}

static int work(const struct job *job)
{
	if (place_fds(job) || capture_lock_in())
		return EXIT_FAILURE;
	return capture_work();
}

/* While there is no worker: of that one the end is waited for by its number. */
static void reap_strays(int *nr)
{
	while (*nr && waitpid(-1, NULL, WNOHANG) > 0)
		--*nr;
}

/* Until the worker's end of the socket is closed: it is dead, or its time is over. */
static void watch(const struct job *job, int *nr_strays)
{
	const uint64_t end_ns = time_mono_ns() + CAPTURE_WALL_S * NSEC_PER_SEC;
	struct pollfd fds[] = { { .fd = job->ask[0], .events = POLLIN },
				{ .fd = STDIN_FILENO } };

	for (;;) {
		const uint64_t now = time_mono_ns();

		if (now >= end_ns || fds[1].revents ||
		    poll(fds, 2, (int)((end_ns - now) / NSEC_PER_MSEC) + 1) < 0)
			return;
		if (!fds[0].revents)
			continue;
		if (*nr_strays >= MAX_STRAYS || !capture_answer(job->ask[0]))
			return;
		++*nr_strays;
	}
}

static void close_job(const struct job *job)
{
	for (int i = 0; i < CPI_CAPTURE_NR_FDS; i++)
		close(job->fd[i]);
}

static void run_job(struct job *job, int *nr_strays)
{
	reap_strays(nr_strays);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, job->ask) < 0)
		return;
	job->worker = fork();
	if (job->worker == 0)
		_exit(work(job));
	close(job->ask[1]);
	if (job->worker > 0) {
		watch(job, nr_strays);
		kill(job->worker, SIGKILL);
		waitpid(job->worker, NULL, 0);
	}
	close(job->ask[0]);
}

static bool is_socket(int fd)
{
	int type;
	socklen_t size = sizeof(type);

	return !getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size);
}

int main(int argc, char **argv)
{
	struct job job;
	int nr_strays = 0;

	if (argc > 1 || !is_socket(STDIN_FILENO)) {
		fprintf(stderr,
			"%s: started by cpid(8) and cpi-record(1), for them: see "
			"cpi-capture(8)\n",
			argv[0]);
		return 2;
	}
	if (capture_give_up())
		return EXIT_FAILURE;
	while (take_job(STDIN_FILENO, &job)) {
		run_job(&job, &nr_strays);
		close_job(&job); /* here the reply ends */
	}
	return EXIT_SUCCESS;
}
