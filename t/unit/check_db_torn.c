/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Power failures: a VFS notes each write, truncation and sync of the database and its
 * WAL. Then, for many moments, the files are made as a disk may have them after the
 * power failed at that moment: what was synced is there; of each later write any
 * sectors may be missing, also when later writes to the other file are there. In each
 * case the database must open, be whole, hold each flush that was confirmed, and
 * nothing twice; and the next flush or roll-up must succeed.
 */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "t/unit/retain_make.h"

#define SECTOR   512
#define NR_FILES 2 /* the database, its WAL */

static const char *const suffix[NR_FILES] = { "", "-wal" };

enum change_kind { CHANGE_WRITE, CHANGE_TRUNCATE, CHANGE_SYNC };

/* One thing that was done to a file. */
struct change {
	enum change_kind kind;
	int file;      /* index of suffix[] */
	int64_t at;    /* offset, or the new size */
	uint32_t size; /* of a write, bytes */
	uint8_t *bytes;
	unsigned nr_confirmed; /* flushes, when it was done */
};

/* What was done since the log began; not bounded, for a test does little. */
static struct {
	struct change *change;
	size_t nr;
	unsigned nr_confirmed;
	bool on;
} changes;

static struct change *note_change(enum change_kind kind, int file)
{
	struct change *c;

	changes.change =
		realloc(changes.change, (changes.nr + 1) * sizeof(*changes.change));
	ck_assert_ptr_nonnull(changes.change);
	c = &changes.change[changes.nr++];
	*c = (struct change){ .kind = kind,
			      .file = file,
			      .nr_confirmed = changes.nr_confirmed };
	return c;
}

static void clear_changes(void)
{
	for (size_t i = 0; i < changes.nr; i++)
		free(changes.change[i].bytes);
	free(changes.change);
	memset(&changes, 0, sizeof(changes));
}

/* ---- the VFS: SQLite's own, and the log ---- */

struct noted_file {
	sqlite3_file base;
	sqlite3_file *real;
	int file; /* index of suffix[], or -1: not noted */
};

static sqlite3_vfs *plain_vfs, noting_vfs;

static sqlite3_file *real_of(sqlite3_file *f)
{
	return ((struct noted_file *)f)->real;
}

static bool is_noted(sqlite3_file *f)
{
	return changes.on && ((struct noted_file *)f)->file >= 0;
}

static int noting_close(sqlite3_file *f)
{
	return real_of(f)->pMethods->xClose(real_of(f));
}

static int noting_read(sqlite3_file *f, void *to, int size, sqlite3_int64 at)
{
	return real_of(f)->pMethods->xRead(real_of(f), to, size, at);
}

static int noting_write(sqlite3_file *f, const void *from, int size, sqlite3_int64 at)
{
	if (is_noted(f)) {
		struct change *c =
			note_change(CHANGE_WRITE, ((struct noted_file *)f)->file);

		c->at = at;
		c->size = size;
		c->bytes = malloc(size);
		ck_assert_ptr_nonnull(c->bytes);
		memcpy(c->bytes, from, size);
	}
	return real_of(f)->pMethods->xWrite(real_of(f), from, size, at);
}

static int noting_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	if (is_noted(f))
		note_change(CHANGE_TRUNCATE, ((struct noted_file *)f)->file)->at = size;
	return real_of(f)->pMethods->xTruncate(real_of(f), size);
}

static int noting_sync(sqlite3_file *f, int flags)
{
	if (is_noted(f))
		note_change(CHANGE_SYNC, ((struct noted_file *)f)->file);
	return real_of(f)->pMethods->xSync(real_of(f), flags);
}

static int noting_size(sqlite3_file *f, sqlite3_int64 *size)
{
	return real_of(f)->pMethods->xFileSize(real_of(f), size);
}

static int noting_lock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xLock(real_of(f), level);
}

static int noting_unlock(sqlite3_file *f, int level)
{
	return real_of(f)->pMethods->xUnlock(real_of(f), level);
}

static int noting_check_lock(sqlite3_file *f, int *is_locked)
{
	return real_of(f)->pMethods->xCheckReservedLock(real_of(f), is_locked);
}

static int noting_control(sqlite3_file *f, int op, void *arg)
{
	return real_of(f)->pMethods->xFileControl(real_of(f), op, arg);
}

