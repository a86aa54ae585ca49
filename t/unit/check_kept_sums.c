/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>

#include "base/buf.h"
#include "db/core/sql.h"
#include "t/unit/dbtest.h"

#define EPOCH     (8 * 3600 * SEC)
#define START     (1795392000ULL * SEC) /* the begin of ten days, see kept_sums.c */
#define NR_EPOCHS 75                    /* two blocks of 30, and half of one */
#define NR_IMAGES 3
#define MAX_FILES 16

/* A keeper in memory. */
struct memory {
	struct query_keeper keeper;
	struct {
		struct query_keep_key key;
		struct buf content;
	} file[MAX_FILES];
	int nr, nr_loaded, nr_saved, nr_limits;
};

static int find(const struct memory *m, const struct query_keep_key *key)
{
	int i = 0;

	while (i < m->nr && memcmp(&m->file[i].key, key, sizeof(*key)) != 0)
		i++;
	return i;
}

static int load(const struct query_keeper *k, const struct query_keep_key *key,
		struct buf *out)
{
	struct memory *m = (struct memory *)k;
	const int i = find(m, key);

	if (i == m->nr)
		return -ENOENT;
	m->nr_loaded++;
	buf_put(out, m->file[i].content.data, m->file[i].content.len);
	return 0;
}

static void save(const struct query_keeper *k, const struct query_keep_key *key,
		 const void *data, size_t size)
{
	struct memory *m = (struct memory *)k;
	const int i = find(m, key);

	ck_assert_int_lt(i, MAX_FILES);
	m->nr += i == m->nr;
	m->nr_saved++;
	m->file[i].key = *key;
	buf_reset(&m->file[i].content);
	buf_put(&m->file[i].content, data, size);
}

static void limit(const struct query_keeper *k)
{
	((struct memory *)k)->nr_limits++;
}

static void memory_init(struct memory *m)
{
	memset(m, 0, sizeof(*m));
	m->keeper = (struct query_keeper){ .load = load, .save = save, .limit = limit };
}

static void memory_fini(struct memory *m)
{
	for (int i = 0; i < m->nr; i++)
		buf_fini(&m->file[i].content);
}

/* ---- a database of random epochs ---- */

static void flush_epoch(struct store *s, uint64_t seq, uint64_t *random)
{
	static const char *const names[NR_IMAGES] = { "/bin/a", "/bin/b", "/bin/c" };
	struct image_desc images[NR_IMAGES];
	struct flush_stream stream = test_stream;
	struct flush_profile profiles[NR_IMAGES + 1];
	struct flush f = { .seq = seq,
			   .from_ns = START + (seq - 1) * EPOCH,
			   .to_ns = START + seq * EPOCH,
			   .duration_ns = EPOCH,
			   .streams = &stream,
			   .nr_streams = 1,
			   .profiles = profiles };

	for (int i = 0; i < NR_IMAGES; i++) {
		images[i] = test_image;
		images[i].name = names[i];
		if (unit_random(random) % 4 == 0)
			continue; /* not in this epoch */
		profiles[f.nr_profiles] =
			(struct flush_profile){ &images[i], 0, "", profile_new() };
		for (int n = 0; n < 5; n++) {
			const uint64_t all = 1 + unit_random(random) % 9;
			const struct count c = { unit_random(random) % 50, all, all / 2,
						 all / 3 };

			profile_add(profiles[f.nr_profiles].profile, &c);
			stream.received += all;
		}
		f.nr_profiles++;
	}
	/* the same samples by command */
	if (f.nr_profiles) {
		profiles[f.nr_profiles] = profiles[0];
		profiles[f.nr_profiles].context = "comm=make";
		f.nr_profiles++;
	}
	ck_assert_int_eq(store_flush(s, &f), 0);
	for (size_t i = 0; i + 1 < f.nr_profiles; i++)
		profile_free(profiles[i].profile);
}

static struct db *make_epochs(struct dbtest *t)
{
	uint64_t random = unit_seed();
	struct store *s;
	struct db *db;

	dbtest_init(t);
	db = dbtest_open(t, DB_COLLECT);
	ck_assert_int_eq(store_begin(db, &test_platform, START, &s), 0);
	for (uint64_t i = 0; i < NR_EPOCHS; i++) {
		ck_assert_int_eq(store_epoch(s, START + i * EPOCH, 2, NULL), 0);
		flush_epoch(s, i + 1, &random);
	}
	store_free(s);
	return db;
}

/* ---- what a query returns ---- */

static int put_row(void *ctx, const struct query_profile *row)
{
	size_t nr;
	const struct count *c = profile_sorted(row->profile, &nr);

	buf_printf(ctx, "%s %d %s\n", row->image.desc.name, (int)row->stream,
		   row->context ? row->context : "-");
	for (size_t i = 0; i < nr; i++)
		buf_printf(ctx, "%d %d %d %d\n", (int)c[i].offset, (int)c[i].n,
			   (int)c[i].taken, (int)c[i].not_taken);
	return 0;
}

struct asked {
	const char *epochs, *image;
	unsigned int apart;
};

static void ask(struct db *db, const struct asked *a, const struct memory *m,
		struct buf *out)
{
	struct query_epochs e;
	struct query_selection sel = { .epochs = &e,
				       .image = a->image,
				       .apart = a->apart,
				       .keeper = m ? &m->keeper : NULL };

