/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * edge_set.c - table edge: the edges between two images
 *
 * The images are part of the key, so blobs contain no image numbers, and merging needs
 * no map. Tallies count samples; edges are not samples, so no tally changes with a row.
 */
#include "config.h"

#include "db/core/set_rows.h"
#include "db/profile/edges.h"

static void *new_edges(const struct set_key *key, const void *added)
{
	return edges_new();
}

static void free_edges(void *set)
{
	edges_free(set);
}

static int decode_edges(sqlite3 *h, const struct set_key *key, const void *blob,
			size_t size, void *set)
{
	return edges_decode(blob, size, set);
}

static int merge_edges(void *set, void *from, const uint32_t *map, uint32_t nr_map)
{
	return edges_merge(set, from);
}

static int encode_edges(const struct set_key *key, void *set, struct buf *out)
{
	return edges_encode(set, out);
}

static uint64_t total_edges(const struct set_key *key, void *set)
{
	return edges_total(set);
}

#define KEY                                                         \
	"epoch = ?1 AND image = ?2 AND target = ?3 AND stream = ?4" \
	" AND context = ?5 AND kind = ?6"

const struct set_kind edge_set = {
	.name = "edges",
	.find = "SELECT edges FROM edge WHERE " KEY,
	.put = "INSERT INTO edge (epoch, image, target, stream, context, kind, total,"
	       " edges) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?9) ON CONFLICT DO UPDATE"
	       " SET total = excluded.total, edges = excluded.edges",
	.remove = "DELETE FROM edge WHERE " KEY,
	.after = "SELECT image, target, stream, context, kind, 0 FROM edge"
		 " WHERE epoch = ?1 AND (image, target, stream, context, kind)"
		 " > (?2, ?3, ?4, ?5, ?6)"
		 " ORDER BY image, target, stream, context, kind LIMIT 64",
	.all = "SELECT epoch, image, target, stream, context, kind, total, 0, edges"
	       " FROM edge",
	.new = new_edges,
	.free = free_edges,
	.decode = decode_edges,
	.merge = merge_edges,
	.encode = encode_edges,
	.total = total_edges,
};