static int noting_sector_size(sqlite3_file *f)
{
	return real_of(f)->pMethods->xSectorSize(real_of(f));
}

static int noting_characteristics(sqlite3_file *f)
{
	return real_of(f)->pMethods->xDeviceCharacteristics(real_of(f));
}

static int noting_shm_map(sqlite3_file *f, int region, int size, int extend,
			  void volatile **at)
{
	return real_of(f)->pMethods->xShmMap(real_of(f), region, size, extend, at);
}

static int noting_shm_lock(sqlite3_file *f, int at, int nr, int flags)
{
	return real_of(f)->pMethods->xShmLock(real_of(f), at, nr, flags);
}

static void noting_shm_barrier(sqlite3_file *f)
{
	real_of(f)->pMethods->xShmBarrier(real_of(f));
}

static int noting_shm_unmap(sqlite3_file *f, int remove_it)
{
	return real_of(f)->pMethods->xShmUnmap(real_of(f), remove_it);
}

static const sqlite3_io_methods noting_methods = {
	.iVersion = 2,
	.xClose = noting_close,
	.xRead = noting_read,
	.xWrite = noting_write,
	.xTruncate = noting_truncate,
	.xSync = noting_sync,
	.xFileSize = noting_size,
	.xLock = noting_lock,
	.xUnlock = noting_unlock,
	.xCheckReservedLock = noting_check_lock,
	.xFileControl = noting_control,
	.xSectorSize = noting_sector_size,
	.xDeviceCharacteristics = noting_characteristics,
	.xShmMap = noting_shm_map,
	.xShmLock = noting_shm_lock,
	.xShmBarrier = noting_shm_barrier,
	.xShmUnmap = noting_shm_unmap,
};

static int noting_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *f, int flags,
		       int *opened)
{
	struct noted_file *n = (struct noted_file *)f;
	int rc;

	n->real = (sqlite3_file *)(n + 1);
	n->file = flags & SQLITE_OPEN_MAIN_DB ? 0 : flags & SQLITE_OPEN_WAL ? 1 : -1;
	rc = plain_vfs->xOpen(plain_vfs, name, n->real, flags, opened);
	n->base.pMethods = n->real->pMethods ? &noting_methods : NULL;
	return rc;
}

/* From now on databases are opened with the log, or as usual. */
static void use_noting_vfs(bool use)
{
	if (!plain_vfs) {
		plain_vfs = sqlite3_vfs_find(NULL);
		noting_vfs = *plain_vfs;
		noting_vfs.pNext = NULL;
		noting_vfs.zName = "noting";
		noting_vfs.szOsFile =
			(int)sizeof(struct noted_file) + plain_vfs->szOsFile;
		noting_vfs.xOpen = noting_open;
	}
	ck_assert_int_eq(sqlite3_vfs_register(use ? &noting_vfs : plain_vfs, 1),
			 SQLITE_OK);
}

/* ---- the disk ---- */

struct contents {
	uint8_t *bytes;
	size_t size;
};

static void resize(struct contents *f, size_t size)
{
	if (size > f->size) {
		f->bytes = realloc(f->bytes, size);
		ck_assert_ptr_nonnull(f->bytes);
		memset(f->bytes + f->size, 0, size - f->size);
	}
	f->size = size;
}

static void read_file(const char *path, int file, struct contents *f)
{
	char name[128];
	struct stat st;
	int fd;

	*f = (struct contents){ 0 };
	snprintf(name, sizeof(name), "%s%s", path, suffix[file]);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	ck_assert_int_eq(fstat(fd, &st), 0);
	resize(f, st.st_size);
	ck_assert_int_eq(read(fd, f->bytes, f->size), (ssize_t)f->size);
	close(fd);
}

static void write_file(const char *path, int file, const struct contents *f)
{
	char name[128];
	int fd;

	snprintf(name, sizeof(name), "%s%s", path, suffix[file]);
	fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, f->bytes, f->size), (ssize_t)f->size);
	close(fd);
}

/* What of the writes that were not synced is on the disk. */
enum left { LEFT_NOTHING, LEFT_ALL, LEFT_SOME_WRITES, LEFT_SOME_SECTORS, NR_LEFT };

static bool is_left(enum left left, uint64_t *seed)
{
	return left == LEFT_ALL || (left != LEFT_NOTHING && unit_random(seed) % 2);
}

