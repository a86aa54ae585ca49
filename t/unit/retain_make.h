/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * retain_make.h - random databases of hours, and retention at work on them
 */
#ifndef CPI_T_UNIT_RETAIN_MAKE_H
#define CPI_T_UNIT_RETAIN_MAKE_H

#include "db/core/sql.h"
#include "db/profile/records.h"
#include "db/retain/retain.h"
#include "t/unit/dbtest.h"

#define HOUR      (3600 * SEC)
#define DAY       (24 * HOUR)
#define START     (20000 * DAY)
#define NR_IMAGES 6

static const struct retain_policy hours_only = { .hourly_ns = DAY };

static inline void describe_image(int i, struct image_desc *d, char name[32])
{
	snprintf(name, 32, i ? "/usr/bin/prog%d" : "[idle]", i);
	*d = (struct image_desc){
		.kind = i ? IMAGE_FILE : IMAGE_IDLE,
		.name = name,
		.build_id = { (uint8_t)(i + 1) },
		.build_id_size = 20,
	};
}

/* What hardware recorded of n samples; few addresses, so that all have a counter. */
static inline void random_records(uint64_t *seed, struct profile *p, uint64_t offset,
				  uint64_t n)
{
	struct records *r = profile_make_records(p);

	for (uint64_t i = 0; i < n; i++) {
		struct record one = {
			.known = 1u << RECORD_L1D_MISS | 1u << RECORD_DATA_ADDRESS,
			.seen = unit_random(seed) % 2 ? 1u << RECORD_L1D_MISS : 0,
			.timed = 1u << RECORD_TIME_MEMORY,
			.address = 64 * (unit_random(seed) % 8),
		};

		one.cycles[RECORD_TIME_MEMORY] = unit_random(seed) % 300;
		ck_assert_int_eq(records_add(r, offset, &one), 0);
	}
}

static inline struct edges *random_edges(uint64_t *seed)
{
	struct edges *set = edges_new();

	for (int i = unit_random(seed) % 10; i >= 0; i--) {
		struct edge e = { .from = unit_random(seed) % 16,
				  .to = unit_random(seed) % 16,
				  .n = 1 + unit_random(seed) % 9 };

		e.nr_timed = unit_random(seed) % (e.n + 1);
		e.cycles = e.nr_timed * (unit_random(seed) % 50);
		e.mispredicted = unit_random(seed) % (e.n + 1);
		ck_assert_int_eq(edges_add(set, &e), 0);
	}
	return set;
}

/*
 * One of an hour's flushes: two streams of one event, contexts, losses, commands,
 * hardware's records and branch stacks.
 */
static inline void random_flush(struct store *s, uint64_t *seed, uint64_t seq,
				uint64_t from_ns, uint64_t length_ns)
{
	struct flush_stream streams[2] = { test_stream, test_stream };
	struct image_desc images[NR_IMAGES];
	char names[NR_IMAGES][32];
	struct flush_profile profiles[4 * NR_IMAGES];
	struct flush_comm comms[2 * NR_IMAGES];
	struct flush_edges edges[2 * NR_IMAGES];
	const struct flush_symbol symbols[] = {
		{ &images[1], 0x10, 0x20, "small" },
		{ &images[1], 0x1800, 0x1000, "across" },
	};
	struct flush_loss loss = { 0, LOSS_LOST, "ring_lost", unit_random(seed) % 5 };
	struct flush f = {
		.seq = seq,
		.from_ns = from_ns,
		.to_ns = from_ns + length_ns,
		.duration_ns = length_ns,
		.streams = streams,
		.nr_streams = 2,
		.profiles = profiles,
		.comms = comms,
		.edges = edges,
		.losses = &loss,
		.nr_losses = 1,
		.symbols = symbols,
		.nr_symbols = 2,
	};

	streams[1].desc.mean_period = 2500000;
	streams[0].received = loss.n;
	streams[0].not_delivered = 3;
	for (int i = 0; i < NR_IMAGES; i++)
		describe_image(i, &images[i], names[i]);
	for (int i = 0; i < 2 * NR_IMAGES; i++) {
		const int image = i / 2, stream = i % 2;
		struct profile *p;

		if (unit_random(seed) % 3 == 0)
			continue;
		p = profile_new();
		for (int k = unit_random(seed) % 40; k >= 0; k--) {
			uint64_t n = 1 + unit_random(seed) % 9;
			struct count c = { unit_random(seed) % 0x4000, n,
					   unit_random(seed) % (n + 1), 0 };

			ck_assert_int_eq(profile_add(p, &c), 0);
			if (k % 4 == 0)
				random_records(seed, p, c.offset % 8, n);
		}
		edges[f.nr_edges++] = (struct flush_edges){
			&images[image], &images[unit_random(seed) % NR_IMAGES], stream,
			unit_random(seed) % EDGES_NR_KINDS, random_edges(seed)
		};
		streams[stream].received += profile_total(p);
		comms[f.nr_comms++] =
			(struct flush_comm){ &images[image], stream,
					     unit_random(seed) % 2 ? "sh" : "cc",
					     profile_total(p) };
		profiles[f.nr_profiles++] =
			(struct flush_profile){ &images[image], stream, "", p };
		profiles[f.nr_profiles++] =
			(struct flush_profile){ &images[image], stream, "comm=sh", p };
	}
	ck_assert_int_eq(store_flush(s, &f), 0);
	for (size_t i = 0; i < f.nr_profiles; i += 2)
		profile_free(profiles[i].profile);
	for (size_t i = 0; i < f.nr_edges; i++)
		edges_free(edges[i].edges);
}

