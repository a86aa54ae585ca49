/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "db/core/sql.h"
#include "db/move/copy.h"
#include "db/move/export.h"
#include "db/move/import.h"
#include "db/move/join.h"
#include "db/query/containers.h"
#include "db/query/marks.h"
#include "db/retain/removal.h"
#include "t/unit/dbtest.h"

#define ID      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define NR_RUNS 3

/* Repetitions of what is random in time; $ROUNDS for more. */
static int nr_rounds(int few)
{
	const char *text = getenv("ROUNDS");

	return text ? atoi(text) : few;
}

static const struct image_desc images[] = {
	{ .kind = IMAGE_FILE,
	  .name = "/usr/bin/cc1",
	  .build_id = { 1 },
	  .build_id_size = 20 },
	{ .kind = IMAGE_FILE,
	  .name = "/usr/bin/cc1",
	  .build_id = { 2 },
	  .build_id_size = 20 },
	{ .kind = IMAGE_KERNEL,
	  .name = "[kernel]",
	  .build_id = { 3 },
	  .build_id_size = 20 },
	{ .kind = IMAGE_FILE, .name = "/tmp/a.out", .inode = 5, .size = 10 },
	{ .kind = IMAGE_FILE, .name = "/tmp/a.out", .inode = 6, .size = 10 },
};

static const struct stream_desc streams[] = {
	{ "cpu-clock", "perf", "", "ns", 1000000, LANDING_AFTER_GROUP },
	{ "cpu-clock", "perf", "", "ns", 2000000, LANDING_AFTER_GROUP },
	{ "cycles", "kmod", "", "cycles", 1000003, LANDING_HEAD },
};

/* A flush with one profile of each stream, of random images. */
static void flush_random(struct store *store, uint64_t seq, uint64_t from_ns,
			 uint64_t *seed)
{
	static const char *const contexts[] = { "comm=make\ncgroup=/docker-" ID
						".scope\n",
						"comm=cc1" };
	struct flush_stream stream[NR(streams)];
	struct flush_profile profile[2 * NR(streams)];
	struct flush_comm comm[NR(streams)];
	struct flush_loss loss[NR(streams)];
	struct flush_symbol symbol = { NULL, unit_random(seed) % 4, 1, "symbol" };
	struct flush f = { .seq = seq,
			   .from_ns = from_ns,
			   .to_ns = from_ns + SEC,
			   .duration_ns = SEC,
			   .streams = stream,
			   .nr_streams = NR(streams),
			   .profiles = profile,
			   .nr_profiles = NR(profile),
			   .comms = comm,
			   .nr_comms = NR(comm),
			   .losses = loss,
			   .nr_losses = NR(loss),
			   .symbols = &symbol,
			   .nr_symbols = 1 };

	for (size_t i = 0; i < NR(streams); i++) {
		const uint64_t n = 1 + unit_random(seed) % 9, taken = n / 2;
		struct profile *p = profile_new();

		const struct image_desc *im = &images[unit_random(seed) % NR(images)];

		symbol.image = im;
		profile_add(p, &(struct count){ unit_random(seed) % 8, n, taken, 0 });
		stream[i] = (struct flush_stream){ streams[i], n + 2, 1, 10, 10, 0 };
		profile[2 * i] = (struct flush_profile){ im, i, "", p };
		profile[2 * i + 1] = (struct flush_profile){
			im, i, contexts[unit_random(seed) % NR(contexts)], p
		};
		comm[i] = (struct flush_comm){ n > 4 ? im : NULL, i, "make", n };
		loss[i] = (struct flush_loss){ i, n > 4, "a_reason", 2 };
	}
	ck_assert_int_eq(store_flush(store, &f), 0);
	for (size_t i = 0; i < NR(streams); i++)
		profile_free(profile[2 * i].profile);
}

/* Adds run nr to db: the same for the same seed. */
static void add_run(struct db *db, unsigned int nr, uint64_t seed)
{
	struct platform_desc platform = test_platform;
	uint64_t now_ns = (1000 + 1000 * nr) * SEC;
	struct store *s;

	platform.boot_id = nr % 2 ? "odd" : "even";
	seed = seed * 31 + nr + 1;
	ck_assert_int_eq(store_begin(db, &platform, now_ns, &s), 0);
	for (uint64_t seq = 1; seq <= 6; seq++, now_ns += SEC) {
		if (seq % 2)
			ck_assert_int_eq(
				store_epoch(s, now_ns, 1, seq > 4 ? "late" : NULL), 0);
		flush_random(s, seq, now_ns, &seed);
		/* Between the flushes of an epoch, and between two epochs. */
		ck_assert_int_eq(store_mark(s, now_ns + SEC, "release"), 0);
	}
	ck_assert_int_eq(store_end(s, now_ns), 0);
}

