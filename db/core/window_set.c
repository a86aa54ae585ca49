/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_set.c - table window_set: the windows that began in an image
 *
 * A set is a random sample of limited size. The rows of context '' are the stream's
 * stored windows; other contexts contain some of them a second time.
 */
#include "config.h"

#include "db/core/set_rows.h"
#include "db/profile/windows.h"

/* Makes a set with another random seed than that of earlier merges into the row. */
static void *new_windows(const struct set_key *key, const void *added)
{
	const uint64_t seen = added ? windows_seen(added) : 0;

	return windows_new(WINDOWS_LIMIT, seen << 20 ^ key->image << 40 ^ key->epoch);
}

static void free_windows(void *set)
{
	windows_free(set);
}

static int decode_windows(sqlite3 *h, const struct set_key *key, const void *blob,
			  size_t size, void *set)
{
	return windows_decode(blob, size, set);
}

static int merge_windows(void *set, void *from, const uint32_t *map, uint32_t nr_map)
{
	return windows_merge(set, from, map, nr_map);
}

static int encode_windows(const struct set_key *key, void *set, struct buf *out)
{
	return windows_encode(set, out);
}

static uint64_t seen_windows(const struct set_key *key, void *set)
{
	return windows_seen(set);
}

static uint64_t kept_windows(const void *set)
{
	return windows_kept(set);
}

#define KEY "epoch = ?1 AND image = ?2 AND stream = ?4 AND context = ?5"

const struct set_kind window_set = {
	.name = "windows",
	.tally = TALLY_WINDOWS,
	.find = "SELECT windows FROM window_set WHERE " KEY,
	.put = "INSERT INTO window_set (epoch, image, stream, context, seen, kept,"
	       " windows) VALUES (?1, ?2, ?4, ?5, ?7, ?8, ?9) ON CONFLICT DO UPDATE"
	       " SET seen = excluded.seen, kept = excluded.kept,"
	       " windows = excluded.windows",
	.remove = "DELETE FROM window_set WHERE " KEY,
	.after = "SELECT image, 0, stream, context, 0, iif(context = 0, seen, 0)"
		 " FROM window_set WHERE epoch = ?1"
		 " AND (image, stream, context) > (?2, ?4, ?5)"
		 " ORDER BY image, stream, context LIMIT 64",
	.all = "SELECT epoch, image, 0, stream, context, 0, seen, kept, windows"
	       " FROM window_set",
	.new = new_windows,
	.free = free_windows,
	.decode = decode_windows,
	.merge = merge_windows,
	.encode = encode_windows,
	.total = seen_windows,
	.kept = kept_windows,
	.numbers_images = true,
};
