/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * term.c - the terminal's width, and if it shows colours
 */
#include "config.h"

#include "tools/ui/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/number.h"

#define KEPT_WIDTH "CPI_TERM_WIDTH"

void term_keep(void)
{
	char width[16];

	snprintf(width, sizeof(width), "%u", term_width());
	setenv(KEPT_WIDTH, width, true);
}

void term_forget(void)
{
	unsetenv(KEPT_WIDTH);
}

/* The width of the terminal behind a pager, or 0. */
static unsigned int kept_width(void)
{
	const char *kept = getenv(KEPT_WIDTH);
	uint64_t width;

	return kept && !number_parse(kept, 10, &width) && width < 10000 ? width : 0;
}

unsigned int term_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO))
		return kept_width();
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col < 20)
		return 80;
	return size.ws_col;
}

bool term_has_color(void)
{
	const char *term = getenv("TERM");
	const char *no_color = getenv("NO_COLOR");

	return (isatty(STDOUT_FILENO) || kept_width()) && term &&
	       strcmp(term, "dumb") != 0 && !(no_color && *no_color);
}