static void apply(struct contents *f, const struct change *c, enum left left,
		  uint64_t *seed)
{
	if (c->kind == CHANGE_SYNC ||
	    (left != LEFT_SOME_SECTORS && !is_left(left, seed)))
		return;
	if (c->kind == CHANGE_TRUNCATE) {
		resize(f, c->at);
		return;
	}
	for (uint32_t done = 0, n; done < c->size; done += n) {
		const size_t at = c->at + done;

		n = SECTOR - at % SECTOR;
		n = n < c->size - done ? n : c->size - done;
		if (left == LEFT_SOME_SECTORS && !is_left(left, seed))
			continue;
		if (f->size < at + n)
			resize(f, at + n);
		memcpy(f->bytes + at, c->bytes + done, n);
	}
}

/* A disk as its files were synced last, and where their later changes begin. */
struct disk {
	struct contents synced[NR_FILES];
	size_t next; /* all changes before it were looked at */
	size_t since[NR_FILES];
};

static void disk_init(struct disk *d, const char *path)
{
	*d = (struct disk){ 0 };
	for (int i = 0; i < NR_FILES; i++)
		read_file(path, i, &d->synced[i]);
}

static void disk_fini(struct disk *d)
{
	for (int i = 0; i < NR_FILES; i++)
		free(d->synced[i].bytes);
}

/* Goes on to the moment when the first nr changes are done. */
static void disk_advance(struct disk *d, size_t nr)
{
	for (; d->next < nr; d->next++) {
		const struct change *c = &changes.change[d->next];

		if (c->kind != CHANGE_SYNC)
			continue;
		for (size_t i = d->since[c->file]; i < d->next; i++) {
			if (changes.change[i].file == c->file)
				apply(&d->synced[c->file], &changes.change[i], LEFT_ALL,
				      NULL);
		}
		d->since[c->file] = d->next + 1;
	}
}

/* Makes the files at path as they may be when the power fails now. */
static void disk_fail(const struct disk *d, enum left left, uint64_t *seed,
		      const char *path)
{
	for (int file = 0; file < NR_FILES; file++) {
		const struct contents *synced = &d->synced[file];
		struct contents f = { 0 };

		resize(&f, synced->size);
		if (synced->size)
			memcpy(f.bytes, synced->bytes, synced->size);
		for (size_t i = d->since[file]; i < d->next; i++) {
			if (changes.change[i].file == file)
				apply(&f, &changes.change[i], left, seed);
		}
		write_file(path, file, &f);
		free(f.bytes);
	}
}

/* ---- what must hold ---- */

#define FLUSH_SAMPLES 3

/*
 * From one failure to the next: nr of them, evenly spaced, or with EVERY=n one at each
 * n-th change.
 */
static size_t step(size_t nr)
{
	const char *every = getenv("EVERY");
	const size_t asked = every ? strtoul(every, NULL, 10) : 0;

	return asked ? asked : 1 + changes.nr / nr;
}

/* Returns the number of flushes that are there. */
static unsigned check_after_failure(const char *path, unsigned nr_confirmed)
{
	struct db *db = NULL;
	struct store *s = NULL;
	uint64_t n;

	ck_assert_int_eq(db_open(path, DB_COLLECT, &db), 0);
	ck_assert_int_eq(db_check(db), 0);
	n = stored_samples(db);
	ck_assert_uint_eq(n % FLUSH_SAMPLES, 0);
	check_each_sample_once(db, n);
	ck_assert_uint_ge(n / FLUSH_SAMPLES, nr_confirmed);
	ck_assert_uint_le(n / FLUSH_SAMPLES, nr_confirmed + 1);
	ck_assert_int_eq(store_begin(db, &test_platform, 5000 * SEC, &s), 0);
	ck_assert_int_eq(store_epoch(s, 5000 * SEC, 1, NULL), 0);
	ck_assert_int_eq(dbtest_flush(s, 4001, 16, FLUSH_SAMPLES), 0);
	check_each_sample_once(db, n + FLUSH_SAMPLES);
	ck_assert_int_eq(store_end(s, 5003 * SEC), 0);
	db_close(db);
	return n / FLUSH_SAMPLES;
}

