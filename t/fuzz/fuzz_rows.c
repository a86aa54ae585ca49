/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_rows.c - a database with any values in its rows is shown, or refused as damaged
 *
 * The first byte chooses: bits 0 and 1 a report, by procedure, image, command or line;
 * bit 2, the database is checked as well. The rest is a list of changes to a small
 * database that has a row of nearly all tables: a byte each for table, column, row and
 * kind of change, then the value. What a report shows adds up.
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

static char folder[64], path[80];
static struct buf base; /* the database before all changes */
static char *table[MAX_TABLES];
static int nr_tables;

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

static int add_table(void *ctx, int nr, char **value, char **name)
{
	(void)ctx, (void)nr, (void)name;
	fuzz_check(nr_tables < MAX_TABLES);
	table[nr_tables++] = strdup(value[0]);
	return 0;
}

static void begin(void)
{
	const char *tmp = getenv("TMPDIR");
	sqlite3 *db;

	snprintf(folder, sizeof(folder), "%.40s/fuzz_rows.XXXXXX",
		 access("/dev/shm", W_OK) ? tmp ? tmp : "/tmp" : "/dev/shm");
	fuzz_check(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.db", folder);
	atexit(remove_all);
	log_open("/dev/null");
	make_base();
	fuzz_check(!sqlite3_open(path, &db));
	fuzz_check(!sqlite3_exec(db,
				 "SELECT name FROM sqlite_schema WHERE type = 'table' "
				 "AND name NOT GLOB 'sqlite_*' ORDER BY name",
				 add_table, NULL, NULL));
	sqlite3_close(db);
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

/* "name" of a column, by its number; its table's key in key. False: no such column. */
static bool find_column(sqlite3 *db, const char *of, unsigned int nr, char name[64],
			char key[256])
{
	sqlite3_stmt *s;
	unsigned int nr_columns = 0;

	*key = '\0';
	fuzz_check(!sqlite3_prepare_v2(
		db, "SELECT name, pk, count(*) OVER () FROM pragma_table_info(?)", -1,
		&s, NULL));
	sqlite3_bind_text(s, 1, of, -1, SQLITE_STATIC);
	for (unsigned int i = 0; sqlite3_step(s) == SQLITE_ROW; i++) {
		const char *column = (const char *)sqlite3_column_text(s, 0);

		nr_columns = (unsigned int)sqlite3_column_int(s, 2);
		if (i == nr % nr_columns)
			snprintf(name, 64, "%s", column);
		if (sqlite3_column_int(s, 1))
			snprintf(key + strlen(key), 256 - strlen(key), "%s\"%s\"",
				 *key ? ", " : "", column);
	}
	sqlite3_finalize(s);
	if (!*key)
		strcpy(key, "rowid");
	return nr_columns;
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

/* What a column's type or a key refuses is not changed. */
static void change(sqlite3 *db, struct input *in)
{
	const char *of = table[take(in, 1) % (unsigned int)nr_tables];
	const unsigned int nr = (unsigned int)take(in, 1),
			   row = (unsigned int)take(in, 1);
	const enum change kind = take(in, 1) % NR_CHANGES;
	char column[64], key[256], other[256], sql[1024];
	sqlite3_stmt *s;

	if (!find_column(db, of, nr, column, key))
		return;
	snprintf(other, sizeof(other), "(SELECT \"%s\" FROM \"%s\" LIMIT 1 OFFSET ?1)",
		 column, of);
	if (kind == REMOVE)
		snprintf(sql, sizeof(sql),
			 "DELETE FROM \"%s\" WHERE (%s) = (SELECT %s FROM \"%s\" LIMIT "
			 "1 "
			 "OFFSET ?2 %% max(1, (SELECT count(*) FROM \"%s\")))",
			 of, key, key, of, of);
	else
		snprintf(
			sql, sizeof(sql),
			"UPDATE OR IGNORE \"%s\" SET \"%s\" = %s WHERE (%s) = (SELECT "
			"%s "
			"FROM \"%s\" LIMIT 1 OFFSET ?2 %% max(1, (SELECT count(*) FROM "
			"\"%s\")))",
			of, column, kind == SET_OTHER ? other : "?1", key, key, of, of);
	fuzz_check(!sqlite3_prepare_v2(db, sql, -1, &s, NULL));
	bind(s, kind, in);
	sqlite3_bind_int(s, 2, (int)row);
	sqlite3_step(s);
	sqlite3_finalize(s);
}

static void make_changed(struct input *in)
{
	sqlite3 *db;
	int fd;

	remove_files();
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	fuzz_check(fd >= 0 && !file_write(fd, base.data, base.len));
	close(fd);
	fuzz_check(!sqlite3_open(path, &db));
	fuzz_check(!sqlite3_exec(db,
				 "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF;"
				 "PRAGMA ignore_check_constraints = ON; BEGIN",
				 NULL, NULL, NULL));
	for (int i = 0; i < MAX_CHANGES && in->size; i++)
		change(db, in);
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
	make_changed(&in);
	if (how & 4 && !db_open(path, DB_READ, &db)) {
		db_check(db);
		db_close(db);
	}
	report(by[how & 3]);
	return 0;
}