	ck_assert_int_eq(query_epochs(db, a->epochs, &e), 0);
	ck_assert_int_eq(query_profiles(db, &sel, put_row, out, NULL), 0);
	ck_assert_int_eq(out->err, 0);
	query_epochs_fini(&e);
}

/* With and without a keeper the answers are the same. */
static void compare(struct db *db, const struct asked *a, const struct memory *m)
{
	struct buf plain = { 0 }, kept = { 0 };

	ask(db, a, NULL, &plain);
	ask(db, a, m, &kept);
	ck_assert_str_eq(buf_str(&kept), buf_str(&plain));
	buf_fini(&plain);
	buf_fini(&kept);
}

static const struct {
	struct asked asked;
	int nr_blocks; /* that are kept */
} questions[] = {
	{ { "all", NULL, 0 }, 2 },
	{ { "all", "b", 0 }, 2 },
	{ { "all", NULL, 1u << CONTEXT_COMM }, 2 },
	{ { "12..70", NULL, 0 }, 2 },
	{ { "1..60", NULL, 0 }, 1 }, /* the last block is not kept */
	{ { "23..75", NULL, 0 }, 2 },
	{ { "24..75", NULL, 0 }, 1 }, /* too few epochs in the first one */
	{ { "1..47", NULL, 0 }, 0 },
};

START_TEST(answers_are_the_same_with_kept_sums)
{
	const struct asked *a = &questions[_i].asked;
	struct memory m;
	struct dbtest t;
	struct db *db = make_epochs(&t);

	memory_init(&m);
	compare(db, a, &m);
	ck_assert_int_eq(m.nr_saved, questions[_i].nr_blocks);
	ck_assert_int_eq(m.nr_limits, questions[_i].nr_blocks > 0);
	ck_assert_int_eq(m.nr_loaded, 0);
	compare(db, a, &m);
	ck_assert_int_eq(m.nr_loaded, questions[_i].nr_blocks);
	ck_assert_int_eq(m.nr_saved, questions[_i].nr_blocks); /* nothing was new */
	memory_fini(&m);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

START_TEST(sums_of_one_question_serve_another)
{
	const struct asked one = { "all", "a", 0 }, all = { "all", NULL, 0 };
	struct memory m;
	struct dbtest t;
	struct db *db = make_epochs(&t);

	memory_init(&m);
	compare(db, &one, &m);
	ck_assert_int_eq(m.nr_saved, 2);
	compare(db, &all, &m); /* adds the other images */
	ck_assert_int_eq(m.nr_saved, 4);
	compare(db, &all, &m);
	compare(db, &one, &m);
	ck_assert_int_eq(m.nr_saved, 4);
	memory_fini(&m);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* What changes between two questions, and how many blocks are added up anew. */
static const struct {
	const char *sql;
	int nr_saved;
} changes[] = {
	{ "UPDATE profile SET total = total + 1 WHERE epoch = 7", 1 },
	{ "DELETE FROM profile WHERE epoch = 7", 1 },
	{ "UPDATE epoch SET to_ns = to_ns - 1 WHERE id = 40", 1 },
	{ "UPDATE image SET name = '/bin/z' WHERE name = '/bin/a'", 2 },
	{ "UPDATE tally SET received = received + 1 WHERE epoch IN (7, 40)", 2 },
};

START_TEST(changed_epochs_are_added_up_anew)
{
	const struct asked all = { "all", NULL, 0 };
	struct memory m;
	struct dbtest t;
	struct db *db = make_epochs(&t);

	memory_init(&m);
	compare(db, &all, &m);
	ck_assert_int_eq(sql_exec(db_handle(db), changes[_i].sql), 0);
	m.nr_saved = 0;
	compare(db, &all, &m);
	ck_assert_int_eq(m.nr_saved, changes[_i].nr_saved);
	memory_fini(&m);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

/* The keeper's content may be anybody's. */
START_TEST(damaged_sums_are_not_used)
{
	const struct asked all = { "all", NULL, 0 };
	uint64_t random = unit_seed();
	struct memory m, whole;
	struct buf forged = { 0 };
	struct dbtest t;
	struct db *db = make_epochs(&t);

	memory_init(&whole);
	compare(db, &all, &whole);
	for (int round = 0; round < 100; round++) {
		memory_init(&m);
		for (int i = 0; i < whole.nr; i++) {
			const struct buf *from = &whole.file[i].content;
			struct buf *c = &m.file[i].content;

			m.file[i].key = whole.file[i].key;
			buf_put(c, from->data, from->len);
			if (round % 2)
				c->len = unit_random(&random) % c->len;
			else /* the number, the keys or where the parts are */
				c->data[unit_random(&random) % 128] ^=
					1 << unit_random(&random) % 8;
		}
		m.nr = whole.nr;
		if (round % 2)
			compare(db, &all, &m);
		else
			ask(db, &all, &m, &forged); /* forged: anything, but safe */
		memory_fini(&m);
	}
	memory_fini(&whole);
	buf_fini(&forged);
	db_close(db);
	dbtest_fini(&t);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("kept_sums");
	TCase *tc = tcase_create("kept_sums");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, answers_are_the_same_with_kept_sums, 0, NR(questions));
	tcase_add_test(tc, sums_of_one_question_serve_another);
	tcase_add_loop_test(tc, changed_epochs_are_added_up_anew, 0, NR(changes));
	tcase_add_test(tc, damaged_sums_are_not_used);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