/* Runs of a few days of some hours; the last run and epoch go on. */
static inline struct store *random_database(struct db *db, uint64_t *seed, int nr_runs)
{
	struct store *s = NULL;
	uint64_t now = START + 20 * HOUR;

	ck_assert_int_eq(sql_exec(db_handle(db), "PRAGMA synchronous = OFF"), 0);
	for (int run = 0; run < nr_runs; run++) {
		if (s)
			ck_assert_int_eq(store_end(s, now), 0);
		ck_assert_int_eq(store_begin(db, &test_platform, now, &s), 0);
		for (uint64_t hour = 0, seq = 0; hour < 30; hour++, now += HOUR) {
			const char *label = unit_random(seed) % 16 ? NULL : "kept";

			ck_assert_int_eq(store_epoch(s, now, 1, label), 0);
			for (int i = 0; i < 2; i++)
				random_flush(s, seed, ++seq, now + i * (HOUR / 2),
					     HOUR / 2);
		}
	}
	return s;
}

/* Everything that a table holds, row by row, as one number. */
static inline uint64_t hash_table(sqlite3 *h, const char *table)
{
	sqlite3_stmt *st = NULL;
	uint64_t hash = 14695981039346656037ULL;
	char sql[512];

	snprintf(sql, sizeof(sql), "SELECT * FROM %s", table);
	ck_assert_int_eq(sql_prepare(h, sql, &st), 0);
	while (sql_step(st) == 1) {
		for (int i = 0; i < sqlite3_column_count(st); i++) {
			const uint8_t *bytes = sqlite3_column_blob(st, i);

			for (int k = 0; k < sqlite3_column_bytes(st, i); k++)
				hash = (hash ^ bytes[k]) * 1099511628211ULL;
			hash = (hash ^ 0xff) * 1099511628211ULL;
		}
	}
	sqlite3_finalize(st);
	return hash;
}

static inline uint64_t hash_database(sqlite3 *h)
{
	static const char *const tables[] = {
		"platform", "run",     "epoch",   "flush",  "gap",  "stream",
		"image",    "context", "profile", "tally",  "loss", "comm",
		"roll",     "rolled",  "spread",  "symbol", "edge",
	};
	uint64_t hash = 0;

	for (size_t i = 0; i < NR(tables); i++)
		hash = hash * 31 + hash_table(h, tables[i]);
	return hash;
}

/* Whoever may be at work: each sample is there once, and each epoch adds up. */
static inline uint64_t hash_totals(sqlite3 *h)
{
	return hash_table(h, "(SELECT image, stream, context, kind, sum(total)"
			     " FROM profile GROUP BY 1, 2, 3, 4)") +
	       hash_table(h, "(SELECT stream, sum(received), sum(stored),"
			     " sum(not_delivered), sum(enabled_ns) FROM tally GROUP BY"
			     " 1)") +
	       hash_table(h, "(SELECT comm, image, stream, sum(n) FROM comm GROUP BY"
			     " 1, 2, 3)") +
	       hash_table(h, "(SELECT image, target, stream, context, kind, sum(total)"
			     " FROM edge GROUP BY 1, 2, 3, 4, 5)") +
	       hash_table(h, "(SELECT stream, class, name, sum(n) FROM loss GROUP BY"
			     " 1, 2, 3)");
}

static inline void run_steps(struct db *db, const struct retain_policy *policy,
			     uint64_t now_ns, struct retain_stats *stats)
{
	struct retain *r;
	int more;

	ck_assert_int_eq(retain_new(db, policy, NULL, &r), 0);
	while ((more = retain_step(r, now_ns)) == 1)
		;
	ck_assert_int_eq(more, 0);
	if (stats)
		*stats = retain_stats(r);
	retain_free(r);
}

static inline int64_t number(struct db *db, const char *sql, int64_t parameter)
{
	int64_t n;

	ck_assert_int_eq(sql_get(db_handle(db), &n, sql, "i", parameter), 0);
	return n;
}

/* The samples that were stored, by the tallies of the flushes. */
static inline uint64_t stored_samples(struct db *db)
{
	return (uint64_t)number(
		db, "SELECT coalesce(sum(stored), 0) FROM tally WHERE ?1 = 0", 0);
}

/* The counts by offset, the tallies and the flushes have the same samples. */
static inline void check_each_sample_once(struct db *db, uint64_t want)
{
	struct profile *all = dbtest_all(db);

	ck_assert_uint_eq(profile_total(all), want);
	ck_assert_uint_eq(stored_samples(db), want);
	ck_assert_int_eq(
		number(db, "SELECT count(*) FROM tally WHERE received <> stored + ?1",
		       0),
		0);
	profile_free(all);
}

/* Retention until its end, or its first error. */
static inline int retain_once(struct db *db, uint64_t now_ns)
{
	struct retain *r;
	int more = retain_new(db, &hours_only, NULL, &r);

	if (more)
		return more;
	while ((more = retain_step(r, now_ns)) == 1)
		;
	retain_free(r);
	return more;
}

#endif
