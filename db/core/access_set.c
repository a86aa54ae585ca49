/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * access_set.c - table access_set: which data was touched in windows
 *
 * A row belongs to the row of window_set with the same key. It has no part in a tally:
 * the windows are counted there.
 */
#include "config.h"

#include "db/core/set_rows.h"
#include "db/profile/accesses.h"

static void *new_accesses(const struct set_key *key, const void *added)
{
	return accesses_new(ACCESSES_MAX_INSNS);
}

static void free_accesses(void *set)
{
	accesses_free(set);
}

static int decode_accesses(sqlite3 *h, const struct set_key *key, const void *blob,
			   size_t size, void *set)
{
	return accesses_decode(blob, size, set);
}

static int merge_accesses(void *set, void *from, const uint32_t *map, uint32_t nr_map)
{
	return accesses_merge(set, from, map, nr_map);
}

static int encode_accesses(const struct set_key *key, void *set, struct buf *out)
{
	return accesses_encode(set, out);
}

static uint64_t seen_accesses(const struct set_key *key, void *set)
{
	return accesses_seen(set);
}

static uint64_t kept_accesses(const void *set)
{
	return accesses_kept(set);
}

#define KEY "epoch = ?1 AND image = ?2 AND stream = ?4 AND context = ?5"

const struct set_kind access_set = {
	.name = "accesses",
	.tally = TALLY_WINDOWS,
	.find = "SELECT accesses FROM access_set WHERE " KEY,
	.put = "INSERT INTO access_set (epoch, image, stream, context, seen, kept,"
	       " accesses) VALUES (?1, ?2, ?4, ?5, ?7, ?8, ?9) ON CONFLICT DO UPDATE"
	       " SET seen = excluded.seen, kept = excluded.kept,"
	       " accesses = excluded.accesses",
	.remove = "DELETE FROM access_set WHERE " KEY,
	.after = "SELECT image, 0, stream, context, 0, 0 FROM access_set"
		 " WHERE epoch = ?1 AND (image, stream, context) > (?2, ?4, ?5)"
		 " ORDER BY image, stream, context LIMIT 64",
	.all = "SELECT epoch, image, 0, stream, context, 0, seen, kept, accesses"
	       " FROM access_set",
	.new = new_accesses,
	.free = free_accesses,
	.decode = decode_accesses,
	.merge = merge_accesses,
	.encode = encode_accesses,
	.total = seen_accesses,
	.kept = kept_accesses,
	.numbers_images = true,
};
