/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * content.h - the bytes of answers, kept compressed in memory
 *
 * A content is written once, piece by piece. Then any number of answers read it. It
 * is reference-counted. Only its gzip form is kept in memory. If a client does not
 * accept gzip, the answer is decompressed while it is sent, so its memory does not
 * depend on its size.
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
	char tag[CONTENT_TAG_SIZE]; /* for ETag: equal only for equal bytes */
	uint8_t *own; /* the gzip form if this content owns it, otherwise NULL */
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

/*
 * Makes a new content, with one reference, from what was written. The caller still
 * frees w. Returns 0 or -ENOMEM.
 */
int content_finish(struct content_writer *w, struct content **out);

/* Bytes in memory so far. */
size_t content_writer_bytes(const struct content_writer *w);

/*
 * Makes a new content from bytes in gzip form, which must stay in place. Returns 0,
 * -ENOMEM, or -EBADMSG if they are no gzip file.
 */
int content_of_gzip(const uint8_t *gzip, size_t size, struct content **out);

struct content_reader;

/* A reader of c from offset on; it takes a reference. NULL when out of memory. */
struct content_reader *content_reader_new(struct content *c, uint64_t offset);
void content_reader_free(struct content_reader *r); /* accepts NULL */

/* Reads up to size bytes. Returns their number, 0 at the end; -ENOMEM or -EBADMSG. */
ssize_t content_read(struct content_reader *r, void *data, size_t size);

#endif
