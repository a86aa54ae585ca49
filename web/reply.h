/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reply.h - a reply to a request: status, type and content; reference-counted
 */
#ifndef CPI_WEB_REPLY_H
#define CPI_WEB_REPLY_H

#include <stdarg.h>

#include "web/content.h"

struct reply {
	unsigned int refs;
	unsigned int status; /* of HTTP */
	const char *type;    /* a literal */
	char *warnings;      /* warnings that the command printed; or NULL */
	struct content *content;
};

/*
 * A new reply with one reference. Takes over the reference of content. NULL when out of
 * memory; then content was dropped.
 */
struct reply *reply_new(unsigned int status, const char *type, struct content *content);

/* {"error": text} as JSON. NULL when out of memory. */
struct reply *reply_error(unsigned int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A reply with a text of the server itself. NULL when out of memory. */
struct reply *reply_text(unsigned int status, const char *type, const char *text);

void reply_take(struct reply *r);
void reply_drop(struct reply *r); /* accepts NULL */

/* The size of the reply in memory. */
size_t reply_bytes(const struct reply *r);

#endif
