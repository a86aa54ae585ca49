/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unpack.c - reads a file that may be compressed by zstd or gzip
 *
 * The first bytes identify the compression. Output goes piece by piece into the
 * caller's buffer, so a file that unpacks to a huge size needs no memory.
 */
#include "config.h"

#include "tools/input/unpack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/err.h"

#define ZSTD_MAX_WINDOW 27 /* 128 MiB, zstd's own default */

struct unpack {
	int fd;
	char *in; /* bytes that were read but not yet returned */
	size_t room, start, len;
	bool end;      /* of the file */
	bool in_frame; /* inside a compressed frame */
	ZSTD_DStream *zstd;
	z_stream gzip;
	bool is_gzip;
};

static int fill(struct unpack *u)
{
	ssize_t n;

	if (u->len || u->end)
		return 0;
	u->start = 0;
	do
		n = read(u->fd, u->in, u->room);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	u->len = n;
	u->end = !n;
	return 0;
}

static int begin(struct unpack *u)
{
	static const unsigned char zstd[] = { 0x28, 0xb5, 0x2f, 0xfd };
	static const unsigned char gzip[] = { 0x1f, 0x8b };
	int err = fill(u);

	if (err)
		return err;
	if (u->len >= sizeof(zstd) && !memcmp(u->in, zstd, sizeof(zstd))) {
		u->zstd = ZSTD_createDStream();
		if (!u->zstd)
			return -ENOMEM;
		ZSTD_DCtx_setParameter(u->zstd, ZSTD_d_windowLogMax, ZSTD_MAX_WINDOW);
	} else if (u->len >= sizeof(gzip) && !memcmp(u->in, gzip, sizeof(gzip))) {
		if (inflateInit2(&u->gzip, 15 + 16) != Z_OK) /* 16: gzip's header */
			return -ENOMEM;
		u->is_gzip = true;
	}
	return 0;
}

int unpack_open(const char *path, struct unpack **out)
{
	struct unpack *u = calloc(1, sizeof(*u));
	int err;

	if (!u)
		return -ENOMEM;
	u->room = ZSTD_DStreamInSize();
	u->in = malloc(u->room);
	u->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC)
				  : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (!u->in)
		err = -ENOMEM;
	else
		err = u->fd < 0 ? -errno : begin(u);
	if (err)
		unpack_close(u);
	else
		*out = u;
	return err;
}

void unpack_close(struct unpack *u)
{
	if (!u)
		return;
	if (u->fd >= 0)
		close(u->fd);
	if (u->is_gzip)
		inflateEnd(&u->gzip);
	ZSTD_freeDStream(u->zstd);
	free(u->in);
	free(u);
}

static void take_bytes(struct unpack *u, size_t n)
{
	u->start += n;
	u->len -= n;
}

static int zstd_error(size_t result)
{
	switch (ZSTD_getErrorCode(result)) {
	case ZSTD_error_frameParameter_windowTooLarge:
		return -CPI_ELIMIT;
	case ZSTD_error_memory_allocation:
		return -ENOMEM;
	default:
		return -CPI_ECORRUPT;
	}
}

static ssize_t unpack_zstd(struct unpack *u, void *to, size_t size)
{
	ZSTD_inBuffer in = { u->in + u->start, u->len, 0 };
	ZSTD_outBuffer out = { to, size, 0 };
	const size_t rest = ZSTD_decompressStream(u->zstd, &out, &in);

	if (ZSTD_isError(rest))
		return zstd_error(rest);
	take_bytes(u, in.pos);
	u->in_frame = rest != 0;
	return out.pos;
}

static ssize_t unpack_gzip(struct unpack *u, void *to, size_t size)
{
	int status;

	u->gzip.next_in = (unsigned char *)u->in + u->start;
	u->gzip.avail_in = u->len;
	u->gzip.next_out = to;
	u->gzip.avail_out = size;
	status = inflate(&u->gzip, Z_NO_FLUSH);
	take_bytes(u, u->len - u->gzip.avail_in);
	u->in_frame = status != Z_STREAM_END;
	if (status == Z_STREAM_END) /* another frame may follow */
		inflateReset(&u->gzip);
	else if (status != Z_OK && status != Z_BUF_ERROR)
		return status == Z_MEM_ERROR ? -ENOMEM : -CPI_ECORRUPT;
	return size - u->gzip.avail_out;
}

static ssize_t copy(struct unpack *u, void *to, size_t size)
{
	const size_t n = u->len < size ? u->len : size;

	memcpy(to, u->in + u->start, n);
	take_bytes(u, n);
	return n;
}

ssize_t unpack_read(struct unpack *u, void *to, size_t size)
{
	ssize_t n = 0;

	while (!n) {
		int err = fill(u);

		if (err)
			return err;
		if (u->end)
			return u->in_frame ? -CPI_ETRUNCATED : 0;
		if (u->zstd)
			n = unpack_zstd(u, to, size);
		else if (u->is_gzip)
			n = unpack_gzip(u, to, size);
		else
			n = copy(u, to, size);
	}
	return n;
}
