/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpi-translate: translates code for one collector, which starts it before it gives up
 * its own privileges; nobody else has a use for it. What decodes code locks itself in
 * before it does (sandbox.c); the server only starts it again when it dies, at
 * its bound of CPU time or otherwise. The page that it died at has no answer.
 */
#include "config.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "abi/translate.h"
#include "analysis/translate.h"
#include "base/passing.h"
#include "tools/sandbox.h"

#ifdef __x86_64__
#define MACHINE EM_X86_64
#else
#define MACHINE EM_AARCH64
#endif

#define USER     "cpi-translate"
#define NICE     0          /* what waits for it are interrupts that learn nothing */
#define CPU_S    20         /* of a worker */
#define PAUSE_NS 100000000L /* before a successor of one that died */

static bool is_request(const struct cpi_translate_request *q, ssize_t size)
{
	const size_t head = offsetof(struct cpi_translate_request, code);

	return size >= (ssize_t)head && q->magic == CPI_TRANSLATE_MAGIC &&
	       q->size <= CPI_CODE_PAGE + CPI_CODE_MORE &&
	       (size_t)size == head + q->size && q->nr_entries <= CPI_TRANSLATE_ENTRIES;
}

static bool answer(struct translator *t, const struct cpi_translate_request *q,
		   struct cpi_translate_reply *r)
{
	size_t size = offsetof(struct cpi_translate_reply, page.uop);

	r->magic = CPI_TRANSLATE_MAGIC;
	r->cookie = q->cookie;
	r->err = 0;
	r->nr_uops =
		translator_page(t, q->code, q->size, q->entry, q->nr_entries, &r->page);
	size += r->nr_uops * sizeof(struct cpi_uop);
	return write(STDIN_FILENO, r, size) == (ssize_t)size;
}

/* Until nobody asks any more. An exit status. */
static int work(void)
{
	static struct cpi_translate_request q;
	static struct cpi_translate_reply r;
	struct translator *t;
	ssize_t size;
	int status = EXIT_FAILURE;

	if (translator_open(MACHINE, &t) || sandbox_lock_in(0, CPU_S))
		return EXIT_FAILURE;
	while ((size = read(STDIN_FILENO, &q, sizeof(q))) > 0) {
		if (!is_request(&q, size) || !answer(t, &q, &r))
			goto out;
	}
	status = size == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
out:
	translator_close(t);
	return status;
}

/* Whether the worker has ended of its own accord: another one would, too. */
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

	if (argc > 1 || !passing_is_socket(STDIN_FILENO)) {
		fprintf(stderr,
			"%s: started by cpid(8) and cpi-record(1), for them: see "
			"cpi-translate(8)\n",
			argv[0]);
		return 2;
	}
	if (sandbox_give_up(USER, false, NICE))
		return EXIT_FAILURE;
	while (!run_worker())
		nanosleep(&pause, NULL);
	return EXIT_SUCCESS;
}