START_TEST(a_confirmed_flush_survives_each_power_failure_and_none_is_torn)
{
	const unsigned nr_flushes = 40;
	unsigned long nr_tried = 0, nr_beyond = 0;
	uint64_t seed = 1;
	struct dbtest t, after;
	struct disk disk;
	struct store *s;
	struct db *db, *reader = NULL;

	dbtest_init(&t);
	dbtest_init(&after);
	use_noting_vfs(true);
	db = dbtest_open(&t, DB_COLLECT);
	s = dbtest_begin(db);
	disk_init(&disk, t.path);
	changes.on = true;
	for (unsigned i = 1; i <= nr_flushes; i++) {
		/* While somebody reads, the WAL keeps its content from then on. */
		if (i == nr_flushes / 2) {
			reader = dbtest_open(&t, DB_READ);
			ck_assert_int_eq(sql_exec(db_handle(reader),
						  "BEGIN; SELECT count(*) FROM flush"),
					 0);
		}
		ck_assert_int_eq(dbtest_flush(s, i, 16 * i, FLUSH_SAMPLES), 0);
		changes.nr_confirmed = i;
	}
	changes.on = false;
	use_noting_vfs(false);
	for (size_t n = 0; n <= changes.nr; n += step(200)) {
		const unsigned confirmed =
			n < changes.nr ? changes.change[n].nr_confirmed : nr_flushes;

		disk_advance(&disk, n);
		for (enum left left = n % NR_LEFT; left < NR_LEFT; left += 2) {
			disk_fail(&disk, left, &seed, after.path);
			nr_beyond +=
				check_after_failure(after.path, confirmed) > confirmed;
			nr_tried++;
		}
	}
	printf("# %zu changes, %lu power failures, %lu with a flush that was not yet"
	       " confirmed\n",
	       changes.nr, nr_tried, nr_beyond);
	ck_assert_uint_gt(nr_beyond, nr_tried / 8);
	clear_changes();
	disk_fini(&disk);
	ck_assert_int_eq(store_end(s, (1001 + nr_flushes) * SEC), 0);
	db_close(reader);
	db_close(db);
	dbtest_fini(&after);
	dbtest_fini(&t);
}
END_TEST

START_TEST(a_roll_up_that_a_power_failure_cut_short_loses_nothing)
{
	const uint64_t now = START + 6 * DAY;
	uint64_t seed = 1, totals, end = 0;
	unsigned long nr_tried = 0, nr_unfinished = 0;
	struct dbtest original, t, after;
	struct disk disk;
	struct db *db;

	dbtest_init(&original);
	dbtest_init(&t);
	dbtest_init(&after);
	db = dbtest_open(&original, DB_COLLECT);
	ck_assert_int_eq(store_end(random_database(db, &seed, 1), now), 0);
	totals = hash_totals(db_handle(db));
	ck_assert_int_eq(sql_do(db_handle(db), "VACUUM INTO ?1", "s", t.path), 0);
	db_close(db);

	use_noting_vfs(true);
	db = dbtest_open(&t, DB_COLLECT);
	disk_init(&disk, t.path);
	changes.on = true;
	ck_assert_int_eq(retain_once(db, now), 0);
	changes.on = false;
	end = hash_database(db_handle(db));
	db_close(db);
	use_noting_vfs(false);

	for (size_t n = 0; n <= changes.nr; n += step(20)) {
		disk_advance(&disk, n);
		disk_fail(&disk, nr_tried % NR_LEFT, &seed, after.path);
		db = dbtest_open(&after, DB_COLLECT);
		ck_assert_int_eq(db_check(db), 0);
		ck_assert_uint_eq(hash_totals(db_handle(db)), totals);
		nr_unfinished += hash_database(db_handle(db)) != end;
		ck_assert_int_eq(retain_once(db, now), 0);
		ck_assert_uint_eq(hash_totals(db_handle(db)), totals);
		ck_assert_uint_eq(hash_database(db_handle(db)), end);
		db_close(db);
		nr_tried++;
	}
	printf("# %zu changes, %lu power failures, %lu before the roll-up was "
	       "complete\n",
	       changes.nr, nr_tried, nr_unfinished);
	ck_assert_uint_gt(nr_unfinished, nr_tried / 4);
	clear_changes();
	disk_fini(&disk);
	dbtest_fini(&after);
	dbtest_fini(&t);
	dbtest_fini(&original);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("db_torn");
	TCase *tc = tcase_create("core");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc,
		       a_confirmed_flush_survives_each_power_failure_and_none_is_torn);
	tcase_add_test(tc, a_roll_up_that_a_power_failure_cut_short_loses_nothing);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
