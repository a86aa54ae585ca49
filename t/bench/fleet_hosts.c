/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_hosts.c - writes a database of many machines, drawn from real profiles
 *
 *	fleet_hosts BASE OUT FIRST HOSTS EPOCHS SAMPLES [RELEASES [DAY]]
 *
 * BASE is a recording. OUT becomes a database of HOSTS machines, h<FIRST> and later,
 * with EPOCHS epochs of an hour each from 03:00 of a day on (0 is 2 January 2026), and
 * about SAMPLES samples in each. A machine has a mix of its own: the time of each image
 * is that of BASE times a factor that is drawn for the machine (log-normal, sigma 1).
 * It runs one of RELEASES releases: of each, files have build ids of their own, and
 * their later half is moved. A thousandth of the samples is lost. A machine's numbers
 * depend on its number alone.
 */
#include "config.h"

#include <err.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"
#include "db/core/db.h"
#include "db/core/sql.h"
#include "db/profile/codec.h"
#include "t/makedb.h"
#include "t/unit/random.h"

#define HOUR_NS       (60 * MINUTE_NS)
#define RELEASE_STEP  100000 /* between the ids of an image in two releases */
#define RELEASE_MOVES 64     /* bytes */

/* The samples of one image and stream in BASE. */
struct part {
	int64_t image, stream;
	bool is_file;
	struct count *count;
	uint64_t *until; /* samples up to and with each offset */
	size_t nr;
};

static struct {
	sqlite3 *h;
	struct part *part;
	size_t nr;
	uint64_t nr_epochs, nr_samples, nr_releases, start_ns;
	double *until; /* of the machine: weights up to and with each part */
	struct profile **drawn;
	int64_t epoch; /* the last id */
	uint64_t rows;
} f;

static uint64_t number(const char *text)
{
	char *end;
	const uint64_t n = strtoull(text, &end, 10);

	if (*end || !*text)
		errx(2, "%s: not a number", text);
	return n;
}

/* image, stream, whether releases do not differ in it, counts */
static int note_part(sqlite3_stmt *st, void *ctx)
{
	struct profile *p = profile_new();
	struct part *part;
	const struct count *c;
	uint64_t sum = 0;
	size_t size;
	const void *blob = sql_blob(st, 3, &size);

	(void)ctx;
	check(p ? codec_decode(blob, size, PROFILE_COUNT, p) : -ENOMEM, "a profile");
	check(GROW(f.part, f.nr), "parts");
	part = &f.part[f.nr++];
	*part = (struct part){ .image = sqlite3_column_int64(st, 0),
			       .stream = sqlite3_column_int64(st, 1),
			       .is_file = !sqlite3_column_int(st, 2) };
	c = profile_sorted(p, &part->nr);
	part->count = calloc(part->nr + 1, sizeof(*part->count));
	part->until = calloc(part->nr + 1, sizeof(*part->until));
	if (!part->count || !part->until)
		errx(EXIT_FAILURE, "out of memory");
	for (size_t i = 0; i < part->nr; i++) {
		sum += c[i].n;
		part->count[i] = c[i];
		part->until[i] = sum;
	}
	profile_free(p);
	return 0;
}

static void read_base(void)
{
	static const char sql[] =
		"SELECT p.image, p.stream, i.kind != 0 OR i.build_id = x'', p.counts "
		"FROM profile p JOIN image i"
		" ON i.id = p.image WHERE p.kind = 0 AND p.context = 0 AND p.epoch ="
		" (SELECT min(epoch) FROM profile) AND i.id != 0"
		" ORDER BY p.image, p.stream";

	check(sql_each(f.h, note_part, NULL, sql, ""), "profiles");
	if (!f.nr)
		errx(EXIT_FAILURE, "the recording has no profiles");
	f.until = calloc(f.nr, sizeof(*f.until));
	f.drawn = calloc(f.nr, sizeof(struct profile *));
	if (!f.until || !f.drawn)
		errx(EXIT_FAILURE, "out of memory");
}

