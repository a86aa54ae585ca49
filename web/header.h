/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * header.h - reads the headers that the server looks at
 */
#ifndef CPI_WEB_HEADER_H
#define CPI_WEB_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/textlist.h"

/*
 * Whether a Host header names this server: localhost, 127.0.0.1, [::1] or one of names,
 * in any case of letters. A web page of another origin that has its name resolve to
 * this machine (DNS rebinding) sends its own name. With port above 0 the first three
 * need that port, which is 80 where none is given.
 */
bool header_host_is_ours(const char *host, unsigned int port,
			 const struct text_list *names);

/* Whether Accept-Encoding (or NULL) takes gzip. */
bool header_accepts_gzip(const char *value);

/* Whether If-None-Match names the tag, which is without quotes, or is "*". */
bool header_names_tag(const char *value, const char *tag);

/*
 * Reads "bytes=FROM-TO", one range of size bytes. Returns 0; -EINVAL for a header that
 * is to be ignored (several ranges, other units); -ERANGE if the range has no byte. On
 * failure the outputs are untouched.
 */
int header_range(const char *value, uint64_t size, uint64_t *from, uint64_t *nr);

/*
 * Reads "Basic BASE64" (RFC 7617) into out, which has room for size bytes, as "USER"
 * and "PASSWORD", each with its NUL. -EINVAL for anything else, also if a part has a
 * NUL or does not fit.
 */
int header_basic(const char *value, char *out, size_t size, const char **user,
		 const char **password);

/* Whether both are the same; takes as long wherever they differ. */
bool header_is_secret(const char *given, const char *secret);

#endif