/* A further file in the test's folder. */
static char *path_of(const struct dbtest *t, const char *name, char out[120])
{
	snprintf(out, 120, "%s/%s", t->dir, name);
	return out;
}

static struct db *open_path(const char *path, enum db_mode mode)
{
	struct db *db = NULL;

	ck_assert_int_eq(db_open(path, mode, &db), 0);
	return db;
}

static void put_image(struct buf *out, const struct image_desc *d)
{
	buf_printf(out, "%s %d %d %d", d->name, d->kind, d->build_id[0], (int)d->inode);
}

struct dump {
	struct db *db;
	struct buf *out;
	const struct query_streams *streams;
};

static void put_stream(struct dump *d, int64_t id)
{
	for (size_t i = 0; i < d->streams->nr; i++) {
		const struct stream_desc *s = &d->streams->stream[i].desc;

		if (d->streams->stream[i].id == id)
			buf_printf(d->out, " %s %s %d:", s->event, s->source,
				   (int)s->mean_period);
	}
}

static int put_profile(void *ctx, const struct query_profile *q)
{
	struct query_capture captured;
	struct dump *d = ctx;
	const struct count *c;
	size_t nr;

	put_image(d->out, &q->image.desc);
	put_stream(d, q->stream);
	c = profile_sorted(q->profile, &nr);
	for (size_t i = 0; i < nr; i++)
		buf_printf(d->out, " %d=%d/%d/%d", (int)c[i].offset, (int)c[i].n,
			   (int)c[i].taken, (int)c[i].not_taken);
	ck_assert_int_eq(query_capture(d->db, q->image.id, &captured), 0);
	for (size_t i = 0; i < captured.nr_symbols; i++)
		buf_printf(d->out, " %s+%d", captured.symbol[i].name,
			   (int)captured.symbol[i].start);
	query_capture_fini(&captured);
	buf_putc(d->out, '\n');
	return 0;
}

/* All that can be asked of one epoch, or of all, without ids. */
static void dump_epochs(struct db *db, const struct query_epochs *e, struct buf *out)
{
	struct query_selection everybody = { .epochs = e };
	struct query_selection make = { .epochs = e, .context[CONTEXT_COMM] = "make" };
	struct query_streams s;
	struct query_losses l;
	struct query_comms c;
	struct query_gaps g;
	struct query_marks m;
	struct dump d = { db, out, &s };
	int err;

	ck_assert_int_eq(query_streams(db, e, NULL, &s), 0);
	for (size_t i = 0; i < s.nr; i++) {
		put_stream(&d, s.stream[i].id);
		buf_printf(out, " %d %d %d\n", (int)s.stream[i].received,
			   (int)s.stream[i].stored, (int)s.stream[i].not_delivered);
	}
	ck_assert_int_eq(query_losses(db, e, &l), 0);
	for (size_t i = 0; i < l.nr; i++) {
		put_stream(&d, l.loss[i].stream);
		buf_printf(out, " %d %s %d\n", l.loss[i].class, l.loss[i].name,
			   (int)l.loss[i].n);
	}
	ck_assert_int_eq(query_comms(db, &everybody, &c), 0);
	for (size_t i = 0; i < c.nr; i++) {
		put_image(out, &c.comm[i].image.desc);
		put_stream(&d, c.comm[i].stream);
		buf_printf(out, " %s %d\n", c.comm[i].comm, (int)c.comm[i].n);
	}
	ck_assert_int_eq(query_gaps_of(db, e, &g), 0);
	for (size_t i = 0; i < g.nr; i++)
		buf_printf(out, "gap %s %" PRIu64 "\n", g.gap[i].host,
			   g.gap[i].from_ns);
	ck_assert_int_eq(query_marks_of(db, e, &m), 0);
	for (size_t i = 0; i < m.nr; i++)
		buf_printf(out, "mark %s %" PRIu64 " %s\n", m.mark[i].host,
			   m.mark[i].at_ns, m.mark[i].text);
	ck_assert_int_eq(query_profiles(db, &everybody, put_profile, &d, NULL), 0);
	err = query_profiles(db, &make, put_profile, &d, NULL);
	ck_assert(!err || err == -CPI_EEMPTY);
	query_streams_fini(&s);
	query_losses_fini(&l);
	query_comms_fini(&c);
	query_gaps_fini(&g);
	query_marks_fini(&m);
}

