/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * copy_rows.c - rows from the attached database, by statements made from the schema
 *
 * A table that a later schema adds is copied without a change here, because its foreign
 * keys say which epochs and images its rows belong to. Temporary tables copy_TABLE map
 * ids of the source to ids of the target. They are LEFT JOINed: an id without a row
 * becomes NULL, which the target refuses. So no row is lost silently.
 */
#include "config.h"

#include "db/move/copy.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "abi/control.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/text.h"
#include "db/core/sql.h"

/* Captures are copied in chunks of this size, so that no lock is held for long. */
#define CHUNK_ROWS "2000"

/*
 * The tables to which rows refer, each after those to which it refers itself. same:
 * whether row d of the target has the contents of row s of the source, as in the
 * schema's UNIQUE constraints.
 */
static const struct parent {
	const char *table, *same;
} parents[] = {
	{ "platform", "d.boot_id = s.boot_id AND d.host = s.host AND d.arch = s.arch"
		      " AND d.cpu = s.cpu AND d.release = s.release"
		      " AND d.clock_hz = s.clock_hz AND d.nr_cpus = s.nr_cpus" },
	{ "run", "d.platform = m_platform.dst AND d.from_ns = s.from_ns" },
	{ "stream", "d.event = s.event AND d.source = s.source"
		    " AND d.cpu_type = s.cpu_type AND d.unit = s.unit"
		    " AND d.mean_period = s.mean_period AND d.landing = s.landing" },
	{ "context", "d.name = s.name" },
	{ "image",
	  "d.name = s.name AND d.kind = s.kind AND d.build_id = s.build_id"
	  " AND d.content = s.content AND (s.build_id != x'' OR s.content != x''"
	  " OR (d.device = s.device AND d.inode = s.inode AND d.size = s.size"
	  " AND d.mtime_ns = s.mtime_ns))" },
};

#define NR_PARENTS (sizeof(parents) / sizeof(parents[0]))

/* Tables with rows about epochs, but not "roll", which has retention's own state. */
#define EPOCH_TABLES                                                     \
	"SELECT t.name FROM main.sqlite_schema t WHERE t.type = 'table'" \
	" AND t.name != 'roll' AND EXISTS (SELECT 1 FROM"                \
	" pragma_foreign_key_list(t.name, 'main') f WHERE f.\"table\" = 'epoch')"

/*
 * Tables with rows about images but not about epochs, and the second column of their
 * primary key, whose first is the image.
 */
#define CAPTURE_TABLES                                                           \
	"SELECT t.name, (SELECT i.name FROM pragma_table_info(t.name, 'main') i" \
	" WHERE i.pk = 2) FROM main.sqlite_schema t WHERE t.type = 'table'"      \
	" AND EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name, 'main') f"   \
	" WHERE f.\"table\" = 'image') AND t.name NOT IN (" EPOCH_TABLES ")"

/* An image's parts of captures add up: copied parts get numbers after the target's. */
static const char part_behind[] =
	"s.part + coalesce((SELECT max(d.part) FROM main.capture d"
	" WHERE d.image = m_image.dst), 0)";
static const char part_is_new[] =
	" AND NOT EXISTS (SELECT 1 FROM main.capture d WHERE d.image = m_image.dst"
	" AND d.covers = s.covers)";

/* Runs a statement for each row of a query, with names from that row. */
struct script {
	sqlite3 *h;
	bool ended;
	int64_t dst;
	struct buf sql;
};

static int run_script(struct script *s)
{
	int err = s->sql.err;

	buf_str(&s->sql);
	if (!err)
		err = s->sql.err ? s->sql.err : sql_exec(s->h, s->sql.data);
	buf_reset(&s->sql);
	return err;
}

/* table, column, what it names */
static int gather_column(sqlite3_stmt *st, void *ctx)
{
	struct script *s = ctx;
	const char *table = sql_text(st, 0), *column = sql_text(st, 1);

	buf_printf(&s->sql,
		   "INSERT OR IGNORE INTO temp.copy_%s (src) SELECT DISTINCT s.%s"
		   " FROM temp.copy_epoch n CROSS JOIN src.%s s ON s.%s = n.src"
		   " WHERE s.%s IS NOT NULL",
		   sql_text(st, 2), column, table,
		   strcmp(table, "epoch") ? "epoch" : "id", column);
	return run_script(s);
}

