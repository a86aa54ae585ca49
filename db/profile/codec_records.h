/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codec_records.h - encodes hardware records as blobs (PROFILE_HISTOGRAM)
 *
 * The body of such a blob, all numbers LEB128:
 *
 *	number of offsets
 *	per offset, ascending: the distance from the one before (the first from 0)
 *	per offset: its number of cells
 *	per cell, ascending (series, value): its series, minus the series of the
 *		offset's previous cell (minus 0 for the first cell)
 *	per cell: its value, minus the value of the offset's previous cell if that cell
 *		has the same series
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
