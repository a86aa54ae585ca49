/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pager.h - long output on a terminal goes through $PAGER
 */
#ifndef CPI_TOOLS_PAGER_H
#define CPI_TOOLS_PAGER_H

#include <sys/types.h>

#include "tools/ui/cmd.h"

struct pager {
	pid_t pid; /* 0: there is none */
	int old_stdout;
};

/*
 * From now on stdout goes to a pager, if out asks for text, stdout is a terminal, and
 * neither --no-pager nor an empty $PAGER forbids it. Call it when all slow work is
 * done, because SIGINT then belongs to the pager. term_width() and term_has_color()
 * still describe the terminal.
 */
void pager_begin(struct pager *p, const struct out_options *out);

/* Waits for the end of the pager and restores stdout. */
void pager_end(struct pager *p);

/* In a child: executes the pager, which reads this stdin. Does not return. */
void pager_exec(void) __attribute__((noreturn));

#endif
