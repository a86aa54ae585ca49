/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * native.h - ClickHouse's format Native: blocks of rows, column by column
 *
 * A store needs less work to insert it than RowBinary, and it compresses better. The
 * types of columns must be exactly those of the table.
 */
#ifndef CPI_DB_CLICKHOUSE_NATIVE_H
#define CPI_DB_CLICKHOUSE_NATIVE_H

#include <stddef.h>

#include "base/buf.h"

#define NATIVE_MAX_ROWS 65536 /* rows of a block */

/*
 * Appends a block of the first of the given rows, which are size bytes in the format of
 * rowbinary.h. columns is "table (a, b)", with a name for each of types. *used is the
 * number of bytes that were converted. Returns 0, -EINVAL for columns that do not fit
 * the types, -CPI_ETRUNCATED for rows that end within one, or -ENOMEM.
 */
int native_put(const char *columns, const char *types, const void *rows, size_t size,
	       size_t *used, struct buf *out);

#endif
