/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * dbtest.h - a database in a folder of its own, and flushes to fill it with
 */
#ifndef CPI_T_UNIT_DBTEST_H
#define CPI_T_UNIT_DBTEST_H

#include <ftw.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/query/query.h"
#include "db/retain/retain.h"
#include "db/store/store.h"
#include "t/unit/unit.h"

#define SEC NSEC_PER_SEC

static const struct platform_desc test_platform = {
	.host = "testhost",
	.arch = "x86_64",
	.cpu = "Test CPU",
	.release = "6.1.0",
	.boot_id = "0d9f",
	.clock_hz = 3000000000,
	.nr_cpus = 4,
};

static const struct flush_stream test_stream = {
	.desc = { "cpu-clock", "perf", "", "ns", 1000000, LANDING_AFTER_GROUP },
	.enabled_ns = 10,
	.running_ns = 10,
};

static const struct image_desc test_image = {
	.kind = IMAGE_FILE,
	.name = "/usr/bin/test",
	.build_id = { 1, 2, 3 },
	.build_id_size = 20,
};

struct dbtest {
	char dir[64];
	char path[80];
	char log[80]; /* what was logged goes here */
};

/* The folder for temporary files: $TMPDIR, unless it is too long for struct dbtest. */
static inline const char *dbtest_tmpdir(void)
{
	const char *dir = getenv("TMPDIR");

	return dir && *dir && strlen(dir) < 40 ? dir : "/tmp";
}

static inline void dbtest_init(struct dbtest *t)
{
	snprintf(t->dir, sizeof(t->dir), "%s/check_db.XXXXXX", dbtest_tmpdir());
	ck_assert_ptr_nonnull(mkdtemp(t->dir));
	snprintf(t->path, sizeof(t->path), "%s/cpi.db", t->dir);
	snprintf(t->log, sizeof(t->log), "%s/log", t->dir);
	ck_assert_int_eq(log_open(t->log), 0);
}

static inline int dbtest_remove(const char *path, const struct stat *st, int type,
				struct FTW *ftw)
{
	return remove(path);
}

static inline void dbtest_fini(struct dbtest *t)
{
	log_open(NULL);
	nftw(t->dir, dbtest_remove, 16, FTW_DEPTH | FTW_PHYS);
}

static inline struct db *dbtest_open(struct dbtest *t, enum db_mode mode)
{
	struct db *db = NULL;

	ck_assert_int_eq(db_open(t->path, mode, &db), 0);
	return db;
}

/* A run in its first epoch, which begins at second 1000. */
static inline struct store *dbtest_begin(struct db *db)
{
	struct store *s = NULL;

	ck_assert_int_eq(store_begin(db, &test_platform, 1000 * SEC, &s), 0);
	ck_assert_int_eq(store_epoch(s, 1000 * SEC, 2, NULL), 0);
	return s;
}

/* A database with such a run. */
static inline struct db *dbtest_make(struct dbtest *t, struct store **s)
{
	struct db *db;

	dbtest_init(t);
	db = dbtest_open(t, DB_COLLECT);
	*s = dbtest_begin(db);
	return db;
}

/* A flush of one stream with n samples of test_image at offset; seq is its second. */
static inline int dbtest_flush(struct store *s, uint64_t seq, uint64_t offset,
			       uint64_t n)
{
	struct flush_stream stream = test_stream;
	struct profile *p = profile_new();
	struct flush_profile fp = { &test_image, 0, "", p };
	struct flush f = {
		.seq = seq,
		.from_ns = (1000 + seq) * SEC,
		.to_ns = (1001 + seq) * SEC,
		.duration_ns = SEC,
		.streams = &stream,
		.nr_streams = 1,
		.profiles = &fp,
		.nr_profiles = 1,
	};
	int err;

	stream.received = n;
	profile_add(p, &(struct count){ .offset = offset, .n = n });
	err = store_flush(s, &f);
	profile_free(p);
	return err;
}

/* Adds every profile of the selection up in ctx, a struct profile *. */
static inline int dbtest_sum(void *ctx, const struct query_profile *row)
{
	return profile_merge(ctx, row->profile);
}

/* Everything that the database holds, as one profile. */
static inline struct profile *dbtest_all(struct db *db)
{
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e };
	struct profile *p = profile_new();

	ck_assert_int_eq(query_epochs(db, "all", &e), 0);
	ck_assert_int_eq(query_profiles(db, &sel, dbtest_sum, p, NULL), 0);
	query_epochs_fini(&e);
	return p;
}

/* Retention by a policy, until nothing is left to do. */
static inline void dbtest_retain(struct db *db, const struct retain_policy *policy,
				 uint64_t now_ns)
{
	struct retain *r;
	int more;

	ck_assert_int_eq(retain_new(db, policy, NULL, &r), 0);
	while ((more = retain_step(r, now_ns)) == 1)
		;
	ck_assert_int_eq(more, 0);
	retain_free(r);
}

#endif
