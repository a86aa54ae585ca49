/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pager.h - long output on a terminal goes through $PAGER
 */
#ifndef CPI_TOOLS_PAGER_H
#define CPI_TOOLS_PAGER_H

#include <stdbool.h>
#include <sys/types.h>

struct pager {
	pid_t pid; /* 0: there is none */
	int old_stdout;
};

/*
 * From now on stdout goes to a pager if wanted is true, stdout is a terminal, and
 * $PAGER is not empty. Call it when all slow work is done, because SIGINT then belongs
 * to the pager. term_width() and term_has_color() still describe the terminal.
 */
void pager_begin(struct pager *p, bool wanted);

/* Waits for the end of the pager and restores stdout. */
void pager_end(struct pager *p);

/* In a child: executes the pager, which reads this stdin. Does not return. */
void pager_exec(void) __attribute__((noreturn));

#endif
