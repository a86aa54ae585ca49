/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content.h - bytes that are sent, compressed while they are in memory
 *
 * A content is written once, piece by piece, and then read by any number of answers. It
 * is shared by counting references. In memory is only its gzip form. An answer in plain
 * form decompresses as it is sent, so it takes the same memory however large it is.
 */
#ifndef CPI_WEB_CONTENT_H
#define CPI_WEB_CONTENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTENT_TAG_SIZE 33

struct content {
	unsigned int refs;
	const uint8_t *gzip;
	size_t nr_gzip;
	uint64_t size;              /* in plain form */
	char tag[CONTENT_TAG_SIZE]; /* for ETag: the same for the same bytes only */
	uint8_t *own;               /* gzip where this content frees it; or NULL */
};

void content_take(struct content *c);
void content_drop(struct content *c); /* accepts NULL */

struct content_writer;

/* NULL when out of memory. */
struct content_writer *content_writer_new(void);
void content_writer_free(struct content_writer *w); /* accepts NULL */

/* Appends. 0; -ENOMEM; -EFBIG beyond max_gzip bytes in gzip form. */
int content_write(struct content_writer *w, const void *data, size_t size,
		  size_t max_gzip);

/* Ends w, which is still to be freed: a new content with one reference. 0 or -ENOMEM.
 */
int content_finish(struct content_writer *w, struct content **out);

/* Bytes in memory so far. */
size_t content_writer_bytes(const struct content_writer *w);

/*
 * A new content of bytes in gzip form that stay where they are. 0, -ENOMEM, or -EBADMSG
 * if they are no gzip file.
 */
int content_of_gzip(const uint8_t *gzip, size_t size, struct content **out);

struct content_reader;

/* Reads c, which it takes a reference of, from offset. NULL when out of memory. */
struct content_reader *content_reader_new(struct content *c, uint64_t offset);
void content_reader_free(struct content_reader *r); /* accepts NULL */

/* Up to size bytes; 0 at the end; -ENOMEM or -EBADMSG. */
ssize_t content_read(struct content_reader *r, void *data, size_t size);

#endif
