/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * storetables.c - for each table of a store, the table of a machine's database
 */
#include "config.h"

#include "db/clickhouse/storetables.h"

#include "db/clickhouse/fleetid.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

#define I        FLEETID_IMAGE("i")
#define S        FLEETID_STREAM("s")
#define C        FLEETID_CONTEXT("c")
#define JOIN_I   " JOIN image i ON i.id = t.image"
#define JOIN_S   " JOIN stream s ON s.id = t.stream"
#define JOIN_C   " JOIN context c ON c.id = t.context"
#define OF_EPOCH " WHERE t.epoch = ?1"

const struct storetable storetables_epoch[] = {
	{
		.name = "tally",
		.columns = "kind, stream, received, stored, not_delivered, enabled_ns, "
			   "running_ns, throttled",
		.types = "1888i888",
		.select = "SELECT t.kind, " S ", t.received, t.stored, t.not_delivered,"
			  " t.enabled_ns, t.running_ns, t.throttled FROM tally t" JOIN_S
				  OF_EPOCH,
		.sums = "kind, stream, sum(received), sum(stored), sum(not_delivered),"
			" sum(enabled_ns), sum(running_ns), sum(throttled)",
		.by = "kind, stream",
		.insert =
			"INSERT INTO tally VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	},
	{
		.name = "loss",
		.columns = "kind, stream, class, name, n",
		.types = "181s8",
		.select = "SELECT t.kind, " S
			  ", t.class, t.name, t.n FROM loss t" JOIN_S OF_EPOCH,
		.sums = "kind, stream, class, name, sum(n)",
		.by = "kind, stream, class, name",
		.insert = "INSERT INTO loss VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	},
	{
		.name = "comm",
		.columns = "comm, image, stream, n",
		.types = "s888",
		.select = "SELECT t.comm, " I ", " S
			  ", t.n FROM comm t" JOIN_I JOIN_S OF_EPOCH,
		.sums = "comm, image, stream, sum(n)",
		.by = "comm, image, stream",
		.insert = "INSERT INTO comm VALUES (?1, ?2, ?3, ?4, ?5)",
	},
	{
		.name = "flush",
		.columns = "seq, from_ns, to_ns, duration_ns, received, stored, lost, "
			   "merged",
		.types = "88888888",
		.select = "SELECT t.seq, t.from_ns, t.to_ns, t.duration_ns, t.received,"
			  " t.stored, t.lost, t.merged FROM flush t" OF_EPOCH,
		/* Until one of them is void, two epochs may have a flush. */
		.insert =
			"INSERT OR IGNORE INTO flush (epoch, seq, from_ns, to_ns,"
			" duration_ns, received, stored, lost, merged, run) VALUES (?1,"
			" ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, (SELECT run FROM epoch WHERE"
			" id = ?1))",
	},
	{
		.name = "histogram",
		.columns = "image, stream, context, kind, total, counts",
		.types = "88818b",
		.select = "SELECT " I ", " S ", " C ", t.kind, t.total, t.counts"
			  " FROM profile t" JOIN_I JOIN_S JOIN_C OF_EPOCH
			  " AND t.kind > 2",
		.insert = "INSERT INTO profile (epoch, image, stream, context, kind,"
			  " total, counts) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	},
	{
		.name = "edge",
		.columns = "image, target, stream, context, kind, total, edges",
		.types = "888818b",
		.select = "SELECT " I ", " FLEETID_IMAGE(
			"j") ", " S ", " C
			     ", t.kind, t.total, t.edges FROM edge t" JOIN_I
			     " JOIN image j ON j.id = t.target" JOIN_S JOIN_C OF_EPOCH,
		.insert = "INSERT INTO edge VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	},
	{
		.name = "stack",
		.columns = "stream, context, total, tree",
		.types = "888b",
		.select = "SELECT " S ", " C
			  ", t.total, t.tree FROM stack t" JOIN_S JOIN_C OF_EPOCH,
		.insert = "INSERT INTO stack VALUES (?1, ?2, ?3, ?4, ?5)",
	},
	{
		.name = "stack_image",
		.columns = "number, image",
		.types = "48",
		.select = "SELECT t.nr, " I " FROM stack_image t" JOIN_I OF_EPOCH,
		.insert = "INSERT INTO stack_image VALUES (?1, ?2, ?3)",
	},
	{
		.name = "window_set",
		.columns = "image, stream, context, seen, kept, windows",
		.types = "88888b",
		.select = "SELECT " I ", " S ", " C ", t.seen, t.kept, t.windows"
			  " FROM window_set t" JOIN_I JOIN_S JOIN_C OF_EPOCH,
		.insert = "INSERT INTO window_set VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	},
	{
		.name = "access_set",
		.columns = "image, stream, context, seen, kept, accesses",
		.types = "88888b",
		.select = "SELECT " I ", " S ", " C ", t.seen, t.kept, t.accesses"
			  " FROM access_set t" JOIN_I JOIN_S JOIN_C OF_EPOCH,
		.insert = "INSERT INTO access_set VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	},
	{
		.name = "rolled",
		.columns = "event, from_ns, to_ns, time",
		.types = "s88f",
		.select = "SELECT t.event, t.from_ns, t.to_ns, t.time FROM rolled "
			  "t" OF_EPOCH,
		.insert = "INSERT INTO rolled VALUES (?1, ?2, ?3, ?4, ?5)",
	},
	{
		.name = "spread",
		.columns = "event, image, start, size, n, sum, squares, cross",
		.types = "s8888fff",
		.select =
			"SELECT t.event, " I ", t.start, t.size, t.n, t.sum, t.squares,"
			" t.cross FROM spread t" JOIN_I OF_EPOCH,
		.insert = "INSERT INTO spread VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
			  " ?9)",
	},
};
const size_t storetables_nr_epoch = NR(storetables_epoch);

const struct storetable storetable_image = {
	.name = "image",
	.columns = "id, name, kind, build_id, content, device, inode, size, mtime_ns",
	.types = "8s1bb8888",
	.select = "SELECT " I ", i.name, i.kind, i.build_id, i.content, i.device,"
		  " i.inode, i.size, i.mtime_ns FROM image i WHERE i.id = ?1",
	.insert = "INSERT OR IGNORE INTO image (id, name, kind, build_id, content,"
		  " device, inode, size, mtime_ns)"
		  " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
};

const struct storetable storetable_stream = {
	.name = "stream",
	.columns = "id, event, source, cpu_type, unit, mean_period, landing",
	.types = "8ssss81",
	.select = "SELECT " S ", s.event, s.source, s.cpu_type, s.unit, s.mean_period,"
		  " s.landing FROM stream s WHERE s.id = ?1",
	.insert = "INSERT OR IGNORE INTO stream (id, event, source, cpu_type, unit,"
		  " mean_period, landing) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
};

const struct storetable storetable_context = {
	.name = "context",
	.columns = "id, name",
	.types = "8s",
	.select = "SELECT " C ", c.name FROM context c WHERE c.id = ?1",
	.insert = "INSERT OR IGNORE INTO context (id, name) VALUES (?1, ?2)",
};

/*
 * A context's path may have an id at any place, and names are found by whole ids.
 * Places are bytes: in a text, SQLite counts characters from the beginning.
 */
const struct storetable storetable_container = {
	.name = "container",
	.columns = "context, id, name, seen_ns",
	.types = "8ss8",
	.select =
		"SELECT " C ", k.id, k.name, k.seen_ns FROM context c JOIN container k"
		" ON k.id IN (WITH RECURSIVE place (at) AS (SELECT 1 UNION ALL"
		" SELECT at + 1 FROM place"
		" WHERE at < length(CAST(c.name AS BLOB)) - 63)"
		" SELECT CAST(substr(CAST(c.name AS BLOB), at, 64) AS TEXT) FROM place)"
		" WHERE c.id = ?1 AND EXISTS (SELECT 1 FROM container)",
	.insert = "INSERT INTO container (id, name, seen_ns)"
		  " SELECT ?2, ?3, ?4 WHERE ?1"
		  " ON CONFLICT DO UPDATE SET name = excluded.name,"
		  " seen_ns = excluded.seen_ns WHERE excluded.seen_ns > seen_ns",
};

const struct storetable storetables_image[] = {
	{
		.name = "symbol",
		.columns = "image, start, size, name",
		.types = "888s",
		.select = "SELECT " I ", t.start, t.size, t.name FROM symbol t" JOIN_I
			  " WHERE t.image = ?1",
		.insert = "INSERT OR IGNORE INTO symbol VALUES (?1, ?2, ?3, ?4)",
	},
	{
		.name = "code",
		.columns = "image, start, bytes",
		.types = "88b",
		.select = "SELECT " I ", t.start, t.bytes FROM code t" JOIN_I
			  " WHERE t.image = ?1",
		.insert = "INSERT OR IGNORE INTO code VALUES (?1, ?2, ?3)",
	},
	{
		.name = "instruction",
		.columns = "image, start, text",
		.types = "88s",
		.select = "SELECT " I ", t.start, t.text FROM instruction t" JOIN_I
			  " WHERE t.image = ?1",
		.insert = "INSERT OR IGNORE INTO instruction VALUES (?1, ?2, ?3)",
	},
	{
		.name = "capture",
		.columns = "image, id, part, covers, data",
		.types = "888bb",
		.select =
			"SELECT " I ", fleet_id('capture', t.covers, t.data), t.part,"
			" t.covers, t.data FROM capture t" JOIN_I " WHERE t.image = ?1",
		/* Parts of several machines: renumbered as they come. */
		.insert = "INSERT OR IGNORE INTO capture SELECT ?1, 1 + coalesce("
			  "(SELECT max(part) FROM capture WHERE image = ?1), 0), ?4, ?5"
			  " WHERE ?2 AND ?3",
	},
};
const size_t storetables_nr_image = NR(storetables_image);
