/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reply.h - what is said to a question: a status, a type and bytes; shared
 */
#ifndef CPI_WEB_REPLY_H
#define CPI_WEB_REPLY_H

#include <stdarg.h>

#include "web/content.h"

struct reply {
	unsigned int refs;
	unsigned int status; /* of HTTP */
	const char *type;    /* a literal */
	char *warnings;      /* what the command said beside its result; or NULL */
	struct content *content;
};

/* With one reference; takes over the content's. NULL when out of memory: then the
 * content was dropped. */
struct reply *reply_new(unsigned int status, const char *type, struct content *content);

/* {"error": text} as JSON. NULL when out of memory. */
struct reply *reply_error(unsigned int status, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Text that is made here. NULL when out of memory. */
struct reply *reply_text(unsigned int status, const char *type, const char *text);

void reply_take(struct reply *r);
void reply_drop(struct reply *r); /* accepts NULL */

/* Bytes of memory that it takes. */
size_t reply_bytes(const struct reply *r);

#endif
