/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * halt - stops one thread of a process, as a debugger does
 *
 *	halt TID
 *
 * Prints "stopped" when that thread is, and lets it go on at the end of the input; then
 * prints "goes on". The process's other threads run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what)
{
	perror(what);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	pid_t tid = argc == 2 ? (pid_t)atoi(argv[1]) : 0;
	char byte;
	int status;

	if (tid <= 0) {
		fprintf(stderr, "usage: halt TID\n");
		return 2;
	}
	if (ptrace(PTRACE_SEIZE, tid, 0L, 0L) < 0)
		return fail("seize");
	if (ptrace(PTRACE_INTERRUPT, tid, 0L, 0L) < 0)
		return fail("interrupt");
	while (waitpid(tid, &status, __WALL) < 0) {
		if (errno != EINTR)
			return fail("wait");
	}
	if (!WIFSTOPPED(status))
		return fail("it did not stop");
	puts("stopped");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	if (ptrace(PTRACE_DETACH, tid, 0L, 0L) < 0)
		return fail("detach");
	puts("goes on");
	return EXIT_SUCCESS;
}