/* Each epoch by itself, then all together. To be freed. */
static char *dump(struct db *db)
{
	struct buf out = { 0 };
	struct query_epochs e;
	int err = query_epochs(db, "all", &e);

	ck_assert(!err || err == -ENOENT);
	for (size_t i = 0; !err && i < e.nr; i++) {
		const struct query_epochs one = { &e.epoch[i], 1 };

		buf_printf(&out, "epoch %" PRIu64 " %" PRIu64 " '%s' %s %d\n",
			   e.epoch[i].from_ns, e.epoch[i].to_ns, e.epoch[i].label,
			   e.epoch[i].boot_id, (int)e.epoch[i].samples);
		dump_epochs(db, &one, &out);
	}
	if (!err) {
		dump_epochs(db, &e, &out);
		query_epochs_fini(&e);
	}
	buf_str(&out);
	return out.data;
}

static char *dump_path(const char *path)
{
	struct db *db = open_path(path, DB_READ);
	char *text = dump(db);

	db_close(db);
	return text;
}

/* A database with run nr alone, or with all for NR_RUNS. */
static void make_db(const char *path, unsigned int nr, uint64_t seed)
{
	struct db *db = open_path(path, DB_COLLECT);

	for (unsigned int i = 0; i < NR_RUNS; i++) {
		if (i == nr || nr == NR_RUNS)
			add_run(db, i, seed);
	}
	db_close(db);
}

static int export_path(const char *from, const char *spec, const char *to, bool force)
{
	struct db *db = open_path(from, DB_READ);
	struct query_epochs e;
	int err;

	ck_assert_int_eq(query_epochs(db, spec, &e), 0);
	err = export_epochs(db, &e, to, force);
	query_epochs_fini(&e);
	db_close(db);
	return err;
}

static int import_path(const char *to, const char *from, struct import_result *r)
{
	struct db *db = open_path(to, DB_COLLECT);
	int err = import_epochs(db, from, r);

	db_close(db);
	return err;
}

/* From the first line that differs. */
static void same_text(const char *got, const char *want, uint64_t seed)
{
	size_t line = 0;

	for (size_t i = 0; got[i] && got[i] == want[i]; i++)
		line = got[i] == '\n' ? i + 1 : line;
	ck_assert_msg(!strcmp(got, want), "seed %" PRIu64 ":\n%.300s\nis not\n%.300s",
		      seed, got + line, want + line);
}

static void same_dump(const char *path, const char *want, uint64_t seed)
{
	struct db *db = open_path(path, DB_READ);
	char *got = dump(db);

	ck_assert_int_eq(db_check(db), 0);
	same_text(got, want, seed);
	free(got);
	db_close(db);
}

START_TEST(databases_joined_are_one_that_got_all)
{
	struct join_part part[NR_RUNS + 1];
	struct query_epochs e[NR_RUNS + 1];
	struct db *db[NR_RUNS + 1], *joined;
	const uint64_t seed = unit_seed();
	struct dbtest t;
	char path[120], name[8], *want, *got;

	dbtest_init(&t);
	make_db(t.path, NR_RUNS, seed);
	want = dump_path(t.path);
	for (unsigned int i = 0; i <= NR_RUNS; i++) { /* the last is the first again */
		snprintf(name, sizeof(name), "%u#?.db", i % NR_RUNS);
		if (i < NR_RUNS)
			make_db(path_of(&t, name, path), i, seed);
		db[i] = open_path(path_of(&t, name, path), DB_READ);
		ck_assert_int_eq(query_epochs(db[i], "all", &e[i]), 0);
		part[i] = (struct join_part){ db_path(db[i]), &e[i] };
	}
	ck_assert_int_eq(join_open("joined", part, NR_RUNS + 1, &joined), 0);
	got = dump(joined);
	same_text(got, want, seed);
	for (unsigned int i = 0; i <= NR_RUNS; i++) {
		query_epochs_fini(&e[i]);
		db_close(db[i]);
	}
	db_close(joined);
	free(got);
	free(want);
	dbtest_fini(&t);
}
END_TEST

START_TEST(exports_imported_in_any_order_are_the_original)
{
	const uint64_t seed = unit_seed();
	uint64_t random = seed;
	struct import_result r;
	struct dbtest t;
	char from[120], to[120], spec[16], name[16], *want;
	uint64_t seen = 0;

	dbtest_init(&t);
	make_db(t.path, NR_RUNS, seed);
	want = dump_path(t.path);
	path_of(&t, "to.db", to);
	while (seen != (1 << 3 * NR_RUNS) - 1) {
		const unsigned int i = unit_random(&random) % (3 * NR_RUNS);

		snprintf(spec, sizeof(spec), "%u", i + 1);
		snprintf(name, sizeof(name), "%u.db", i);
		ck_assert_int_eq(
			export_path(t.path, spec, path_of(&t, name, from), true), 0);
		ck_assert_int_eq(import_path(to, from, &r), 0);
		ck_assert_uint_eq(r.nr_new, !(seen & 1 << i));
		ck_assert_uint_eq(r.nr_new + r.nr_known, 1);
		seen |= 1 << i;
	}
	same_dump(to, want, seed);
	free(want);
	dbtest_fini(&t);
}
END_TEST

