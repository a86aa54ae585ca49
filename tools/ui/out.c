/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * out.c - colours, lines and the end of stdout
 *
 * Errors of stdout only show when it is flushed, so out_finish() decides on the exit
 * status of every command.
 */
#include "config.h"

#include "tools/ui/out.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "tools/ui/cmd.h"
#include "tools/ui/term.h"

bool out_use_color(int color)
{
	return color == COLOR_ALWAYS || (color == COLOR_AUTO && term_has_color());
}

const char *out_heat(double percent)
{
	if (percent >= 5)
		return TERM_RED;
	return percent >= 0.5 ? TERM_YELLOW : NULL;
}

void out_line(const char *fmt, ...)
{
	struct buf b = { 0 };
	char *line;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	text_put_clean(&b, line);
	puts(buf_str(&b));
	buf_fini(&b);
	free(line);
}

int out_finish(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	log_err("standard output: %s", strerror(errno));
	return EXIT_FAIL;
}
