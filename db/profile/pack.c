/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pack.c - packs a body with zstd if that makes it smaller
 *
 * A frame of zstd may claim any size, and ask for any amount of memory. So only a
 * single frame is read, of the kind that pack_put() writes, and its size is checked
 * first.
 */
#include "config.h"

#include "db/profile/pack.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/err.h"

#define ZSTD_LEVEL    3
#define ZSTD_MIN_BODY 64 /* smaller ones do not shrink */
#define KEPT_MAX_BODY 16384

/*
 * A thread's own, until it ends. Most bodies have some hundred bytes: to set up a
 * context takes ten times as long as to unpack one. To pack a large body takes a large
 * context, and little of the time is to set it up, so those of up to KEPT_MAX_BODY
 * bytes share one: the two take at most 0.5 MB.
 */
struct contexts {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
};

static pthread_key_t key;
static int key_err;

static void contexts_free(void *arg)
{
	struct contexts *c = arg;

	ZSTD_freeCCtx(c->pack);
	ZSTD_freeDCtx(c->unpack);
	free(c);
}

/* Before main(): later two threads might create it at once. */
__attribute__((constructor)) static void create_key(void)
{
	key_err = pthread_key_create(&key, contexts_free);
}

/* The calling thread's; NULL: out of memory or of keys. */
static struct contexts *contexts_get(void)
{
	struct contexts *c;

	if (key_err)
		return NULL;
	c = pthread_getspecific(key);
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->pack = ZSTD_createCCtx();
	c->unpack = ZSTD_createDCtx();
	if (c->pack && c->unpack && !pthread_setspecific(key, c))
		return c;
	contexts_free(c);
	return NULL;
}

/* Appends body's compressed form when that is smaller: 1, else 0 or -ENOMEM. */
static int put_compressed(const struct buf *body, struct buf *out)
{
	const size_t start = out->len;
	struct contexts *kept = body->len <= KEPT_MAX_BODY ? contexts_get() : NULL;
	size_t size, room = ZSTD_compressBound(body->len);
	char *to;

	buf_putc(out, CODEC_ZSTD);
	to = buf_reserve(out, room);
	if (!to)
		return -ENOMEM;
	size = kept ? ZSTD_compressCCtx(kept->pack, to, room, body->data, body->len,
					ZSTD_LEVEL)
		    : ZSTD_compress(to, room, body->data, body->len, ZSTD_LEVEL);
	if (ZSTD_isError(size) || size >= body->len) {
		out->len = start;
		return 0;
	}
	out->len += size;
	return 1;
}

int pack_put(const struct buf *body, struct buf *out)
{
	const size_t start = out->len;
	int done = 0;

	if (!body->err && body->len > ZSTD_MIN_BODY)
		done = put_compressed(body, out);
	if (!body->err && !done) {
		buf_putc(out, CODEC_PLAIN);
		buf_put(out, body->data, body->len);
	}
	if (body->err || out->err) {
		out->len = start;
		done = -ENOMEM;
	}
	return done < 0 ? done : 0;
}

/*
 * One whole frame of the current format that says how long its content is: the
 * only kind that pack_put() writes.
 */
static int decompress(const uint8_t *frame, size_t size, uint64_t max, struct buf *body)
{
	struct contexts *kept;
	unsigned long long len;
	uint32_t magic;
	size_t got;
	void *to;

	if (size < sizeof(magic))
		return -CPI_ETRUNCATED;
	memcpy(&magic, frame, sizeof(magic));
	if (le32toh(magic) != ZSTD_MAGICNUMBER)
		return -CPI_ECORRUPT;
	got = ZSTD_findFrameCompressedSize(frame, size);
	if (ZSTD_isError(got))
		return -CPI_ETRUNCATED;
	len = ZSTD_getFrameContentSize(frame, size);
	if (got != size || len == ZSTD_CONTENTSIZE_UNKNOWN ||
	    len == ZSTD_CONTENTSIZE_ERROR || !len)
		return -CPI_ECORRUPT;
	if (len > max)
		return -CPI_ELIMIT;
	to = buf_reserve(body, len);
	kept = contexts_get();
	if (!to || !kept)
		return -ENOMEM;
	got = ZSTD_decompressDCtx(kept->unpack, to, len, frame, size);
	if (ZSTD_isError(got) || got != len)
		return -CPI_ECORRUPT;
	body->len = len;
	return 0;
}

int pack_get(const void *blob, size_t size, uint64_t max, struct buf *memory,
	     const uint8_t **body, size_t *body_size)
{
	const uint8_t *bytes = blob;
	int err;

	if (!size)
		return -CPI_ETRUNCATED;
	switch (bytes[0]) {
	case CODEC_PLAIN:
		*body = bytes + 1;
		*body_size = size - 1;
		return 0;
	case CODEC_ZSTD:
		err = decompress(bytes + 1, size - 1, max, memory);
		if (err)
			return err;
		*body = (const uint8_t *)memory->data;
		*body_size = memory->len;
		return 0;
	}
	return -CPI_EVERSION;
}
