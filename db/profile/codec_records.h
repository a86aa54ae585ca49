/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codec_records.h - encodes hardware records as blobs (PROFILE_HISTOGRAM)
 *
 * The body of such a blob, all numbers LEB128:
 *
 *	number of offsets
 *	per offset, ascending: the distance from the one before (the first from 0)
 *	per offset: its number of cells
 *	per cell, ascending (series, value): how much higher its series is than the
 *		one's before (an offset's first: than 0)
 *	per cell: its value, less the one's before in the same series of the offset
 *	per cell: n
 */
#ifndef CPI_DB_CODEC_RECORDS_H
#define CPI_DB_CODEC_RECORDS_H

#include <stddef.h>

#include "base/buf.h"
#include "db/profile/profile.h"
#include "db/profile/records.h"

/* The most cells of a blob. This bounds the memory that a hostile blob can take. */
#define CODEC_MAX_CELLS (1u << 23)

/* As codec_encode(); r may be NULL. */
int codec_encode_records(const struct records *r, struct buf *out);

/* As codec_decode(). */
int codec_decode_records(const void *blob, size_t size, struct profile *p);

#endif