static void put_container(const char *path, const char *id, uint64_t seen_ns,
			  const char *name)
{
	struct db *db = open_path(path, DB_COLLECT);

	ck_assert_int_eq(sql_do(db_handle(db),
				"INSERT OR REPLACE INTO container VALUES (?1, ?2, ?3)",
				"ssi", id, name, seen_ns),
			 0);
	db_close(db);
}

static void check_container(const char *path, const char *id, const char *want)
{
	struct db *db = open_path(path, DB_READ);
	char name[16] = "";
	int err = query_container_name(db, id, name, sizeof(name));

	ck_assert_int_eq(err, want ? 0 : -ENOENT);
	ck_assert_str_eq(name, want ? want : "");
	db_close(db);
}

START_TEST(the_names_of_the_contexts_containers_come_along)
{
	static const char other[] =
		"fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210";
	struct import_result r;
	struct dbtest t;
	char from[120], to[120];

	dbtest_init(&t);
	make_db(t.path, NR_RUNS, 1);
	put_container(t.path, ID, 5, "web");
	put_container(t.path, other, 5, "not profiled");
	ck_assert_int_eq(export_path(t.path, "1..3", path_of(&t, "e.db", from), false),
			 0);
	check_container(from, ID, "web");
	check_container(from, other, NULL);
	path_of(&t, "to.db", to);
	put_container(to, ID, 4, "before");
	ck_assert_int_eq(import_path(to, from, &r), 0);
	check_container(to, ID, "web");
	put_container(t.path, ID, 3, "before");
	ck_assert_int_eq(import_path(to, t.path, &r), 0);
	check_container(to, ID, "web");
	dbtest_fini(&t);
}
END_TEST

START_TEST(an_export_keeps_ids_and_is_one_small_file)
{
	struct query_epochs e;
	struct dbtest t;
	struct stat st;
	struct db *db;
	char path[120], wal[130];

	dbtest_init(&t);
	make_db(t.path, NR_RUNS, 1);
	umask(0);
	ck_assert_int_eq(export_path(t.path, "2,4", path_of(&t, "e.db", path), false),
			 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0640);
	db = open_path(path, DB_READ);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_uint_eq(e.nr, 2);
	ck_assert_int_eq(e.epoch[0].id, 2);
	ck_assert_int_eq(e.epoch[1].id, 4);
	query_epochs_fini(&e);
	db_close(db);
	snprintf(wal, sizeof(wal), "%s-wal", path);
	ck_assert_int_eq(access(wal, F_OK), -1);
	dbtest_fini(&t);
}
END_TEST

START_TEST(an_export_replaces_files_alone_and_when_told)
{
	struct dbtest t;
	char path[120], fifo[120], *before, *after;
	FILE *names;

	dbtest_init(&t);
	make_db(t.path, NR_RUNS, 1);
	path_of(&t, "e.db", path);
	ck_assert_int_eq(export_path(t.path, "1", path, false), 0);
	before = dump_path(path);
	ck_assert_int_eq(export_path(t.path, "2", path, false), -EEXIST);
	after = dump_path(path);
	ck_assert_str_eq(before, after);
	free(after);
	ck_assert_int_eq(export_path(t.path, "2", path, true), 0);
	after = dump_path(path);
	ck_assert_str_ne(before, after);
	ck_assert_int_eq(mkfifo(path_of(&t, "fifo", fifo), 0600), 0);
	ck_assert_int_eq(export_path(t.path, "1", fifo, true), -ENODEV);
	ck_assert_int_eq(export_path(t.path, "1", path_of(&t, "no/e.db", fifo), true),
			 -ENOENT);
	snprintf(fifo, sizeof(fifo), "ls -A %s", t.dir); /* nothing stays beside */
	names = popen(fifo, "r");
	while (fgets(fifo, sizeof(fifo), names))
		ck_assert_msg(!strstr(fifo, ".e.db"), "%s", fifo);
	pclose(names);
	free(before);
	free(after);
	dbtest_fini(&t);
}
END_TEST