/* table, key: its rows in chunks. */
static int gather_chunks(sqlite3_stmt *st, void *ctx)
{
	struct script *s = ctx;
	const char *table = sql_text(st, 0), *key = sql_text(st, 1);

	buf_printf(&s->sql,
		   "INSERT INTO temp.copy_chunk (name, key, image, low, high)"
		   " SELECT '%s', '%s', image, min(%s), max(%s) FROM"
		   " (SELECT image, %s, row_number() OVER"
		   " (PARTITION BY image ORDER BY %s) / " CHUNK_ROWS " AS nr"
		   " FROM src.%s WHERE image IN (SELECT src FROM temp.copy_image))"
		   " GROUP BY image, nr",
		   table, key, key, key, key, key, table);
	return run_script(s);
}

int copy_gather_captures(sqlite3 *h)
{
	struct script s = { .h = h };
	int err = sql_each(h, gather_chunks, &s, CAPTURE_TABLES, "");

	buf_fini(&s.sql);
	return err;
}

/* Lists of a table's columns, of what each becomes, and the maps for that. */
struct columns {
	struct buf names, values, joins;
	bool ended;
	const char *table;
};

/* column, what it names or NULL */
static int add_column(sqlite3_stmt *st, void *ctx)
{
	struct columns *c = ctx;
	const char *name = sql_text(st, 0), *parent = sql_text(st, 1);
	const bool is_epoch = !strcmp(c->table, "epoch");

	if (!strcmp(name, "id") && !is_epoch)
		return 0;
	buf_printf(&c->names, "%s%s", c->names.len ? ", " : "", name);
	buf_puts(&c->values, c->values.len ? ", " : "");
	if (*parent) {
		buf_printf(&c->values, "m_%s.dst", name);
		buf_printf(&c->joins, " LEFT JOIN temp.copy_%s m_%s ON m_%s.src = s.%s",
			   parent, name, name, name);
	} else if (!strcmp(c->table, "capture") && !strcmp(name, "part")) {
		buf_puts(&c->values, part_behind);
	} else if (!strcmp(name, "id")) {
		buf_puts(&c->values, "n.dst");
	} else if (c->ended && is_epoch && !strcmp(name, "open")) {
		buf_puts(&c->values, "0");
	} else if (c->ended && !strcmp(c->table, "run") && !strcmp(name, "state")) {
		buf_puts(&c->values, "iif(s.state = 0, 2, s.state)");
	} else {
		buf_printf(&c->values, "s.%s", name);
	}
	return 0;
}

static int columns_init(struct columns *c, sqlite3 *h, const char *table, bool ended)
{
	static const char sql[] =
		"SELECT i.name, f.\"table\" FROM pragma_table_info(?1, 'main') i"
		" LEFT JOIN pragma_foreign_key_list(?1, 'main') f"
		" ON f.\"from\" = i.name ORDER BY i.cid";
	int err;

	*c = (struct columns){ .table = table, .ended = ended };
	err = sql_each(h, add_column, c, sql, "s", table);
	buf_str(&c->names);
	buf_str(&c->values);
	buf_str(&c->joins);
	return err ? err : c->joins.err;
}

static void columns_fini(struct columns *c)
{
	buf_fini(&c->names);
	buf_fini(&c->values);
	buf_fini(&c->joins);
}

/* Finds the target's row for each in copy_TABLE that is not found yet. */
static int find_parent(struct script *s, const struct parent *p,
		       const struct columns *c)
{
	buf_printf(&s->sql,
		   "UPDATE temp.copy_%s SET dst = (SELECT d.id FROM src.%s s%s"
		   " JOIN main.%s d ON %s WHERE s.id = copy_%s.src) WHERE dst IS NULL",
		   p->table, p->table, c->joins.data, p->table, p->same, p->table);
	return run_script(s);
}

/*
 * Finds the target's row for each in copy_TABLE, or inserts it. Returns -CPI_ECORRUPT
 * if the source has no such row.
 */
static int map_parent(struct script *s, const struct parent *p)
{
	struct columns c;
	int64_t lost;
	int err = columns_init(&c, s->h, p->table, s->ended);

	buf_printf(&s->sql,
		   "INSERT INTO main.%s (%s) SELECT %s FROM src.%s s%s"
		   " WHERE s.id IN (SELECT src FROM temp.copy_%s WHERE dst IS NULL)"
		   " AND NOT EXISTS (SELECT 1 FROM main.%s d WHERE %s) ORDER BY s.id",
		   p->table, c.names.data, c.values.data, p->table, c.joins.data,
		   p->table, p->table, p->same);
	if (!err)
		err = run_script(s);
	if (!err)
		err = find_parent(s, p, &c);
	columns_fini(&c);
	buf_reset(&s->sql);
	buf_printf(&s->sql, "SELECT count(*) FROM temp.copy_%s WHERE dst IS NULL",
		   p->table);
	if (!err)
		err = sql_get(s->h, &lost, buf_str(&s->sql), "");
	buf_reset(&s->sql);
	return err ? err : lost ? -CPI_ECORRUPT : 0;
}

