/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * header.c - parses Host, Range, Authorization and the like
 *
 * Each value is hostile. Nothing is allocated: text is scanned in place, and only user
 * and password are decoded, into the caller's buffer. The time to compare secrets does
 * not depend on where they differ.
 */
#include "config.h"

#include "web/header.h"

#include <errno.h>
#include <nettle/base64.h>
#include <nettle/memops.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"

#define HTTP_PORT  80
#define HTTPS_PORT 443

/* The bytes of the name in "name:port"; an IPv6 address is in brackets. */
static size_t name_length(const char *host)
{
	const char *end = *host == '[' ? strchr(host, ']') : NULL;

	return end ? (size_t)(end + 1 - host) : strcspn(host, ":");
}

static bool is_name(const char *host, size_t len, const char *name)
{
	return len == strlen(name) && !strncasecmp(host, name, len);
}

static bool is_loopback(const char *host, size_t len)
{
	return is_name(host, len, "localhost") || is_name(host, len, "127.0.0.1") ||
	       is_name(host, len, "[::1]");
}

bool header_host_is_ours(const char *host, unsigned int port,
			 const struct text_list *names)
{
	const size_t len = name_length(host);
	uint64_t given = HTTP_PORT;

	if (host[len] == ':' &&
	    (number_parse(host + len + 1, 10, &given) || given > UINT16_MAX))
		return false;
	if (host[len] && host[len] != ':')
		return false;
	for (int i = 0; i < names->nr; i++) {
		if (is_name(host, len, names->item[i]))
			return true;
	}
	return is_loopback(host, len) &&
	       (!port || given == port || (!host[len] && port == HTTPS_PORT));
}

/* Whether an encoding with these parameters is accepted; it is not if q is 0. */
static bool is_wanted(const char *params, size_t len)
{
	const char *q = memmem(params, len, "q=", 2);

	return !q || strspn(q + 2, "0.") < len - (size_t)(q + 2 - params);
}

bool header_accepts_gzip(const char *value)
{
	while (value && *value) {
		size_t len, word;

		value += strspn(value, " \t,");
		len = strcspn(value, ",");
		word = strcspn(value, " \t;,");
		if ((is_name(value, word, "gzip") || is_name(value, word, "*")) &&
		    is_wanted(value + word, len - word))
			return true;
		value += len;
	}
	return false;
}

bool header_names_tag(const char *value, const char *tag)
{
	const size_t size = strlen(tag);

	while (value && *value) {
		value += strspn(value, " \t,");
		if (*value == '*')
			return true;
		if (!strncmp(value, "W/", 2))
			value += 2;
		if (*value == '"' && !strncmp(value + 1, tag, size) &&
		    (value[size + 1] == '"' || !strncmp(value + size + 1, "-gz\"", 4)))
			return true;
		value += strcspn(value, ",");
	}
	return false;
}

static int read_number(const char *text, size_t len, uint64_t *out)
{
	char digits[24];

	if (len >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, len);
	digits[len] = '\0';
	return number_parse(digits, 10, out);
}

int header_range(const char *value, uint64_t size, uint64_t *from, uint64_t *nr)
{
	uint64_t first = 0, last = 0;
	const char *dash;

	if (!value || strncmp(value, "bytes=", 6))
		return -EINVAL;
	value += 6;
	dash = strchr(value, '-');
	if (!dash || (dash == value && !dash[1]) ||
	    (dash > value && read_number(value, (size_t)(dash - value), &first)) ||
	    (dash[1] && read_number(dash + 1, strlen(dash + 1), &last)))
		return -EINVAL;
	if (dash == value) { /* the last so many */
		first = last < size ? size - last : 0;
		last = last ? UINT64_MAX : 0;
	} else if (!dash[1]) {
		last = UINT64_MAX;
	} else if (last < first) {
		return -EINVAL;
	}
	if (first >= size || (dash == value && !last))
		return -ERANGE;
	*nr = (last < size ? last + 1 : size) - first;
	*from = first;
	return 0;
}

int header_basic(const char *value, char *out, size_t size, const char **user,
		 const char **password)
{
	struct base64_decode_ctx ctx;
	size_t len = size, nr;
	char *colon;

	if (!value || strncasecmp(value, "Basic ", 6))
		return -EINVAL;
	value += 6;
	value += strspn(value, " ");
	nr = strlen(value);
	if (BASE64_DECODE_LENGTH(nr) + 1 > size)
		return -EINVAL;
	base64_decode_init(&ctx);
	if (!base64_decode_update(&ctx, &len, (uint8_t *)out, nr, value) ||
	    !base64_decode_final(&ctx))
		return -EINVAL;
	out[len] = '\0';
	colon = strchr(out, ':');
	if (!colon || strlen(out) != len)
		return -EINVAL;
	*colon = '\0';
	*user = out;
	*password = colon + 1;
	return 0;
}

bool header_is_secret(const char *given, const char *secret)
{
	const size_t len = strlen(secret);

	return strlen(given) == len && memeql_sec(given, secret, len);
}
