/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pack.h - blobs: an encoding byte, then a body, compressed if that is shorter
 */
#ifndef CPI_DB_PACK_H
#define CPI_DB_PACK_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Stored in the database: never renumber. */
enum codec_encoding {
	CODEC_PLAIN = 0,
	CODEC_ZSTD = 1,
};

/* Appends body's blob to out. 0 or -ENOMEM; on failure out is unchanged. */
int pack_put(const struct buf *body, struct buf *out);

/*
 * Gives the body of an untrusted blob. *body points into the blob or into memory, which
 * the caller frees in any case. Returns 0, -CPI_ETRUNCATED, -CPI_ECORRUPT,
 * -CPI_EVERSION for an unknown encoding, -CPI_ELIMIT for a body of more than max bytes,
 * or -ENOMEM.
 */
int pack_get(const void *blob, size_t size, uint64_t max, struct buf *memory,
	     const uint8_t **body, size_t *body_size);

#endif
