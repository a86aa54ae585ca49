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
 * From here on, what is written to stdout goes to a pager if wanted, stdout is a
 * terminal, and $PAGER is not empty. Nothing that may take long should follow: SIGINT
 * is the pager's. term_width() and term_has_color() still tell of the terminal.
 */
void pager_begin(struct pager *p, bool wanted);

/* Waits until the pager has ended; stdout is again what it was. */
void pager_end(struct pager *p);

/* Becomes the pager of this stdin, in a child; does not return. */
void pager_exec(void) __attribute__((noreturn));

#endif
