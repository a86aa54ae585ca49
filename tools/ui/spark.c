/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spark.c - a row of values as a line of small bars
 *
 * Block characters are used where the locale's variables say UTF-8, else ASCII.
 */
#include "config.h"

#include "tools/ui/spark.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LEVELS 8

/*
 * Reads the variables instead of calling setlocale(), which would change how numbers
 * are printed.
 */
bool spark_can_block(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *locale = NULL, *charset;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		locale = getenv(variables[i]);
		if (locale && *locale)
			break;
	}
	charset = locale ? strchr(locale, '.') : NULL;
	return charset && (!strncasecmp(charset, ".utf-8", 6) ||
			   !strncasecmp(charset, ".utf8", 5));
}

static unsigned int level_of(double value, double max)
{
	double level;

	if (!(value > 0) || !(max > 0))
		return 0;
	level = value / max * LEVELS;
	return level >= LEVELS ? LEVELS : level < 1 ? 1 : (unsigned int)level;
}

void spark_put(struct buf *out, const double *value, size_t nr, double max, bool block)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄",
					      "▅", "▆", "▇", "█" };
	static const char *const ascii[] = {
		" ", ".", ":", "-", "=", "+", "*", "#", "@"
	};

	for (size_t i = 0; i < nr; i++)
		buf_puts(out, (block ? blocks : ascii)[level_of(value[i], max)]);
}
