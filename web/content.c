/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content.c - compresses what is written; decompresses what is read
 *
 * zlib's streams do both piece by piece. The tag is of the plain bytes (SHA-256), so it
 * does not depend on how zlib compresses. A reader cannot start in the middle of a gzip
 * stream: it decompresses and drops what is before its offset.
 */
#include "config.h"

#include "web/content.h"

#include <errno.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"

#define GZIP_BITS (15 + 16) /* zlib's window, and that it is a gzip file */
#define LEVEL     4         /* a third of the time of zlib's default, 5 % more bytes */
#define PIECE     (64 << 10)

struct content_writer {
	z_stream z;
	struct sha256_ctx sha;
	uint64_t size;
	struct buf gzip;
};

struct content_reader {
	z_stream z;
	struct content *content;
};

void content_take(struct content *c)
{
	c->refs++;
}

void content_drop(struct content *c)
{
	if (!c || --c->refs)
		return;
	free(c->own);
	free(c);
}

struct content_writer *content_writer_new(void)
{
	struct content_writer *w = calloc(1, sizeof(*w));

	if (w && deflateInit2(&w->z, LEVEL, Z_DEFLATED, GZIP_BITS, MAX_MEM_LEVEL,
			      Z_DEFAULT_STRATEGY) != Z_OK) {
		free(w);
		w = NULL;
	}
	if (w)
		sha256_init(&w->sha);
	return w;
}

void content_writer_free(struct content_writer *w)
{
	if (!w)
		return;
	deflateEnd(&w->z);
	buf_fini(&w->gzip);
	free(w);
}

size_t content_writer_bytes(const struct content_writer *w)
{
	return w->gzip.len;
}

/* Compresses what z has for input. */
static int compress_pieces(struct content_writer *w, int flush)
{
	int status = Z_OK;

	do {
		w->z.next_out = buf_reserve(&w->gzip, PIECE);
		if (!w->z.next_out)
			return -ENOMEM;
		w->z.avail_out = PIECE;
		status = deflate(&w->z, flush);
		w->gzip.len += PIECE - w->z.avail_out;
	} while (!w->z.avail_out && status == Z_OK);
	return 0;
}

int content_write(struct content_writer *w, const void *data, size_t size,
		  size_t max_gzip)
{
	int err;

	w->z.next_in = (uint8_t *)data;
	w->z.avail_in = (unsigned int)size;
	sha256_update(&w->sha, size, data);
	w->size += size;
	err = compress_pieces(w, Z_NO_FLUSH);
	return err ? err : w->gzip.len > max_gzip ? -EFBIG : 0;
}

static void put_tag(struct sha256_ctx *sha, char tag[CONTENT_TAG_SIZE])
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(sha, sizeof(digest), digest);
	for (int i = 0; i < (CONTENT_TAG_SIZE - 1) / 2; i++)
		sprintf(tag + 2 * i, "%02x", digest[i]);
}

int content_finish(struct content_writer *w, struct content **out)
{
	struct content *c = calloc(1, sizeof(*c));
	uint8_t *least;

	w->z.avail_in = 0;
	if (!c || compress_pieces(w, Z_FINISH)) {
		free(c);
		return -ENOMEM;
	}
	least = realloc(w->gzip.data, w->gzip.len);
	c->own = least ? least : (uint8_t *)w->gzip.data;
	c->gzip = c->own;
	c->nr_gzip = w->gzip.len;
	c->size = w->size;
	c->refs = 1;
	w->gzip = (struct buf){ 0 };
	put_tag(&w->sha, c->tag);
	*out = c;
	return 0;
}

struct content_reader *content_reader_new(struct content *c, uint64_t offset)
{
	struct content_reader *r = calloc(1, sizeof(*r));
	char piece[4096];

	if (!r)
		return NULL;
	if (inflateInit2(&r->z, GZIP_BITS) != Z_OK) {
		free(r);
		return NULL;
	}
	content_take(c);
	r->content = c;
	r->z.next_in = (uint8_t *)c->gzip;
	r->z.avail_in = (unsigned int)c->nr_gzip;
	while (offset) {
		size_t n = offset < sizeof(piece) ? (size_t)offset : sizeof(piece);
		ssize_t got = content_read(r, piece, n);

		if (got <= 0)
			break;
		offset -= (uint64_t)got;
	}
	return r;
}

void content_reader_free(struct content_reader *r)
{
	if (!r)
		return;
	inflateEnd(&r->z);
	content_drop(r->content);
	free(r);
}

ssize_t content_read(struct content_reader *r, void *data, size_t size)
{
	int status = Z_OK;

	if (size > INT_MAX)
		size = INT_MAX;
	r->z.next_out = data;
	r->z.avail_out = (unsigned int)size;
	while (status == Z_OK && r->z.avail_out)
		status = inflate(&r->z, Z_SYNC_FLUSH);
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	if (status != Z_OK && status != Z_STREAM_END)
		return -EBADMSG;
	return (ssize_t)(size - r->z.avail_out);
}

/* Reads it through once, for its size and its tag. */
static int measure(struct content *c)
{
	struct content_reader *r = content_reader_new(c, 0);
	struct sha256_ctx sha;
	uint8_t piece[4096];
	ssize_t got = -ENOMEM;

	sha256_init(&sha);
	while (r && (got = content_read(r, piece, sizeof(piece))) > 0) {
		sha256_update(&sha, (size_t)got, piece);
		c->size += (uint64_t)got;
	}
	content_reader_free(r);
	put_tag(&sha, c->tag);
	return (int)got;
}

int content_of_gzip(const uint8_t *gzip, size_t size, struct content **out)
{
	struct content *c = calloc(1, sizeof(*c));
	int err;

	if (!c)
		return -ENOMEM;
	c->refs = 1;
	c->gzip = gzip;
	c->nr_gzip = size;
	err = measure(c);
	if (err)
		content_drop(c);
	else
		*out = c;
	return err;
}
