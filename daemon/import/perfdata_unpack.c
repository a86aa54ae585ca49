/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_unpack.c - records in compressed records
 *
 * All compressed records of a file together are one zstd stream. So a record in the
 * stream may begin in one compressed record and end in the next. The output is taken
 * piece by piece, so a decompression bomb takes time in proportion to its output, but
 * no memory.
 */
#include "config.h"

#include <errno.h>

#include "base/err.h"
#include "daemon/import/perfdata_private.h"

/* Takes the complete records; the beginning of an incomplete one is kept. */
static int take_whole(struct perfdata *pd, uint64_t offset)
{
	struct buf *b = &pd->unpacked;
	size_t at = 0;
	int err = 0;

	while (!err && b->len - at >= sizeof(struct perf_event_header)) {
		struct perfdata_cursor c = { (uint8_t *)b->data + at + 6,
					     (uint8_t *)b->data + b->len, pd->swap,
					     false };
		size_t size = perfdata_u16(&c);

		if (size < sizeof(struct perf_event_header))
			return perfdata_fail(pd, offset, -CPI_ECORRUPT,
					     "a compressed record contains a record of "
					     "%zu bytes",
					     size);
		if (b->len - at < size)
			break;
		memcpy(pd->record, b->data + at, size);
		at += size;
		err = perfdata_take_record(pd, pd->record, size, offset);
	}
	memmove(b->data, b->data + at, b->len - at);
	b->len -= at;
	return err;
}

int perfdata_unpack(struct perfdata *pd, const void *data, size_t size, uint64_t offset)
{
	ZSTD_inBuffer in = { data, size, 0 };
	size_t rc;
	int err = 0;

	if (!pd->zstd)
		pd->zstd = ZSTD_createDStream();
	if (!pd->zstd)
		return -ENOMEM;
	do {
		void *to = buf_reserve(&pd->unpacked, PERFDATA_RECORD_MAX);
		ZSTD_outBuffer out = { to, PERFDATA_RECORD_MAX, 0 };

		if (!to)
			return -ENOMEM;
		rc = ZSTD_decompressStream(pd->zstd, &out, &in);
		if (ZSTD_isError(rc))
			return perfdata_fail(pd, offset, -CPI_ECORRUPT,
					     "a compressed record: %s",
					     ZSTD_getErrorName(rc));
		pd->unpacked.len += out.pos;
		err = take_whole(pd, offset);
		if (out.pos < out.size && in.pos == in.size)
			break; /* nothing more will come of it */
	} while (!err);
	return err;
}