/* A release's files: the first is BASE's own. */
static void make_releases(void)
{
	for (uint64_t r = 1; r < f.nr_releases; r++)
		check(sql_do(f.h,
			     "INSERT INTO image SELECT id + ?1, kind, name, "
			     "CAST(build_id"
			     " || char(?2) AS BLOB), CAST(content || char(?2) AS "
			     "BLOB), device, inode, size,"
			     " mtime_ns FROM image WHERE kind = 0 AND build_id != x'' "
			     "AND id > 0 AND id <"
			     " ?3",
			     "iii", (int64_t)(r * RELEASE_STEP), (int64_t)r,
			     (int64_t)RELEASE_STEP),
		      "releases");
}

static void clear(void)
{
	static const char *const tables[] = {
		"profile",    "tally",      "loss",   "comm",
		"flush",      "epoch",      "run",    "gap",
		"platform",   "edge",       "stack",  "stack_image",
		"window_set", "access_set", "rolled", "spread",
	};
	char sql[64];

	check(sql_exec(f.h, "PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF;"
			    " BEGIN"),
	      "begin");
	for (size_t i = 0; i < NR(tables); i++) {
		snprintf(sql, sizeof(sql), "DELETE FROM %s", tables[i]);
		check(sql_exec(f.h, sql), tables[i]);
	}
}

static void draw_mix(uint64_t *state)
{
	double sum = 0;

	for (size_t i = 0; i < f.nr; i++) {
		const struct part *p = &f.part[i];

		sum += (double)p->until[p->nr - 1] * exp(random_normal(state));
		f.until[i] = sum;
	}
}

static void draw_sample(uint64_t *state, uint64_t release)
{
	const double x = random_uniform(state) * f.until[f.nr - 1];
	const size_t i = SEARCH(a, f.nr - 1, f.until[a] > x);
	const struct part *p = &f.part[i];
	const uint64_t n = unit_random(state) % p->until[p->nr - 1];
	const size_t k = SEARCH(b, p->nr - 1, p->until[b] > n);
	struct count c = { .offset = p->count[k].offset, .n = 1 };

	if (p->is_file && k >= p->nr / 2)
		c.offset += release * RELEASE_MOVES;
	if (!f.drawn[i])
		f.drawn[i] = profile_new();
	check(f.drawn[i] ? profile_add(f.drawn[i], &c) : -ENOMEM, "a sample");
}

static void store_part(size_t i, uint64_t release, sqlite3_stmt *st)
{
	const struct part *p = &f.part[i];
	const int64_t image =
		p->image + (p->is_file ? (int64_t)release * RELEASE_STEP : 0);
	struct buf blob = { 0 };

	check(codec_encode(f.drawn[i], PROFILE_COUNT, &blob), "a profile");
	sqlite3_bind_int64(st, 1, f.epoch);
	sqlite3_bind_int64(st, 2, image);
	sqlite3_bind_int64(st, 3, p->stream);
	sqlite3_bind_int64(st, 4, (int64_t)profile_total(f.drawn[i]));
	sqlite3_bind_blob64(st, 5, blob.data, blob.len, SQLITE_TRANSIENT);
	check(sql_run(st), "a profile");
	check(sql_do(f.h, "INSERT INTO comm VALUES (?1, 'work', ?2, ?3, ?4)", "iiii",
		     f.epoch, image, p->stream, (int64_t)profile_total(f.drawn[i])),
	      "a command");
	f.rows += profile_nr(f.drawn[i]);
	buf_fini(&blob);
	profile_free(f.drawn[i]);
	f.drawn[i] = NULL;
}

/* What was counted of each stream, and lost. */
static void store_tallies(uint64_t run, uint64_t seq, uint64_t from_ns, uint64_t lost)
{
	check(sql_do(f.h,
		     "INSERT INTO tally SELECT ?1, 0, stream, sum(total) + iif(stream ="
		     " (SELECT min(stream) FROM profile WHERE epoch = ?1), ?2, 0),"
		     " sum(total), 0, ?3, ?3, 0 FROM profile WHERE epoch = ?1 GROUP BY"
		     " stream",
		     "iii", f.epoch, (int64_t)lost, (int64_t)HOUR_NS),
	      "a tally");
	check(sql_do(f.h,
		     "INSERT INTO loss SELECT ?1, 0, min(stream), 1, 'ring_lost', ?2"
		     " FROM profile WHERE epoch = ?1",
		     "ii", f.epoch, (int64_t)lost),
	      "a loss");
	check(sql_do(f.h,
		     "INSERT INTO flush SELECT ?1, ?2, ?3, ?4, ?5, ?6, sum(received),"
		     " sum(stored), sum(received - stored), 0 FROM tally WHERE epoch ="
		     " ?3",
		     "iiiiii", (int64_t)run, (int64_t)seq, f.epoch, (int64_t)from_ns,
		     (int64_t)(from_ns + HOUR_NS), (int64_t)HOUR_NS),
	      "a flush");
}