/* SQLite would apply the -wal file to the file that took the database's place. */
START_TEST(an_export_replaces_no_database_in_use)
{
	struct dbtest t;
	char path[120], link_path[120], *before, *after;
	struct db *writer;

	dbtest_init(&t);
	make_db(t.path, NR_RUNS, 1);
	before = dump_path(t.path);
	ck_assert_int_eq(export_path(t.path, "1", t.path, true), -EINVAL);
	ck_assert_int_eq(link(t.path, path_of(&t, "link.db", link_path)), 0);
	ck_assert_int_eq(export_path(t.path, "1", link_path, true), -EINVAL);
	ck_assert_int_eq(unlink(link_path), 0);
	after = dump_path(t.path);
	ck_assert_str_eq(before, after);
	free(after);

	ck_assert_int_eq(export_path(t.path, "1", path_of(&t, "e.db", path), false), 0);
	writer = open_path(path, DB_COLLECT);
	ck_assert_int_eq(store_label_epoch(writer, 1, "in use"), 0);
	free(before);
	before = dump_path(path);
	ck_assert_int_eq(export_path(t.path, "2", path, true), -EBUSY);
	/* Of a database that was removed, as well. */
	ck_assert_int_eq(rename(path, path_of(&t, "away.db", link_path)), 0);
	ck_assert_int_eq(export_path(t.path, "2", path, false), -EBUSY);
	ck_assert_int_eq(rename(link_path, path), 0);
	db_close(writer);
	after = dump_path(path);
	ck_assert_str_eq(before, after);
	ck_assert_int_eq(export_path(t.path, "2", path, true), 0);
	free(before);
	free(after);
	dbtest_fini(&t);
}
END_TEST

/* A run whose epoch is exported while it is open, and when it has ended. */
START_TEST(an_epoch_that_was_open_grows)
{
	struct import_result r;
	struct dbtest t;
	struct store *s;
	struct db *db;
	char early[120], late[120], to[120], *want;

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(dbtest_flush(s, 1, 0x10, 5), 0);
	ck_assert_int_eq(export_path(t.path, "1", path_of(&t, "early", early), false),
			 0);
	ck_assert_int_eq(dbtest_flush(s, 2, 0x10, 7), 0);
	ck_assert_int_eq(store_end(s, 2000 * SEC), 0);
	ck_assert_int_eq(export_path(t.path, "1", path_of(&t, "late", late), false), 0);
	want = dump(db);
	db_close(db);

	path_of(&t, "to.db", to);
	ck_assert_int_eq(import_path(to, early, &r), 0);
	ck_assert_uint_eq(r.nr_new, 1);
	db = open_path(to, DB_WRITE);
	ck_assert_int_eq(store_label_epoch(db, r.first, ""), 0);
	db_close(db);
	ck_assert_int_eq(import_path(to, late, &r), 0);
	ck_assert_uint_eq(r.nr_grown, 1);
	same_dump(to, want, 0);
	ck_assert_int_eq(import_path(to, early, &r), 0);
	ck_assert_uint_eq(r.nr_known, 1);
	same_dump(to, want, 0);
	free(want);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	const char *what, *sql;
	int err;
	size_t nr_new, nr_known;
} others[] = {
	{ "their flushes are not", "DELETE FROM flush", 0, 0, 0 }, /* they grow */
	{ "rolled up",
	  "UPDATE flush SET epoch = 1; DELETE FROM loss WHERE epoch > 1;"
	  "DELETE FROM profile WHERE epoch > 1; DELETE FROM comm WHERE epoch > 1;"
	  "DELETE FROM tally WHERE epoch > 1; DELETE FROM epoch WHERE id > 1",
	  0, 0, 3 },
	{ "rolled up, with flushes merged",
	  "UPDATE flush SET epoch = 1; UPDATE flush SET merged = seq - 1 WHERE seq ="
	  " (SELECT max(seq) FROM flush f WHERE f.run = flush.run);"
	  "DELETE FROM flush WHERE merged = 0 AND seq < (SELECT max(seq) FROM flush f"
	  " WHERE f.run = flush.run); DELETE FROM loss WHERE epoch > 1;"
	  "DELETE FROM profile WHERE epoch > 1; DELETE FROM comm WHERE epoch > 1;"
	  "DELETE FROM tally WHERE epoch > 1; DELETE FROM epoch WHERE id > 1",
	  0, 0, 3 },
	{ "still written to",
	  "UPDATE epoch SET open = 1 WHERE id = 1; DELETE FROM flush WHERE seq = 2",
	  -EEXIST, 0, 0 },
	{ "its run still lives",
	  "UPDATE run SET state = 0; DELETE FROM flush WHERE seq = 2", -EEXIST, 0, 0 },
	{ "a flush elsewhere",
	  "UPDATE flush SET epoch = 2 WHERE seq = 1;"
	  "DELETE FROM flush WHERE seq = 2",
	  -EEXIST, 0, 0 },
	{ "another boot", "UPDATE platform SET boot_id = 'other'", 0, 3, 0 },
	{ "another run", "UPDATE run SET from_ns = from_ns - 1", 0, 3, 0 },
};

