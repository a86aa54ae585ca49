/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_rows.c - a database with any values in its rows is shown, or refused as damaged
 *
 * The first byte chooses: bits 0 and 1 a report, by procedure, image, command or line;
 * bit 2, the database is checked as well; if all higher bits are set, the database is
 * a file, which is opened for the report. Otherwise it is kept in memory, and the
 * changes are rolled back: to open a file takes ten times as long as a report of it.
 * The rest is a list of changes to a small database that has a row of nearly all
 * tables: a byte each for table, column, row and kind of change, then the value. What a
 * report shows adds up.
 */
#include "config.h"

#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "db/store/store.h"
#include "report/profile/prof.h"
#include "t/fuzz/fuzz.h"

#define MAX_TABLES  48
#define MAX_COLUMNS 40
#define MAX_CHANGES 16
#define MAX_BASE    (4 << 20)

enum change {
	SET_NUMBER,
	SET_SMALL,
	SET_BYTES,
	SET_NULL,
	SET_OTHER,
	REMOVE,
	NR_CHANGES
};

struct table {
	char *name, key[256];
	char *column[MAX_COLUMNS];
	int nr_columns;
	sqlite3_stmt *made[MAX_COLUMNS][NR_CHANGES]; /* in memory only, when needed */
};

static char folder[64], path[80];
static struct buf base; /* the database before all changes */
static struct table table[MAX_TABLES];
static int nr_tables;
static struct db *kept; /* the database in memory */
static bool from_file;

/* Linked with --wrap: what opens the database gets the one in memory. */
int __real_db_open(const char *name, enum db_mode mode, struct db **out);
void __real_db_close(struct db *db);
int __wrap_db_open(const char *name, enum db_mode mode, struct db **out);
void __wrap_db_close(struct db *db);

int __wrap_db_open(const char *name, enum db_mode mode, struct db **out)
{
	if (from_file || !kept)
		return __real_db_open(name, mode, out);
	*out = kept;
	return 0;
}

void __wrap_db_close(struct db *db)
{
	if (db != kept)
		__real_db_close(db);
}

static void remove_files(void)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-lock",
						"-journal" };
	char name[96];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(name, sizeof(name), "%s%s", path, suffixes[i]);
		unlink(name);
	}
}

static void remove_all(void)
{
	remove_files();
	rmdir(folder);
}

/* ---- the database ---- */

static const struct image_desc kernel = { .kind = IMAGE_VDSO,
					  .name = "[vdso]",
					  .build_id = { 0xab, 0xcd },
					  .build_id_size = 2 },
			       idle = { .kind = IMAGE_IDLE, .name = "[idle]" },
			       app = { .kind = IMAGE_FILE,
				       .name = "/nonexistent/app",
				       .build_id = { 1, 2 },
				       .build_id_size = 2 };

/* A profile of two offsets, with outcomes. */
static struct profile *make_profile(uint64_t n)
{
	struct profile *p = profile_new();

	fuzz_check(p && !profile_add(p, &(struct count){ 0x1010, n, 0, 0 }) &&
		   !profile_add(p, &(struct count){ 0x1020, n, n / 2, n / 2 }));
	return p;
}

static void store_flush_of(struct store *s, uint64_t seq, uint64_t from_ns)
{
	static const uint8_t code[16] = { 0x90 };
	struct profile *counts = make_profile(100), *rest = make_profile(10);
	const struct flush_stream streams[] = {
		{ .desc = { "cpu-clock", "perf", "", "ns", 1000000,
			    LANDING_AFTER_GROUP },
		  .received = 627,
		  .not_delivered = 6,
		  .enabled_ns = NSEC_PER_SEC,
		  .running_ns = NSEC_PER_SEC },
		{ .desc = { "page-faults", "perf", "", "events", 100, LANDING_PRECISE },
		  .received = 20,
		  .enabled_ns = NSEC_PER_SEC,
		  .running_ns = NSEC_PER_SEC },
	};
	const struct flush_profile profiles[] = {
		{ &kernel, 0, "", counts },
		{ &app, 0, "", counts },
		{ &idle, 0, "", counts },
		{ &app, 1, "", rest },
		{ &app, 0, "comm=app\ncgroup=/a\n", counts },
	};
	const struct flush_comm comms[] = {
		{ &kernel, 0, "app", 200 },   { &app, 0, "app", 200 },
		{ &idle, 0, "swapper", 200 }, { NULL, 0, "app", 23 },
		{ &app, 1, "app", 20 },
	};
	const struct flush_loss losses[] = { { 0, LOSS_UNKNOWN, "map_gap", 23 },
					     { 0, LOSS_LOST, "ring_lost", 4 } };
	const struct flush_symbol symbols[] = { { &kernel, 0x1000, 0x100, "do_it" } };
	const struct flush_code codes[] = { { &kernel, 0x1000, code, sizeof(code) } };
	const struct flush f = {
		.seq = seq,
		.from_ns = from_ns,
		.to_ns = from_ns + NSEC_PER_SEC,
		.duration_ns = NSEC_PER_SEC,
		.streams = streams,
		.nr_streams = 2,
		.profiles = profiles,
		.nr_profiles = 5,
		.comms = comms,
		.nr_comms = 5,
		.losses = losses,
		.nr_losses = 2,
		.symbols = symbols,
		.nr_symbols = 1,
		.codes = codes,
		.nr_codes = 1,
	};

	fuzz_check(!store_flush(s, &f));
	profile_free(counts);
	profile_free(rest);
}

