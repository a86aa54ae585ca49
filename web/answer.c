/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * answer.c - chooses what of a reply is sent, and adds the headers
 *
 * A condition (If-None-Match) is looked at before a range, as RFC 9110 section 13.2.2
 * says. A range is always of the plain form, so the content is decompressed from its
 * beginning. If the client takes gzip, the whole content is sent as it is in memory.
 * Its ETag then ends in "-gz", since the two forms have different bytes.
 */
#include "config.h"

#include "web/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "web/header.h"

#define PIECE        16384
#define MAX_WARNINGS 1024 /* bytes of them in a header */

static const struct {
	const char *name, *value;
} always[] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' "
	  "data:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; "
	  "frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "X-Frame-Options", "DENY" },
	{ "Cache-Control", "no-cache, private" }, /* the tag says if it is still true */
	{ "Vary", "Accept-Encoding" },
	{ "Accept-Ranges", "bytes" },
};

/* The part of the content that is sent. */
struct answer_part {
	struct content *content;
	unsigned int status;
	bool gzip;
	uint64_t from, nr;
};

static const char *header_of(struct MHD_Connection *mhd, const char *name)
{
	return MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, name);
}

static bool is_unchanged(struct MHD_Connection *mhd, const struct reply *reply)
{
	return reply->status == MHD_HTTP_OK &&
	       header_names_tag(header_of(mhd, "If-None-Match"), reply->content->tag);
}

/* Whether the client asks for a range, of the content that If-Range names if any. */
static bool wants_range(struct MHD_Connection *mhd, const struct reply *reply)
{
	const char *same = header_of(mhd, "If-Range");

	return reply->status == MHD_HTTP_OK && header_of(mhd, "Range") &&
	       (!same || header_names_tag(same, reply->content->tag));
}

static struct answer_part choose_part(struct MHD_Connection *mhd,
				      const struct reply *reply)
{
	struct answer_part part = { .content = reply->content,
				    .status = reply->status,
				    .nr = reply->content->size };
	int err;

	if (is_unchanged(mhd, reply)) {
		part.status = MHD_HTTP_NOT_MODIFIED;
		part.nr = 0;
		return part;
	}
	if (wants_range(mhd, reply)) {
		err = header_range(header_of(mhd, "Range"), part.nr, &part.from,
				   &part.nr);
		if (!err)
			part.status = MHD_HTTP_PARTIAL_CONTENT;
		if (err == -ERANGE) {
			part.status = MHD_HTTP_RANGE_NOT_SATISFIABLE;
			part.nr = 0;
		}
		if (err != -EINVAL)
			return part;
	}
	part.gzip = header_accepts_gzip(header_of(mhd, "Accept-Encoding"));
	if (part.gzip)
		part.nr = part.content->nr_gzip;
	return part;
}

static ssize_t read_piece(void *cls, uint64_t at, char *data, size_t size)
{
	const ssize_t got = content_read(cls, data, size);

	if (got < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	return got ? got : MHD_CONTENT_READER_END_OF_STREAM;
}

static void end_reader(void *cls)
{
	content_reader_free(cls);
}

static void drop_content(void *cls)
{
	content_drop(cls);
}

static struct MHD_Response *make_response(const struct answer_part *part)
{
	struct MHD_Response *response;
	struct content_reader *r;

	if (!part->nr)
		return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	if (part->gzip) {
		content_take(part->content);
		response = MHD_create_response_from_buffer_with_free_callback_cls(
			part->content->nr_gzip, (void *)part->content->gzip,
			drop_content, part->content);
		if (!response)
			content_drop(part->content);
		return response;
	}
	r = content_reader_new(part->content, part->from);
	if (!r)
		return NULL;
	response = MHD_create_response_from_callback(part->nr, PIECE, read_piece, r,
						     end_reader);
	if (!response)
		content_reader_free(r);
	return response;
}

/* The text as one line of plain characters; the rest is %XX. */
static void encode(const char *text, struct buf *out)
{
	for (; *text && out->len < MAX_WARNINGS; text++) {
		if (*text > ' ' && *text < 0x7f && *text != '%')
			buf_putc(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

static void add(struct MHD_Response *response, const char *name, const char *value)
{
	MHD_add_response_header(response, name, value);
}

static void add_part(struct MHD_Response *response, const struct answer_part *part,
		     const struct reply *reply)
{
	const uint64_t size = part->content->size;
	char text[80];

	snprintf(text, sizeof(text), "\"%s%s\"", part->content->tag,
		 part->gzip ? "-gz" : "");
	if (reply->status == MHD_HTTP_OK)
		add(response, "ETag", text);
	if (part->status == MHD_HTTP_RANGE_NOT_SATISFIABLE) {
		snprintf(text, sizeof(text), "bytes */%" PRIu64, size);
		add(response, "Content-Range", text);
	}
	if (part->status == MHD_HTTP_PARTIAL_CONTENT) {
		snprintf(text, sizeof(text), "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64,
			 part->from, part->from + part->nr - 1, size);
		add(response, "Content-Range", text);
	}
	if (part->gzip)
		add(response, "Content-Encoding", "gzip");
}

static void add_headers(struct MHD_Response *response, const struct answer_part *part,
			const struct reply *reply, const struct answer_extra *extra)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		add(response, always[i].name, always[i].value);
	add(response, "Content-Type", reply->type);
	add_part(response, part, reply);
	if (reply->warnings) {
		encode(reply->warnings, &text);
		add(response, "CPI-Warnings", buf_str(&text));
	}
	if (extra->name)
		add(response, extra->name, extra->value);
	if (extra->close)
		add(response, "Connection", "close");
	if (extra->file && reply->status == MHD_HTTP_OK) {
		buf_reset(&text);
		buf_printf(&text, "attachment; filename=\"%s\"", extra->file);
		add(response, "Content-Disposition", buf_str(&text));
	}
	buf_fini(&text);
}

enum MHD_Result answer_send(struct MHD_Connection *mhd, struct reply *reply,
			    const struct answer_extra *extra)
{
	const struct answer_part part = choose_part(mhd, reply);
	struct MHD_Response *response = make_response(&part);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	add_headers(response, &part, reply, extra);
	result = MHD_queue_response(mhd, part.status, response);
	MHD_destroy_response(response);
	return result;
}
