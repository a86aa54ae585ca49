/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.h - what a request asks for: the path and the query
 */
#ifndef CPI_WEB_TARGET_H
#define CPI_WEB_TARGET_H

#define TARGET_MAX      8192 /* bytes of a request's target */
#define TARGET_MAX_ARGS 64

struct target_arg {
	const char *name, *value; /* the value is "" if there is none */
};

struct target {
	const char *path; /* begins with '/'; as it was sent */
	int nr_args;
	struct target_arg arg[TARGET_MAX_ARGS];
};

/*
 * Splits "/path?name=value&…" and decodes names and values (%41, and + for a space).
 * The path is not decoded: every path of the server is plain. text is changed, and *out
 * points into it. Returns 0; -EINVAL if text does not begin with '/', or has a '#', a
 * '%' without two hexadecimal digits, an encoded NUL, or an empty name; -E2BIG for too
 * many arguments. On failure *out is undefined.
 */
int target_parse(char *text, struct target *out);

#endif
