/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_source.c - bytes of a file or a pipe, by their offset
 *
 * A file is read, not mapped, because its owner may truncate it meanwhile.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "daemon/import/perfdata_private.h"

#define BUFFER_SIZE (256u << 10)

int perfdata_source_open(struct perfdata_source *s, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*s = (struct perfdata_source){ .fd = fd, .seekable = S_ISREG(st.st_mode) };
	s->size = s->seekable ? (uint64_t)st.st_size : UINT64_MAX;
	s->data = malloc(BUFFER_SIZE);
	return s->data ? 0 : -ENOMEM;
}

void perfdata_source_close(struct perfdata_source *s)
{
	free(s->data);
	s->data = NULL;
}

/* Reads more bytes into the buffer. Returns 1, 0 at the end of the file, or -errno. */
static int fill(struct perfdata_source *s)
{
	ssize_t n;

	do {
		if (s->seekable)
			n = pread(s->fd, s->data + s->len, BUFFER_SIZE - s->len,
				  (off_t)(s->at + s->len));
		else
			n = read(s->fd, s->data + s->len, BUFFER_SIZE - s->len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	s->len += (size_t)n;
	return n > 0;
}

/* Makes the buffer begin at offset. */
static int move_to(struct perfdata_source *s, uint64_t offset)
{
	int n;

	if (s->seekable && (offset < s->at || offset > s->at + s->len)) {
		s->at = offset;
		s->len = 0;
		return 0;
	}
	if (offset < s->at)
		return -ESPIPE;
	while (offset > s->at + s->len) {
		s->at += s->len;
		s->len = 0;
		n = fill(s);
		if (n <= 0)
			return n ? n : -CPI_ETRUNCATED;
	}
	s->len -= offset - s->at;
	memmove(s->data, s->data + (offset - s->at), s->len);
	s->at = offset;
	return 0;
}

int perfdata_source_get(struct perfdata_source *s, uint64_t offset, size_t size,
			uint8_t **out)
{
	int n;

	if (offset > INT64_MAX - BUFFER_SIZE)
		return -CPI_ETRUNCATED;
	if (offset < s->at || offset + size > s->at + s->len) {
		n = move_to(s, offset);
		if (n)
			return n;
		while (s->len < size) {
			n = fill(s);
			if (n <= 0)
				return n ? n : -CPI_ETRUNCATED;
		}
	}
	*out = s->data + (offset - s->at);
	return 0;
}

int perfdata_source_copy(struct perfdata_source *s, uint64_t offset, size_t size,
			 void *out)
{
	uint8_t *piece;
	int err;

	for (size_t done = 0; done < size;) {
		size_t n = size - done < PERFDATA_RECORD_MAX ? size - done
							     : PERFDATA_RECORD_MAX;

		err = perfdata_source_get(s, offset + done, n, &piece);
		if (err)
			return err;
		memcpy((uint8_t *)out + done, piece, n);
		done += n;
	}
	return 0;
}
