/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * term.h - the width and the colours of the terminal
 */
#ifndef CPI_TOOLS_TERM_H
#define CPI_TOOLS_TERM_H

#include <stdbool.h>

/* Columns of the terminal at stdout; 0 if stdout is no terminal. */
unsigned int term_width(void);

/* Whether a terminal at stdout shows colours ($TERM, $NO_COLOR). */
bool term_has_color(void);

/*
 * Call term_keep() before stdout becomes the pipe of a pager. Until term_forget(), the
 * functions above then still describe the terminal, also in programs that this one
 * starts: they inherit its width in $CPI_TERM_WIDTH.
 */
void term_keep(void);
void term_forget(void);

#define TERM_RESET  "\033[0m"
#define TERM_BOLD   "\033[1m"
#define TERM_RED    "\033[1;31m"
#define TERM_YELLOW "\033[33m"
#define TERM_BLUE   "\033[34m"

#endif
