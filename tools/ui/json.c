/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.c - writes JSON to stdout, piece by piece
 *
 * Nothing is collected, because a report may be larger than memory. Strings may be any
 * bytes, so they are made valid UTF-8, and control characters are escaped.
 */
#include "config.h"

#include "tools/ui/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/jsontext.h"

#define OUTER_LEVELS 2

static void put_quoted(const char *s)
{
	struct buf b = { 0 };

	jsontext_put(&b, s);
	fputs(buf_str(&b), stdout);
	buf_fini(&b);
}

static bool is_outer(const struct json *j)
{
	return !j->one_line && j->depth && j->depth <= OUTER_LEVELS;
}

/* Writes the separator after the previous value, and the key of the next one. */
static void begin_value(struct json *j, const char *key)
{
	if (j->more[j->depth])
		putchar(',');
	if (is_outer(j))
		printf("\n%*s", (int)j->depth, "");
	else if (j->more[j->depth])
		putchar(' ');
	j->more[j->depth] = true;
	if (key) {
		put_quoted(key);
		fputs(": ", stdout);
	}
}

static void begin_level(struct json *j, const char *key, const char *brackets)
{
	assert(j->depth < JSON_MAX_DEPTH);
	begin_value(j, key);
	putchar(brackets[0]);
	j->close[j->depth++] = brackets[1];
	j->more[j->depth] = false;
}

void json_object(struct json *j, const char *key)
{
	begin_level(j, key, "{}");
}

void json_array(struct json *j, const char *key)
{
	begin_level(j, key, "[]");
}

void json_end(struct json *j)
{
	bool any = j->more[j->depth];

	assert(j->depth);
	if (any && is_outer(j))
		printf("\n%*s", (int)j->depth - 1, "");
	putchar(j->close[--j->depth]);
	if (!j->depth)
		putchar('\n');
}

void json_string(struct json *j, const char *key, const char *value)
{
	begin_value(j, key);
	if (value)
		put_quoted(value);
	else
		fputs("null", stdout);
}

void json_number(struct json *j, const char *key, uint64_t value)
{
	begin_value(j, key);
	printf("%" PRIu64, value);
}

void json_signed(struct json *j, const char *key, int64_t value)
{
	begin_value(j, key);
	printf("%" PRId64, value);
}

void json_hex(struct json *j, const char *key, uint64_t value)
{
	begin_value(j, key);
	printf("\"0x%" PRIx64 "\"", value);
}

void json_real(struct json *j, const char *key, double value, int decimals)
{
	begin_value(j, key);
	if (isfinite(value))
		printf("%.*f", decimals, value);
	else
		fputs("null", stdout);
}

void json_exact(struct json *j, const char *key, double value)
{
	begin_value(j, key);
	if (isfinite(value))
		printf("%.15g", value);
	else
		fputs("null", stdout);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin_value(j, key);
	fputs(value ? "true" : "false", stdout);
}

void json_verbatim(struct json *j, const char *key, const char *number)
{
	begin_value(j, key);
	fputs(number, stdout);
}

void json_null(struct json *j, const char *key)
{
	begin_value(j, key);
	fputs("null", stdout);
}

bool json_is_number(const char *s)
{
	size_t digits;

	s += *s == '-';
	digits = strspn(s, "0123456789");
	if (!digits || (digits > 1 && *s == '0'))
		return false;
	s += digits;
	if (*s == '.') {
		digits = strspn(s + 1, "0123456789");
		s += digits ? digits + 1 : 0;
	}
	return !*s;
}