START_TEST(what_is_there_already_is_found_by_its_flushes)
{
	struct import_result r = { 0 };
	struct dbtest t;
	struct db *db;
	char from[120];
	int err;

	dbtest_init(&t);
	make_db(t.path, 0, 1);
	ck_assert_int_eq(export_path(t.path, "all", path_of(&t, "from", from), false),
			 0);
	db = dbtest_open(&t, DB_WRITE);
	ck_assert_int_eq(sql_exec(db_handle(db), others[_i].sql), 0);
	err = import_epochs(db, from, &r);
	ck_assert_msg(err == others[_i].err, "%s: %d", others[_i].what, err);
	ck_assert_msg(r.nr_new == others[_i].nr_new, "%s: %zu", others[_i].what,
		      r.nr_new);
	ck_assert_msg(r.nr_known == others[_i].nr_known, "%s: %zu", others[_i].what,
		      r.nr_known);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(an_import_ends_what_was_open)
{
	struct import_result r;
	struct dbtest t;
	struct store *s;
	struct db *db;
	int64_t n;
	char from[120], to[120];

	db = dbtest_make(&t, &s);
	ck_assert_int_eq(dbtest_flush(s, 1, 0x10, 5), 0);
	ck_assert_int_eq(export_path(t.path, "1", path_of(&t, "from", from), false), 0);
	store_free(s);
	db_close(db);
	ck_assert_int_eq(import_path(path_of(&t, "to", to), from, &r), 0);
	db = open_path(to, DB_COLLECT);
	ck_assert_int_eq(sql_get(db_handle(db), &n,
				 "SELECT count(*) FROM epoch WHERE open", ""),
			 0);
	ck_assert_int_eq(n, 0);
	/* A collector's own gap is not because of that run. */
	ck_assert_int_eq(store_begin(db, &test_platform, 9000 * SEC, &s), 0);
	ck_assert_int_eq(sql_get(db_handle(db), &n, "SELECT count(*) FROM gap", ""), 0);
	ck_assert_int_eq(n, 0);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* What a part of a file, changed at random, does to a target that has something. */
START_TEST(a_damaged_file_changes_nothing)
{
	const uint64_t seed = unit_seed();
	uint64_t random = seed;
	struct import_result r;
	struct dbtest t;
	char from[120], bad[120], to[120], command[512], *before, *after;
	struct stat st;
	int fd, err;

	dbtest_init(&t);
	make_db(t.path, 0, seed);
	before = dump_path(t.path);
	make_db(path_of(&t, "other.db", bad), 1, seed);
	ck_assert_int_eq(export_path(bad, "all", path_of(&t, "from", from), false), 0);
	ck_assert_int_eq(stat(from, &st), 0);
	for (int i = 0; i < nr_rounds(40); i++) {
		snprintf(command, sizeof(command), "cp %s %s && cp %s %s/to.db", from,
			 path_of(&t, "bad", bad), t.path, t.dir);
		ck_assert_int_eq(system(command), 0);
		fd = open(bad, O_RDWR);
		for (uint64_t k = unit_random(&random) % 40; k + 1; k--) {
			const char byte = unit_random(&random);

			ck_assert_int_eq(pwrite(fd, &byte, 1,
						unit_random(&random) % st.st_size),
					 1);
		}
		if (i % 4 == 0)
			ck_assert_int_eq(
				ftruncate(fd, unit_random(&random) % st.st_size), 0);
		close(fd);
		err = import_path(path_of(&t, "to.db", to), bad, &r);
		after = dump_path(to);
		ck_assert_msg(!err || !strcmp(before, after),
			      "seed %" PRIu64 ", round %d", seed, i);
		free(after);
	}
	free(before);
	dbtest_fini(&t);
}
END_TEST

static const struct {
	const char *what, *sql;
} lies[] = {
	{ "an image that is none", "PRAGMA foreign_keys = OFF;"
				   "UPDATE profile SET image = image + 90" },
	{ "counts that do not add up", "UPDATE tally SET stored = stored + 1,"
				       " received = received + 1" },
	{ "a profile that is none", "UPDATE profile SET counts = x'00'" },
	{ "two streams of one kind",
	  "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql ="
	  " replace(sql, 'UNIQUE (event', 'CHECK (event IS NOT NULL AND (event')" },
	{ "another's schema", "DROP TABLE comm; CREATE TABLE comm (x)" },
	{ "a missing table", "DROP TABLE comm" },
	{ "a missing column", "ALTER TABLE tally RENAME enabled_ns TO enabled" },
	{ "an epoch that is rolled up now", "INSERT INTO roll VALUES (2, 1, 0, 0)" },
};

START_TEST(a_file_that_lies_changes_nothing)
{
	struct import_result r;
	struct dbtest t;
	sqlite3 *h;
	char from[120], to[120], *before;
	int err;

	dbtest_init(&t);
	make_db(t.path, 1, 1);
	ck_assert_int_eq(export_path(t.path, "all", path_of(&t, "from", from), false),
			 0);
	make_db(path_of(&t, "to", to), 0, 1);
	before = dump_path(to);
	ck_assert_int_eq(sqlite3_open(from, &h), 0);
	sqlite3_exec(h, lies[_i].sql, NULL, NULL, NULL);
	sqlite3_close(h);
	err = import_path(to, from, &r);
	ck_assert_msg(err < 0, "%s", lies[_i].what);
	same_dump(to, before, 0);
	free(before);
	dbtest_fini(&t);
}
END_TEST

static void import_and_exit(const char *to, const char *from)
{
	struct import_result r;

	_exit(import_path(to, from, &r) ? 1 : 0);
}

START_TEST(kill_9_leaves_an_import_that_the_next_one_finishes)
{
	const uint64_t seed = unit_seed();
	uint64_t random = seed;
	struct import_result r;
	struct dbtest t;
	char from[120], to[120], name[16], *want;

	dbtest_init(&t);
	make_db(t.path, NR_RUNS, seed);
	want = dump_path(t.path);
	ck_assert_int_eq(export_path(t.path, "all", path_of(&t, "from", from), false),
			 0);
	for (int i = 0; i < nr_rounds(6); i++) {
		pid_t pid;

		snprintf(name, sizeof(name), "to%d.db", i);
		path_of(&t, name, to);
		db_close(open_path(to, DB_COLLECT));
		for (int k = 0; k < 2; k++) {
			pid = fork();
			if (!pid)
				import_and_exit(to, from);
			usleep(unit_random(&random) % 60000);
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
		}
		ck_assert_int_eq(import_path(to, from, &r), 0);
		same_dump(to, want, seed);
	}
	free(want);
	dbtest_fini(&t);
}
END_TEST

/* A collector flushes all the while, and both find their own in the end. */
START_TEST(a_collector_and_an_import_share_a_database)
{
	struct import_result r;
	struct query_epochs e;
	struct dbtest t;
	struct store *s;
	struct db *db;
	uint64_t seq = 0;
	char from[120], to[120];
	int status;
	pid_t pid;

	dbtest_init(&t);
	make_db(t.path, NR_RUNS, 1);
	ck_assert_int_eq(export_path(t.path, "all", path_of(&t, "from", from), false),
			 0);
	db = open_path(path_of(&t, "to", to), DB_COLLECT);
	s = dbtest_begin(db);
	pid = fork();
	if (!pid) {
		int err = db_open(to, DB_WRITE, &db);

		_exit(err || import_epochs(db, from, &r) ? 1 : 0);
	}
	do {
		ck_assert_int_eq(dbtest_flush(s, ++seq, 0x10, 1), 0);
		usleep(5000); /* much less than between two flushes of cpid */
	} while (!waitpid(pid, &status, WNOHANG));
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(dbtest_flush(s, ++seq, 0x10, 1), 0);
	ck_assert_int_eq(query_epochs(db, "1", &e), 0);
	ck_assert_uint_eq(e.epoch[0].samples, seq);
	query_epochs_fini(&e);
	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_uint_eq(e.nr, 1 + 3 * NR_RUNS);
	query_epochs_fini(&e);
	ck_assert_int_eq(db_check(db), 0);
	store_free(s);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* What a new table names by a foreign key must have a map in copy.c. */
START_TEST(every_foreign_key_can_be_followed)
{
	struct dbtest t;
	struct db *db;
	int64_t n;

	dbtest_init(&t);
	db = dbtest_open(&t, DB_COLLECT);
	ck_assert_int_eq(
		sql_get(db_handle(db), &n,
			"SELECT count(*) FROM sqlite_schema s"
			" JOIN pragma_foreign_key_list(s.name) f"
			" WHERE f.\"table\" NOT IN ('platform', 'run', 'epoch',"
			" 'stream', 'context', 'image')",
			""),
		0);
	ck_assert_int_eq(n, 0);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(captures_of_one_image_add_up)
{
	struct import_result r;
	struct dbtest t;
	struct db *db;
	int64_t n;
	char from[120];

	dbtest_init(&t);
	make_db(t.path, 1, 1);
	db = dbtest_open(&t, DB_WRITE);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "INSERT INTO capture SELECT id, 1, x'01', x'02'"
				  " FROM image WHERE id > 0;"
				  "INSERT INTO capture SELECT id, 2, x'03', x'04'"
				  " FROM image WHERE id > 0"),
			 0);
	ck_assert_int_eq(export_path(t.path, "all", path_of(&t, "from", from), false),
			 0);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "DELETE FROM capture WHERE part = 2;"
				  "UPDATE capture SET covers = x'05' WHERE image = 1"),
			 0);
	ck_assert_int_eq(import_epochs(db, from, &r), 0);
	ck_assert_int_eq(import_epochs(db, from, &r), 0);
	ck_assert_int_eq(sql_get(db_handle(db), &n,
				 "SELECT count(*) FROM capture WHERE image = 1", ""),
			 0);
	ck_assert_int_eq(n, 3);
	ck_assert_int_eq(sql_get(db_handle(db), &n,
				 "SELECT max(part) FROM capture WHERE image = 2", ""),
			 0);
	ck_assert_int_eq(n, 3); /* 1, and 2 behind it: there may be holes */
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* After each commit of the import, retention removes what no epoch refers to. */
static int sweep(void *ctx, sqlite3 *h, const char *name, int nr_pages)
{
	struct slice slice = { .h = db_handle(ctx) };

	ck_assert_int_eq(removal_sweep(&slice), 0);
	return SQLITE_OK;
}

START_TEST(captures_survive_retention_beside_the_import)
{
	struct import_result r;
	struct dbtest t;
	struct db *db, *other;
	int64_t before, n;
	char from[120];

	dbtest_init(&t);
	make_db(t.path, 1, 1);
	db = dbtest_open(&t, DB_WRITE);
	ck_assert_int_eq(sql_exec(db_handle(db),
				  "INSERT INTO capture SELECT id, 1, x'01', x'02'"
				  " FROM image WHERE id > 0"),
			 0);
	ck_assert_int_eq(
		sql_get(db_handle(db), &before, "SELECT count(*) FROM capture", ""), 0);
	ck_assert_int_gt(before, 0);
	ck_assert_int_eq(export_path(t.path, "all", path_of(&t, "from", from), false),
			 0);
	db_close(db);
	unlink(t.path);
	db = dbtest_open(&t, DB_COLLECT);
	other = dbtest_open(&t, DB_WRITE);
	ck_assert_int_eq(sql_exec(db_handle(other), "PRAGMA foreign_keys = 0"), 0);
	sqlite3_wal_hook(db_handle(db), sweep, other);
	ck_assert_int_eq(import_epochs(db, from, &r), 0);
	ck_assert_int_eq(sql_get(db_handle(db), &n, "SELECT count(*) FROM capture", ""),
			 0);
	ck_assert_int_eq(n, before);
	ck_assert_int_eq(db_check(db), 0);
	db_close(other);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("copy");
	TCase *tc = tcase_create("copy");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, databases_joined_are_one_that_got_all);
	tcase_add_test(tc, exports_imported_in_any_order_are_the_original);
	tcase_add_test(tc, the_names_of_the_contexts_containers_come_along);
	tcase_add_test(tc, an_export_keeps_ids_and_is_one_small_file);
	tcase_add_test(tc, an_export_replaces_files_alone_and_when_told);
	tcase_add_test(tc, an_export_replaces_no_database_in_use);
	tcase_add_test(tc, an_epoch_that_was_open_grows);
	tcase_add_loop_test(tc, what_is_there_already_is_found_by_its_flushes, 0,
			    NR(others));
	tcase_add_test(tc, an_import_ends_what_was_open);
	tcase_add_test(tc, a_damaged_file_changes_nothing);
	tcase_add_loop_test(tc, a_file_that_lies_changes_nothing, 0, NR(lies));
	tcase_add_test(tc, kill_9_leaves_an_import_that_the_next_one_finishes);
	tcase_add_test(tc, a_collector_and_an_import_share_a_database);
	tcase_add_test(tc, every_foreign_key_can_be_followed);
	tcase_add_test(tc, captures_of_one_image_add_up);
	tcase_add_test(tc, captures_survive_retention_beside_the_import);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
