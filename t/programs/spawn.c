/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spawn [-p] COUNT AT_ONCE MS PROGRAM... - runs COUNT short processes
 *
 * The programs take turns, "PROGRAM MS" each, AT_ONCE at a time. With -p all of
 * them get the same process id, one after the other. Prints the CPU time that
 * they took, in ms. Exit 77 when the kernel does not let us choose the id.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_SKIP = 77 };

static void die(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* fork(), with an id of our choice unless it is 0. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = pid ? (uintptr_t)&pid : 0,
		.set_tid_size = pid ? 1 : 0,
	};

	fflush(stdout);
	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

static void run(pid_t pid, const char *program, const char *ms)
{
	pid_t child = fork_as(pid);

	if (child < 0) {
		if (pid && (errno == EPERM || errno == ENOSYS || errno == EINVAL))
			exit(EXIT_SKIP);
		die("clone3");
	}
	if (child)
		return;
	execl(program, program, ms, NULL);
	perror(program);
	_exit(127);
}

static void reap(void)
{
	int status;

	if (wait(&status) < 0)
		die("wait");
	if (status) {
		fprintf(stderr, "spawn: a child failed\n");
		exit(EXIT_FAILURE);
	}
}

/* An id that nobody has: that of a child that is gone. */
static pid_t free_pid(void)
{
	pid_t child = fork_as(0);

	if (child < 0)
		die("clone3");
	if (!child)
		_exit(0);
	reap();
	return child;
}

static double ms_of(const struct timeval *t)
{
	return t->tv_sec * 1e3 + t->tv_usec / 1e3;
}

int main(int argc, char **argv)
{
	const bool same_pid = argc > 1 && !strcmp(argv[1], "-p");
	int count, at_once, running = 0;
	struct rusage used;
	pid_t pid = 0;

	argv += same_pid;
	argc -= same_pid;
	if (argc < 5 || (at_once = atoi(argv[2])) < 1 || (same_pid && at_once > 1)) {
		fprintf(stderr, "usage: spawn [-p] COUNT AT_ONCE MS PROGRAM...\n");
		return 2;
	}
	if (same_pid)
		pid = free_pid();
	count = atoi(argv[1]);
	for (int i = 0; i < count; i++) {
		if (running++ == at_once) {
			reap();
			running--;
		}
		run(pid, argv[4 + i % (argc - 4)], argv[3]);
	}
	while (running--)
		reap();
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%.0f\n", ms_of(&used.ru_utime) + ms_of(&used.ru_stime));
	return 0;
}
