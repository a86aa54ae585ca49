/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stack_set.c - table stack: one tree for each stream and context
 *
 * Each stack is either in the context '' or in one "comm=NAME", so that a command's
 * stacks can be read alone. The rows of these contexts together are the stream's stored
 * samples; contexts of other kinds contain stacks a second time.
 */
#include "config.h"

#include "base/err.h"
#include "db/core/image_numbers.h"
#include "db/core/set_rows.h"
#include "db/core/sql.h"
#include "db/profile/stacktree.h"

/*
 * If an epoch's trees together have this many bytes, they get no new frames; further
 * stacks are counted as STACK_NO_ROOM.
 */
#define EPOCH_BYTES (64 << 20)

static void *new_tree(const struct set_key *key, const void *added)
{
	return stack_tree_new(STACK_MAX_NODES);
}

static void free_tree(void *set)
{
	stack_tree_free(set);
}

static int decode_tree(sqlite3 *h, const struct set_key *key, const void *blob,
		       size_t size, void *set)
{
	struct image_numbers im;
	int err = image_numbers_read(h, key->epoch, &im);

	if (err)
		return err;
	for (uint32_t i = 0; i < im.nr; i++)
		im.map[i] = i;
	err = stack_tree_decode(blob, size, im.map, im.nr, set);
	image_numbers_fini(&im);
	return err;
}

static int bound_tree(sqlite3 *h, const struct set_key *key, void *set)
{
	int64_t bytes;
	int err = sql_get(
		h, &bytes,
		"SELECT coalesce(sum(length(tree)), 0) FROM stack WHERE epoch = ?1",
		"i", key->epoch);

	if (!err && bytes > EPOCH_BYTES)
		stack_tree_limit(set, stack_tree_nr_nodes(set));
	return err;
}

static int merge_tree(void *set, void *from, const uint32_t *map, uint32_t nr_map)
{
	return stack_tree_merge(set, from, map, nr_map);
}

static int encode_tree(const struct set_key *key, void *set, struct buf *out)
{
	return stack_tree_encode(set, out);
}

static uint64_t total_tree(const struct set_key *key, void *set)
{
	return stack_tree_total(set);
}

#define KEY "epoch = ?1 AND stream = ?4 AND context = ?5"

const struct set_kind stack_set = {
	.name = "stacks",
	.tally = TALLY_STACKS,
	.find = "SELECT tree FROM stack WHERE " KEY,
	.put = "INSERT INTO stack (epoch, stream, context, total, tree)"
	       " VALUES (?1, ?4, ?5, ?7, ?9) ON CONFLICT DO UPDATE"
	       " SET total = excluded.total, tree = excluded.tree",
	.remove = "DELETE FROM stack WHERE " KEY,
	.after = "SELECT 0, 0, k.stream, k.context, 0,"
		 " iif(c.name = '' OR c.name GLOB 'comm=*', k.total, 0)"
		 " FROM stack k JOIN context c ON c.id = k.context WHERE k.epoch = ?1"
		 " AND (k.stream, k.context) > (?4, ?5)"
		 " ORDER BY k.stream, k.context LIMIT 64",
	.all = "SELECT epoch, 0, 0, stream, context, 0, total, 0, tree FROM stack",
	.new = new_tree,
	.free = free_tree,
	.decode = decode_tree,
	.bound = bound_tree,
	.merge = merge_tree,
	.encode = encode_tree,
	.total = total_tree,
	.numbers_images = true,
};