static void store_epoch(uint64_t host, uint64_t seq, uint64_t release, uint64_t *state,
			sqlite3_stmt *st)
{
	const uint64_t from_ns = f.start_ns + seq * HOUR_NS + host % 60 * NSEC_PER_MSEC;
	const uint64_t n = (uint64_t)random_poisson(state, (double)f.nr_samples);

	f.epoch++;
	check(sql_do(f.h, "INSERT INTO epoch VALUES (?1, ?2, '', ?3, ?4, 0, 10)",
		     "iiii", f.epoch, (int64_t)host, (int64_t)from_ns,
		     (int64_t)(from_ns + HOUR_NS)),
	      "an epoch");
	for (uint64_t i = 0; i < n; i++)
		draw_sample(state, release);
	for (size_t i = 0; i < f.nr; i++) {
		if (f.drawn[i])
			store_part(i, release, st);
	}
	store_tallies(host, seq + 1, from_ns,
		      (uint64_t)random_poisson(state, (double)n / 1000));
}

static void store_host(uint64_t host, sqlite3_stmt *st)
{
	uint64_t state = host * 7919 + 1;
	const uint64_t release = host % f.nr_releases;

	check(sql_do(f.h,
		     "INSERT INTO platform SELECT ?1, printf('h%05d', ?1), 'x86_64',"
		     " 'Test CPU', printf('6.1.%d', ?2), printf('boot-%d', ?1),"
		     " 2000000000, 2",
		     "ii", (int64_t)host, (int64_t)release),
	      "a platform");
	check(sql_do(f.h, "INSERT INTO run VALUES (?1, ?1, ?2, ?3, 1)", "iii",
		     (int64_t)host, (int64_t)f.start_ns,
		     (int64_t)(f.start_ns + (f.nr_epochs + 1) * HOUR_NS)),
	      "a run");
	draw_mix(&state);
	for (uint64_t i = 0; i < f.nr_epochs; i++)
		store_epoch(host, i, release, &state, st);
}

int main(int argc, char **argv)
{
	sqlite3_stmt *st = NULL;
	struct db *db;
	uint64_t first, nr;

	if (argc < 7 || argc > 9)
		errx(2, "usage: fleet_hosts BASE OUT FIRST HOSTS EPOCHS SAMPLES "
			"[RELEASES [DAY]]");
	first = number(argv[3]);
	nr = number(argv[4]);
	f.nr_epochs = number(argv[5]);
	f.nr_samples = number(argv[6]);
	f.nr_releases = argc > 7 ? number(argv[7]) : 1;
	f.start_ns = START_NS + (argc > 8 ? number(argv[8]) : 0) * 24 * HOUR_NS;
	if (!first || !f.nr_releases)
		errx(2, "FIRST and RELEASES begin at 1");
	check(db_open(argv[1], DB_READ, &db), argv[1]);
	check(sql_do(db_handle(db), "VACUUM INTO ?1", "s", argv[2]), argv[2]);
	db_close(db);
	check(db_open(argv[2], DB_WRITE, &db), argv[2]);
	f.h = db_handle(db);
	read_base();
	clear();
	make_releases();
	check(sql_prepare(f.h, "INSERT INTO profile VALUES (?1, ?2, ?3, 0, 0, ?4, ?5)",
			  &st),
	      "profiles");
	for (uint64_t i = 0; i < nr; i++)
		store_host(first + i, st);
	sqlite3_finalize(st);
	check(sql_exec(f.h, "COMMIT"), "commit");
	db_close(db);
	printf("%" PRIu64 " epochs, %" PRIu64 " rows\n", nr * f.nr_epochs, f.rows);
	return 0;
}
