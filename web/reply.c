/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reply.c - replies, shared by counting references
 *
 * The cache and any number of answers that are being sent may have the same reply.
 */
#include "config.h"

#include "web/reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/jsontext.h"

struct reply *reply_new(unsigned int status, const char *type, struct content *content)
{
	struct reply *r = calloc(1, sizeof(*r));

	if (!r) {
		content_drop(content);
		return NULL;
	}
	*r = (struct reply){
		.refs = 1, .status = status, .type = type, .content = content
	};
	return r;
}

struct reply *reply_text(unsigned int status, const char *type, const char *text)
{
	struct content_writer *w = content_writer_new();
	struct content *c = NULL;
	int err = w ? content_write(w, text, strlen(text), SIZE_MAX) : -1;

	if (!err)
		err = content_finish(w, &c);
	content_writer_free(w);
	return err ? NULL : reply_new(status, type, c);
}

struct reply *reply_error(unsigned int status, const char *fmt, ...)
{
	struct reply *r = NULL;
	struct buf b = { 0 };
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	buf_puts(&b, "{\"error\": ");
	jsontext_put(&b, text);
	buf_puts(&b, "}\n");
	if (!b.err)
		r = reply_text(status, "application/json", buf_str(&b));
	buf_fini(&b);
	free(text);
	return r;
}

void reply_take(struct reply *r)
{
	r->refs++;
}

void reply_drop(struct reply *r)
{
	if (!r || --r->refs)
		return;
	content_drop(r->content);
	free(r->warnings);
	free(r);
}

size_t reply_bytes(const struct reply *r)
{
	return sizeof(*r) + sizeof(*r->content) + r->content->nr_gzip +
	       (r->warnings ? strlen(r->warnings) + 1 : 0);
}