static void make_base(void)
{
	const struct platform_desc platform = { .host = "web1",
						.arch = "x86_64",
						.cpu = "Test CPU",
						.release = "6.1.0",
						.boot_id = "1",
						.clock_hz = 2000000000,
						.nr_cpus = 2 };
	const uint64_t now = 1767322800 * NSEC_PER_SEC;
	struct store *s;
	struct db *db;

	fuzz_check(!db_open(path, DB_COLLECT, &db));
	fuzz_check(!store_begin(db, &platform, now, &s) &&
		   !store_epoch(s, now, 10, "first"));
	store_flush_of(s, 1, now);
	fuzz_check(!store_epoch(s, now + NSEC_PER_SEC, 10, NULL));
	store_flush_of(s, 2, now + NSEC_PER_SEC);
	store_free(s); /* without an end: the next run notes a gap */
	fuzz_check(!store_begin(db, &platform, now + 9 * NSEC_PER_SEC, &s) &&
		   !store_end(s, now + 10 * NSEC_PER_SEC));
	db_close_whole(db);
	fuzz_check(!file_read_all(AT_FDCWD, path, MAX_BASE, &base));
}

static int add_column(void *ctx, int nr, char **value, char **name)
{
	struct table *t = ctx;
	const size_t len = strlen(t->key);

	(void)nr, (void)name;
	fuzz_check(t->nr_columns < MAX_COLUMNS);
	t->column[t->nr_columns++] = strdup(value[0]);
	if (strcmp(value[1], "0"))
		snprintf(t->key + len, sizeof(t->key) - len, "%s\"%s\"",
			 len ? ", " : "", value[0]);
	return 0;
}

static int add_table(void *ctx, int nr, char **value, char **name)
{
	(void)ctx, (void)nr, (void)name;
	fuzz_check(nr_tables < MAX_TABLES);
	table[nr_tables++].name = strdup(value[0]);
	return 0;
}

static void list_tables(sqlite3 *db)
{
	char sql[128];

	fuzz_check(!sqlite3_exec(db,
				 "SELECT name FROM sqlite_schema WHERE type = 'table' "
				 "AND name NOT GLOB 'sqlite_*' ORDER BY name",
				 add_table, NULL, NULL));
	for (int i = 0; i < nr_tables; i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT name, pk FROM pragma_table_info('%s')", table[i].name);
		fuzz_check(!sqlite3_exec(db, sql, add_column, &table[i], NULL));
		if (!*table[i].key)
			strcpy(table[i].key, "rowid");
	}
}

/* Opens the file as a report does, and has SQLite keep a copy in its place. */
static void keep(void)
{
	const int flags =
		SQLITE_DESERIALIZE_FREEONCLOSE | SQLITE_DESERIALIZE_RESIZEABLE;
	unsigned char *copy = sqlite3_malloc64(base.len);
	struct db *db;

	fuzz_check(copy && !db_open(path, DB_READ, &db));
	memcpy(copy, base.data, base.len);
	copy[18] = copy[19] = 1; /* memory has no WAL */
	fuzz_check(!sqlite3_deserialize(db_handle(db), "main", copy, (int64_t)base.len,
					(int64_t)base.len, flags));
	fuzz_check(!sqlite3_exec(db_handle(db), "PRAGMA foreign_keys = OFF", NULL, NULL,
				 NULL));
	kept = db;
}

static void begin(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%.40s/fuzz_rows.XXXXXX",
		 access("/dev/shm", W_OK) ? tmp ? tmp : "/tmp" : "/dev/shm");
	fuzz_check(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.db", folder);
	atexit(remove_all);
	log_open("/dev/null");
	make_base();
	keep();
	list_tables(db_handle(kept));
}

/* ---- changes ---- */

struct input {
	const uint8_t *data;
	size_t size;
};

static uint64_t take(struct input *in, size_t bytes)
{
	uint64_t value = 0;

	for (size_t i = 0; i < bytes && in->size; i++, in->data++, in->size--)
		value |= (uint64_t)*in->data << 8 * i;
	return value;
}

static void bind(sqlite3_stmt *s, enum change kind, struct input *in)
{
	size_t size;

	switch (kind) {
	case SET_NUMBER:
		sqlite3_bind_int64(s, 1, (int64_t)take(in, 8));
		break;
	case SET_SMALL:
	case SET_OTHER: /* the number of a row */
		sqlite3_bind_int64(s, 1, (int8_t)take(in, 1));
		break;
	case SET_BYTES:
		size = take(in, 1);
		if (size > in->size)
			size = in->size;
		if (size & 1)
			sqlite3_bind_text(s, 1, (const char *)in->data, (int)size,
					  SQLITE_TRANSIENT);
		else
			sqlite3_bind_blob(s, 1, in->data, (int)size, SQLITE_TRANSIENT);
		in->data += size;
		in->size -= size;
		break;
	default:
		break;
	}
}

