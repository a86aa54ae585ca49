/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codec.h - profiles as compressed blobs
 *
 * A blob is packed (db/profile/pack.h). The body, all numbers LEB128:
 *
 *	number of offsets
 *	per offset, ascending: the distance from the one before (the first from 0)
 *	then per offset: its values, column by column
 *
 * Columns by kind: PROFILE_COUNT n; PROFILE_OUTCOME not taken, then taken.
 * PROFILE_WEIGHTED has one such body for each kind of weight, in order; a kind without
 * weights has only the number 0. PROFILE_HISTOGRAM has columns of cells after the
 * offsets (codec_records.h). cpi-db(5) documents the format; t/fixtures/ holds golden
 * files.
 */
#ifndef CPI_DB_CODEC_H
#define CPI_DB_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "db/profile/pack.h"
#include "db/profile/profile.h"

/* Stored in the database: never renumber. */
enum profile_kind {
	PROFILE_COUNT = 0,
	PROFILE_OUTCOME = 1,
	PROFILE_WEIGHTED = 2,
	PROFILE_HISTOGRAM = 4, /* hardware records; 3 is not used */
	PROFILE_NR_KINDS,
};

/* The most offsets of a body. This bounds the memory that a hostile blob can take. */
#define CODEC_MAX_OFFSETS (1u << 24)

/*
 * Appends p's columns of one kind to out. Offsets without a value of that kind are left
 * out. If no offset has one, nothing is appended. Returns 0, -CPI_ELIMIT above
 * CODEC_MAX_OFFSETS, or -ENOMEM; on failure out is unchanged.
 */
int codec_encode(struct profile *p, enum profile_kind kind, struct buf *out);

/*
 * The sum of the values that codec_encode() writes; for PROFILE_HISTOGRAM the number of
 * records. 0, or -EOVERFLOW above INT64_MAX, which no database can hold.
 */
int codec_total(struct profile *p, enum profile_kind kind, uint64_t *total);

/*
 * Adds a blob's counts to p. Returns 0, -CPI_ETRUNCATED, -CPI_ECORRUPT, -CPI_EVERSION
 * for an unknown encoding, -CPI_ELIMIT, -EOVERFLOW or -ENOMEM. A blob with trailing
 * bytes is corrupt. The whole blob is checked before p is changed. After -EOVERFLOW or
 * -ENOMEM a part may have been added, as with profile_merge().
 */
int codec_decode(const void *blob, size_t size, enum profile_kind kind,
		 struct profile *p);

#endif
