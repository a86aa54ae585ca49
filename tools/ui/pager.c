/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pager.c - pipes stdout through $PAGER
 *
 * A reader that quits early closes the pipe. That is no error, and no signal may end
 * this program before the pager has restored the terminal.
 */
#include "config.h"

#include "tools/ui/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/ui/term.h"

void pager_exec(void)
{
	const char *pager = getenv("PAGER");

	setenv("LESS", "FRX",
	       0); /* less exits at once if all fits, and shows colours */
	execlp("sh", "sh", "-c", pager && *pager ? pager : "less || more || cat",
	       (char *)NULL);
	_exit(127);
}

static bool is_wanted(const struct out_options *out)
{
	const char *pager = getenv("PAGER");

	return out->format == OUT_TEXT && !out->no_pager && isatty(STDOUT_FILENO) &&
	       (!pager || *pager);
}

static void run(int in)
{
	dup2(in, STDIN_FILENO);
	pager_exec();
}

void pager_begin(struct pager *p, const struct out_options *out)
{
	int fd[2];

	*p = (struct pager){ 0, -1 };
	if (!is_wanted(out) || pipe2(fd, O_CLOEXEC) < 0)
		return;
	fflush(stdout);
	p->old_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	p->pid = p->old_stdout < 0 ? -1 : fork();
	if (!p->pid)
		run(fd[0]);
	close(fd[0]);
	if (p->pid > 0) {
		signal(SIGPIPE, SIG_IGN);
		signal(SIGINT, SIG_IGN);
		term_keep();
		dup2(fd[1], STDOUT_FILENO);
	} else if (p->old_stdout >= 0) {
		close(p->old_stdout);
		p->pid = 0;
	}
	close(fd[1]);
}

void pager_end(struct pager *p)
{
	int status;

	if (p->pid <= 0)
		return;
	if (fflush(stdout) && errno == EPIPE)
		clearerr(stdout);
	dup2(p->old_stdout, STDOUT_FILENO);
	close(p->old_stdout);
	while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
		;
	term_forget();
	signal(SIGINT, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	p->pid = 0;
}