/* The statement that makes a change: ?1 is the value, ?2 says which row. */
static sqlite3_stmt *make_change(sqlite3 *db, const struct table *t, const char *column,
				 enum change kind)
{
	char other[256], what[512], sql[2048];
	sqlite3_stmt *s;

	snprintf(other, sizeof(other), "(SELECT \"%s\" FROM \"%s\" LIMIT 1 OFFSET ?1)",
		 column, t->name);
	if (kind == REMOVE)
		snprintf(what, sizeof(what), "DELETE FROM \"%s\"", t->name);
	else
		snprintf(what, sizeof(what), "UPDATE OR IGNORE \"%s\" SET \"%s\" = %s",
			 t->name, column, kind == SET_OTHER ? other : "?1");
	snprintf(sql, sizeof(sql),
		 "%s WHERE (%s) = (SELECT %s FROM \"%s\" LIMIT 1 "
		 "OFFSET ?2 %% max(1, (SELECT count(*) FROM \"%s\")))",
		 what, t->key, t->key, t->name, t->name);
	fuzz_check(!sqlite3_prepare_v2(db, sql, -1, &s, NULL));
	return s;
}

/* What a column's type or a key refuses is not changed. */
static void change(sqlite3 *db, struct input *in)
{
	struct table *t = &table[take(in, 1) % (unsigned int)nr_tables];
	const unsigned int nr = (unsigned int)take(in, 1) % (unsigned int)t->nr_columns,
			   row = (unsigned int)take(in, 1);
	const enum change kind = take(in, 1) % NR_CHANGES;
	sqlite3_stmt *s = from_file ? NULL : t->made[nr][kind];

	if (!s)
		s = make_change(db, t, t->column[nr], kind);
	bind(s, kind, in);
	sqlite3_bind_int(s, 2, (int)row);
	sqlite3_step(s);
	if (from_file) {
		sqlite3_finalize(s);
		return;
	}
	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	t->made[nr][kind] = s;
}

static void make_changes(sqlite3 *db, struct input *in)
{
	fuzz_check(!sqlite3_exec(db, "PRAGMA ignore_check_constraints = ON; BEGIN",
				 NULL, NULL, NULL));
	for (int i = 0; i < MAX_CHANGES && in->size; i++)
		change(db, in);
	fuzz_check(!sqlite3_exec(db, "PRAGMA ignore_check_constraints = OFF", NULL,
				 NULL, NULL));
}

static void make_changed_file(struct input *in)
{
	sqlite3 *db;
	int fd;

	remove_files();
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	fuzz_check(fd >= 0 && !file_write(fd, base.data, base.len));
	close(fd);
	fuzz_check(!sqlite3_open(path, &db));
	fuzz_check(!sqlite3_exec(db,
				 "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF",
				 NULL, NULL, NULL));
	make_changes(db, in);
	fuzz_check(!sqlite3_exec(db, "COMMIT", NULL, NULL, NULL));
	sqlite3_close(db);
}

/* ---- reports ---- */

/* Rows and the idle row add up to the sums that the report shows. */
static void check_sums(const struct prof *p)
{
	for (size_t e = 0; e < p->ev.nr; e++) {
		uint64_t busy = 0, is_idle = 0;

		for (size_t i = 0; i < p->nr_rows; i++) {
			const struct event_sum *t = &p->row[i]->tally[e];

			fuzz_check(isfinite(t->weight) && t->weight >= 0);
			*(p->row[i]->kind == ROW_IDLE ? &is_idle : &busy) += t->n;
		}
		fuzz_check(busy == p->busy[e].n && is_idle == p->idle[e].n);
	}
}

static void report(int by)
{
	const struct prof_request req = {
		.select = { .dbs = { { path }, 1 }, .epoch = "all", .as_stored = true },
		.by = by,
		.idle = true,
	};
	struct prof p;

	if (prof_open(&req, &p))
		return;
	check_sums(&p);
	prof_close(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int by[] = { BY_PROCEDURE, BY_IMAGE, BY_COMM, BY_LINE };
	struct input in = { data, size };
	unsigned int how;
	struct db *db;

	if (!base.len)
		begin();
	how = (unsigned int)take(&in, 1);
	from_file = how >> 3 == 31;
	if (from_file)
		make_changed_file(&in);
	else
		make_changes(db_handle(kept), &in);
	if (how & 4 && !db_open(path, DB_READ, &db)) {
		db_check(db);
		db_close(db);
	}
	report(by[how & 3]);
	if (!from_file)
		fuzz_check(
			!sqlite3_exec(db_handle(kept), "ROLLBACK", NULL, NULL, NULL));
	return 0;
}
