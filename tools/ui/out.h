/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * out.h - the three forms of a result, and the end of the output
 */
#ifndef CPI_TOOLS_OUT_H
#define CPI_TOOLS_OUT_H

#include <stdbool.h>

/* In the order of --format's and --color's words. */
enum out_format { OUT_TEXT, OUT_JSON, OUT_CSV };
enum out_color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Whether to colour text. */
bool out_use_color(int color);

/* The colour of a row with this share of all samples; NULL for a small share. */
const char *out_heat(double percent);

/* Prints a line of text, after the arguments were made safe to show. */
void out_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Flushes stdout. Returns status, or EXIT_FAIL with a message if stdout had an error.
 */
int out_finish(int status);

#endif
