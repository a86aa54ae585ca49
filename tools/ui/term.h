/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * term.h - what the terminal can do, when there is one
 */
#ifndef CPI_TOOLS_TERM_H
#define CPI_TOOLS_TERM_H

#include <stdbool.h>

/* Columns of the terminal at stdout; 0 when stdout goes elsewhere. */
unsigned int term_width(void);

/* Whether a terminal at stdout shows colours ($TERM, $NO_COLOR). */
bool term_has_color(void);

/*
 * While stdout is a pager's pipe, the terminal that it had before counts as stdout's.
 * $CPI_TERM_WIDTH keeps it: whatever a pager runs has a stdout of its own.
 */
void term_keep(void);
void term_forget(void);

#define TERM_RESET  "\033[0m"
#define TERM_BOLD   "\033[1m"
#define TERM_RED    "\033[1;31m"
#define TERM_YELLOW "\033[33m"
#define TERM_BLUE   "\033[34m"

#endif
