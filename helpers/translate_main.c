/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_main.c - the server of cpi-translate (server.h): runs one worker
 *
 * The worker translates code. If it is killed, for example at its limit of CPU time,
 * the server starts another one. The request that it was working on gets no answer.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/translate.h"
#include "analysis/translate/translate.h"
#include "helpers/sandbox.h"
#include "helpers/server.h"
#include "helpers/translate.h"

#ifdef __x86_64__
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define USER     "cpi-translate"
#define NICE     0          /* not lower: windows need its answers */
#define CPU_S    20         /* of a worker */
#define PAUSE_NS 100000000L /* before a successor of one that died */

/* Serves requests until the collector has ended. Returns an exit status. */
static int work(void)
{
	static struct cpi_translate_request q;
	struct translator *t;
	int status;

	if (translator_open(MACHINE, &t) || sandbox_lock_in(0, CPU_S))
		return EXIT_FAILURE;
	status = server_work(STDIN_FILENO, &q, sizeof(q), translate_take, t);
	translator_close(t);
	return status;
}

/* Returns whether the worker has exited. Then another worker would also exit. */
static bool run_worker(void)
{
	const pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(work());
	if (pid < 0)
		return false;
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	return WIFEXITED(status);
}

int main(int argc, char **argv)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	int status = server_begin(argc, argv, USER, false, NICE);

	if (status)
		return status;
	while (!run_worker())
		nanosleep(&pause, NULL);
	return EXIT_SUCCESS;
}