/*
 * Finds the target's rows before the write transaction, to make it shorter. If another
 * process has written since, doubt_found() forgets them.
 */
static int find_early(struct script *s)
{
	struct columns c;
	int64_t version;
	int err = sql_get(s->h, &version, "PRAGMA main.data_version", "");

	if (!err)
		err = sql_do(s->h, "INSERT INTO temp.copy_version VALUES (?1)", "i",
			     version);
	for (size_t i = 0; !err && i < NR_PARENTS; i++) {
		err = columns_init(&c, s->h, parents[i].table, false);
		if (!err)
			err = find_parent(s, &parents[i], &c);
		columns_fini(&c);
	}
	return err;
}

static int doubt_found(struct script *s)
{
	int64_t version, before;
	int err = sql_get(s->h, &version, "PRAGMA main.data_version", "");

	if (!err)
		err = sql_get(s->h, &before, "SELECT v FROM temp.copy_version", "");
	for (size_t i = 0; !err && version != before && i < NR_PARENTS; i++) {
		buf_printf(&s->sql, "UPDATE temp.copy_%s SET dst = NULL",
			   parents[i].table);
		err = run_script(s);
	}
	if (!err && version != before)
		err = sql_do(s->h, "UPDATE temp.copy_version SET v = ?1", "i", version);
	return err;
}

int copy_gather(sqlite3 *h)
{
	static const char columns[] =
		"SELECT t.name, f.\"from\", f.\"table\" FROM main.sqlite_schema t"
		" JOIN pragma_foreign_key_list(t.name, 'main') f"
		" WHERE f.\"table\" != 'epoch'"
		" AND (t.name = 'epoch' OR t.name IN (" EPOCH_TABLES "))";
	struct script s = { .h = h };
	int err = sql_each(h, gather_column, &s, columns, "");

	if (!err)
		err = sql_exec(h, "INSERT OR IGNORE INTO temp.copy_platform (src)"
				  " SELECT platform FROM src.run"
				  " WHERE id IN (SELECT src FROM temp.copy_run)");
	if (!err)
		err = find_early(&s);
	buf_fini(&s.sql);
	return err;
}

int copy_images(sqlite3 *h)
{
	struct script s = { .h = h };
	int err = doubt_found(&s);

	if (!err)
		err = map_parent(&s, &parents[NR_PARENTS - 1]);

	buf_fini(&s.sql);
	return err;
}

int copy_gaps(sqlite3 *h)
{
	static const char sql[] =
		"INSERT INTO main.gap (from_ns, to_ns, reason, host)"
		" SELECT s.from_ns, s.to_ns, s.reason, s.host FROM src.gap s JOIN"
		" (SELECT min(from_ns) AS low, max(to_ns) AS high FROM src.epoch"
		" WHERE id IN (SELECT src FROM temp.copy_epoch)) e"
		" ON s.from_ns < e.high AND (s.to_ns > e.low OR s.from_ns >= e.low)"
		" WHERE s.host IN (SELECT host FROM src.platform"
		" WHERE id IN (SELECT src FROM temp.copy_platform)) AND NOT EXISTS"
		" (SELECT 1 FROM main.gap d WHERE d.from_ns = s.from_ns"
		" AND d.to_ns = s.to_ns AND d.reason = s.reason AND d.host = s.host)"
		" ORDER BY s.id";

	return sql_exec(h, sql);
}

int copy_marks(sqlite3 *h)
{
	static const char sql[] =
		"INSERT OR IGNORE INTO main.mark (host, at_ns, text)"
		" SELECT s.host, s.at_ns, s.text FROM src.mark s JOIN"
		" (SELECT min(from_ns) AS low,"
		" max(iif(open, 9223372036854775807, to_ns)) AS high FROM src.epoch"
		" WHERE id IN (SELECT src FROM temp.copy_epoch)) e"
		" ON s.at_ns BETWEEN e.low AND e.high"
		" WHERE s.host IN (SELECT host FROM src.platform"
		" WHERE id IN (SELECT src FROM temp.copy_platform))";

	return sql_exec(h, sql);
}

/* Copies the names of the containers whose ids are in a context's name. */
static int copy_named(sqlite3_stmt *st, void *ctx)
{
	static const char sql[] =
		"INSERT INTO main.container (id, name, seen_ns)"
		" SELECT id, name, seen_ns FROM src.container WHERE id = ?1"
		" ON CONFLICT DO UPDATE SET name = excluded.name,"
		" seen_ns = excluded.seen_ns WHERE excluded.seen_ns > seen_ns";
	const char *at = sql_text(st, 0);
	char id[CPI_CONTAINER_DIGITS + 1];
	int err = 0;

	while (!err && *at) {
		const size_t len = text_hex_digits(at);

		if (len == CPI_CONTAINER_DIGITS) {
			memcpy(id, at, len);
			id[len] = '\0';
			err = sql_do(ctx, sql, "s", id);
		}
		at += len + (at[len] != '\0');
	}
	return err;
}

