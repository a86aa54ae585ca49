/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * json.h - a JSON writer to stdout
 *
 * Values of the outer two levels stand on lines of their own, deeper levels on one
 * line, so that both people and grep can read it. key is NULL inside arrays. Strings
 * are any bytes: bytes that are not UTF-8 become U+FFFD.
 */
#ifndef CPI_TOOLS_JSON_H
#define CPI_TOOLS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_MAX_DEPTH 16

/* Starts as { 0 }. */
struct json {
	bool one_line; /* one line also for the outer levels, so that each object is a
			  line */
	unsigned int depth;
	char close[JSON_MAX_DEPTH];    /* the closing bracket of each open level */
	bool more[JSON_MAX_DEPTH + 1]; /* whether this level already has a value */
};

void json_object(struct json *j, const char *key); /* begins one */
void json_array(struct json *j, const char *key);
void json_end(struct json *j); /* closes the innermost level; writes a newline after the
				  outermost */

void json_string(struct json *j, const char *key, const char *value); /* or null */
void json_number(struct json *j, const char *key, uint64_t value);
void json_signed(struct json *j, const char *key, int64_t value);
void json_hex(struct json *j, const char *key, uint64_t value); /* "0x12" */
void json_real(struct json *j, const char *key, double value, int decimals);
void json_exact(struct json *j, const char *key, double value); /* 15 digits */
void json_bool(struct json *j, const char *key, bool value);
void json_verbatim(struct json *j, const char *key, const char *number);
void json_null(struct json *j, const char *key);

/* Whether s is a valid JSON number: no sign but '-', no leading zeros. */
bool json_is_number(const char *s);

#endif
