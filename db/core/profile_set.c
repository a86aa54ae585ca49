/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile_set.c - table profile: the counts of an image, stream and context
 *
 * struct profile has counts of several kinds, and each kind is a separate row. So the
 * row's key decides which counts of a struct profile the row contains.
 */
#include "config.h"

#include "db/core/set_rows.h"
#include "db/profile/codec.h"

static void *new_profile(const struct set_key *key, const void *added)
{
	return profile_new();
}

static void free_profile(void *set)
{
	profile_free(set);
}

static int decode_profile(sqlite3 *h, const struct set_key *key, const void *blob,
			  size_t size, void *set)
{
	return codec_decode(blob, size, key->kind, set);
}

static int merge_profile(void *set, void *from, const uint32_t *map, uint32_t nr_map)
{
	return profile_merge(set, from);
}

static int encode_profile(const struct set_key *key, void *set, struct buf *out)
{
	return codec_encode(set, key->kind, out);
}

/*
 * Returns the total of the row's counts; UINT64_MAX if it overflows, which no row has.
 */
static uint64_t total_profile(const struct set_key *key, void *set)
{
	uint64_t total;

	return codec_total(set, key->kind, &total) ? UINT64_MAX : total;
}

#define KEY "epoch = ?1 AND image = ?2 AND stream = ?4 AND context = ?5 AND kind = ?6"

const struct set_kind profile_set = {
	.name = "profiles",
	.tally = TALLY_SAMPLES,
	.find = "SELECT counts FROM profile WHERE " KEY,
	.put = "INSERT INTO profile (epoch, image, stream, context, kind, total, "
	       "counts)"
	       " VALUES (?1, ?2, ?4, ?5, ?6, ?7, ?9) ON CONFLICT DO UPDATE"
	       " SET total = excluded.total, counts = excluded.counts",
	.remove = "DELETE FROM profile WHERE " KEY,
	.after = "SELECT image, 0, stream, context, kind,"
		 " iif(kind = 0 AND context = 0, total, 0) FROM profile"
		 " WHERE epoch = ?1 AND (image, stream, context, kind) > (?2, ?4, ?5, "
		 "?6)"
		 " ORDER BY image, stream, context, kind LIMIT 64",
	.all = "SELECT epoch, image, 0, stream, context, kind, total, 0, counts"
	       " FROM profile",
	.new = new_profile,
	.free = free_profile,
	.decode = decode_profile,
	.merge = merge_profile,
	.encode = encode_profile,
	.total = total_profile,
};