int copy_containers(sqlite3 *h)
{
	return sql_each(h, copy_named, h,
			"SELECT name FROM src.context"
			" WHERE id IN (SELECT src FROM temp.copy_context)",
			"");
}

/* id, table, key, image, low, high of a chunk */
static int copy_chunk(sqlite3_stmt *st, void *ctx)
{
	struct script *s = ctx;
	const char *table = sql_text(st, 1);
	struct columns c;
	int err = columns_init(&c, s->h, table, false);

	buf_printf(&s->sql,
		   "INSERT INTO main.%s (%s) SELECT %s FROM src.%s s%s"
		   " WHERE s.image = ?1 AND s.%s BETWEEN ?2 AND ?3%s"
		   " ON CONFLICT DO NOTHING",
		   table, c.names.data, c.values.data, table, c.joins.data,
		   sql_text(st, 2), strcmp(table, "capture") ? "" : part_is_new);
	columns_fini(&c);
	if (!err)
		err = sql_do(s->h, buf_str(&s->sql), "iii", sqlite3_column_int64(st, 3),
			     sqlite3_column_int64(st, 4), sqlite3_column_int64(st, 5));
	if (!err)
		err = sql_do(s->h, "DELETE FROM temp.copy_chunk WHERE id = ?1", "i",
			     sqlite3_column_int64(st, 0));
	return err;
}

int copy_capture(sqlite3 *h, bool *more)
{
	static const char first[] = "SELECT id, name, key, image, low, high"
				    " FROM temp.copy_chunk ORDER BY id LIMIT 1";
	struct script s = { .h = h };
	int64_t left;
	int err = sql_each(h, copy_chunk, &s, first, "");

	if (!err)
		err = sql_get(h, &left, "SELECT count(*) FROM temp.copy_chunk", "");
	if (!err)
		*more = left;
	buf_fini(&s.sql);
	return err;
}

/* name of a table with rows about epochs, or "epoch" */
static int copy_table(sqlite3_stmt *st, void *ctx)
{
	struct script *s = ctx;
	const char *table = sql_text(st, 0);
	struct columns c;
	int err = columns_init(&c, s->h, table, s->ended);

	buf_printf(&s->sql,
		   "INSERT INTO main.%s (%s) SELECT %s FROM temp.copy_epoch n"
		   " CROSS JOIN src.%s s ON s.%s = n.src%s",
		   table, c.names.data, c.values.data, table,
		   strcmp(table, "epoch") ? "epoch" : "id", c.joins.data);
	columns_fini(&c);
	return err ? err : run_script(s);
}

/* Whether the chosen epochs are there, and retention has not torn them apart. */
static int check_whole(sqlite3 *h)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM src.roll o"
		" WHERE (o.epoch IN (SELECT src FROM temp.copy_epoch)) !="
		" (o.target IS NOT NULL AND"
		" o.target IN (SELECT src FROM temp.copy_epoch))) +"
		" (SELECT count(*) FROM temp.copy_epoch"
		" WHERE src NOT IN (SELECT id FROM src.epoch))";
	int64_t nr;
	int err = sql_get(h, &nr, sql, "");

	return err ? err : nr ? -EAGAIN : 0;
}

int copy_epochs(sqlite3 *h, bool ended)
{
	struct script s = { .h = h, .ended = ended };
	int err = check_whole(h);

	if (!err)
		err = doubt_found(&s);
	for (size_t i = 0; !err && i < NR_PARENTS; i++)
		err = map_parent(&s, &parents[i]);
	if (!err)
		err = sql_each(h, copy_table, &s, "SELECT 'epoch'", "");
	if (!err)
		err = sql_each(h, copy_table, &s, EPOCH_TABLES, "");
	buf_fini(&s.sql);
	return err;
}

/* name of a table with rows about epochs */
static int drop_rows(sqlite3_stmt *st, void *ctx)
{
	struct script *s = ctx;

	buf_printf(&s->sql, "DELETE FROM main.%s WHERE epoch = %" PRId64,
		   sql_text(st, 0), s->dst);
	return run_script(s);
}

int copy_drop(sqlite3 *h, int64_t dst)
{
	struct script s = { .h = h, .dst = dst };
	int err = sql_each(h, drop_rows, &s, EPOCH_TABLES, "");

	buf_fini(&s.sql);
	return err ? err : sql_do(h, "DELETE FROM main.epoch WHERE id = ?1", "i", dst);
}
