/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * header.h - parses the headers that the server uses
 */
#ifndef CPI_WEB_HEADER_H
#define CPI_WEB_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/textlist.h"

/*
 * Whether a Host header names this server: localhost, 127.0.0.1, [::1] or one of names,
 * in upper or lower case. This check stops DNS rebinding, where the name of a hostile
 * page resolves to this machine: the browser then sends that name. If port is above 0,
 * the first three must have this port; a header without a port has port 80 or 443.
 */
bool header_host_is_ours(const char *host, unsigned int port,
			 const struct text_list *names);

/* Whether the client accepts gzip, by its Accept-Encoding (or NULL). */
bool header_accepts_gzip(const char *value);

/* Whether If-None-Match is "*" or contains the tag; tag is without quotes. */
bool header_names_tag(const char *value, const char *tag);

/*
 * Parses "bytes=FROM-TO", one range of a content of size bytes. Returns 0; -EINVAL for
 * a header that must be ignored (several ranges, other units); -ERANGE if the range is
 * empty. On failure the outputs are untouched.
 */
int header_range(const char *value, uint64_t size, uint64_t *from, uint64_t *nr);

/*
 * Reads "Basic BASE64" (RFC 7617) into out, which has room for size bytes, as "USER"
 * and "PASSWORD", each with its NUL. -EINVAL for anything else, also if a part has a
 * NUL or does not fit.
 */
int header_basic(const char *value, char *out, size_t size, const char **user,
		 const char **password);

/* Whether both are equal. Its time does not depend on where they differ. */
bool header_is_secret(const char *given, const char *secret);

#endif
