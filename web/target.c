/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * target.c - splits and decodes the address of a request
 *
 * Works in place, because decoded text is never longer. A NUL is refused, because the
 * values become arguments of a program.
 */
#include "config.h"

#include "web/target.h"

#include <errno.h>
#include <string.h>

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 'a' ^ 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes in place: the result is never longer. */
static int decode(char *text)
{
	char *to = text;

	for (const char *at = text; *at; at++) {
		int high, low;

		*to = *at == '+' ? ' ' : *at;
		if (*at == '%') {
			high = hex_digit(at[1]);
			low = high < 0 ? -1 : hex_digit(at[2]);
			if (low < 0 || !(high | low))
				return -EINVAL;
			*to = (char)(high << 4 | low);
			at += 2;
		}
		to++;
	}
	*to = '\0';
	return 0;
}

static int take_arg(char *text, struct target *out)
{
	char *equals = strchr(text, '=');
	struct target_arg *arg = &out->arg[out->nr_args];

	if (equals)
		*equals++ = '\0';
	if (!*text || decode(text) || (equals && decode(equals)))
		return -EINVAL;
	if (out->nr_args == TARGET_MAX_ARGS)
		return -E2BIG;
	arg->name = text;
	arg->value = equals ? equals : "";
	out->nr_args++;
	return 0;
}

int target_parse(char *text, struct target *out)
{
	char *query = strchr(text, '?');
	int err = 0;

	if (*text != '/' || strchr(text, '#'))
		return -EINVAL;
	if (query)
		*query++ = '\0';
	out->path = text;
	out->nr_args = 0;
	while (!err && query && *query) {
		char *arg = query;

		query = strchr(arg, '&');
		if (query)
			*query++ = '\0';
		err = take_arg(arg, out);
	}
	return err;
}
