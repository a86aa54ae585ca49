/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_rowbinary.c - the same rows come of any bytes, however they are cut
 *
 * The first byte is the size of the pieces.
 */
#include "config.h"

#include <string.h>

#include "base/hash.h"
#include "db/clickhouse/rowbinary.h"
#include "t/fuzz/fuzz.h"

#define TYPES "18s4fb2"

static int add_row(void *ctx, const struct rowbinary_cell *cells)
{
	uint64_t *sum = ctx;

	for (size_t i = 0; i < strlen(TYPES); i++)
		*sum = cells[i].text ? hash_bytes(*sum, cells[i].text, cells[i].len)
				     : hash_u64(*sum ^ cells[i].n);
	return 0;
}

static int read_rows(const uint8_t *data, size_t size, size_t piece, uint64_t *sum)
{
	struct rowbinary_reader r = { .types = TYPES };
	int err = 0;

	*sum = 0;
	for (size_t at = 0, n; at < size && !err; at += n) {
		n = size - at < piece ? size - at : piece;
		err = rowbinary_feed(&r, data + at, n, add_row, sum);
	}
	if (!err)
		err = rowbinary_end(&r);
	rowbinary_fini(&r);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t whole, pieces;
	int err;

	if (!size)
		return 0;
	err = read_rows(data + 1, size - 1, size, &whole);
	fuzz_check(err == read_rows(data + 1, size - 1, (size_t)data[0] + 1, &pieces));
	fuzz_check(whole == pieces);
	return 0;
}
