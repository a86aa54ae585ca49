/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/file.h"
#include "base/loglin.h"
#include "db/profile/codec.h"
#include "db/profile/records.h"
#include "t/unit/unit.h"

START_TEST(a_value_is_near_the_middle_of_its_bin)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 100000; round++) {
		const uint64_t v =
			unit_random(&state) >> (32 + unit_random(&state) % 32);
		const unsigned int bin = loglin_bin(v);
		const double off = (double)v - loglin_middle(bin);

		ck_assert_uint_lt(bin, LOGLIN_BINS);
		ck_assert_msg(loglin_low(bin) <= v &&
				      v - loglin_low(bin) < loglin_width(bin),
			      "seed %" PRIu64 ": %" PRIu64, seed, v);
		ck_assert_msg((off < 0 ? -off : off) * 32 <= (double)v,
			      "seed %" PRIu64 ": %" PRIu64, seed, v);
	}
	for (unsigned int bin = 1; bin < LOGLIN_BINS; bin++)
		ck_assert_uint_eq(loglin_low(bin),
				  loglin_low(bin - 1) + loglin_width(bin - 1));
	ck_assert_uint_eq(loglin_bin(UINT64_MAX), LOGLIN_BINS - 1);
}
END_TEST

#define NR_OFFSETS   3
#define NR_ADDRESSES 64

/* All that was added, kept apart: the oracle. */
struct truth {
	uint64_t known[NR_OFFSETS][RECORD_NR_EVENTS],
		seen[NR_OFFSETS][RECORD_NR_EVENTS];
	uint64_t bin[NR_OFFSETS][RECORD_NR_LATENCIES][LOGLIN_BINS];
	uint64_t address[NR_OFFSETS][NR_ADDRESSES];
};

/* Few addresses are used often, many seldom. */
static struct record random_record(uint64_t *state)
{
	struct record one = { .known = unit_random(state) };

	one.known &= (1u << RECORD_NR_EVENTS) - 1;
	one.seen = unit_random(state) & one.known;
	one.timed = unit_random(state) & ((1u << RECORD_NR_LATENCIES) - 1);
	for (int i = 0; i < RECORD_NR_LATENCIES; i++)
		one.cycles[i] = unit_random(state) >> (40 + unit_random(state) % 20);
	one.address = unit_random(state) % (1 + unit_random(state) % NR_ADDRESSES);
	return one;
}

static void note(struct truth *t, int offset, const struct record *one)
{
	t->known[offset][RECORD_ANY] += !(one->known & 1);
	for (int i = 0; i < RECORD_NR_EVENTS; i++) {
		t->known[offset][i] += one->known >> i & 1;
		t->seen[offset][i] += i != RECORD_ANY && one->seen >> i & 1;
	}
	for (int i = 0; i < RECORD_NR_LATENCIES; i++) {
		if (one->timed >> i & 1)
			t->bin[offset][i][loglin_bin(one->cycles[i])]++;
	}
	if (one->known >> RECORD_DATA_ADDRESS & 1)
		t->address[offset][one->address]++;
}

static void compare(const struct truth *t, const struct records *r, uint64_t seed)
{
	for (int o = 0; o < NR_OFFSETS; o++) {
		const struct records_row row = records_at(r, o);
		const uint64_t addressed = t->known[o][RECORD_DATA_ADDRESS];
		uint64_t held = 0;

		for (int i = 0; i < RECORD_NR_EVENTS; i++) {
			ck_assert_uint_eq(records_cell(&row, RECORDS_KNOWN, i),
					  t->known[o][i]);
			ck_assert_uint_eq(records_cell(&row, RECORDS_SEEN, i),
					  t->seen[o][i]);
		}
		for (int i = 0; i < RECORD_NR_LATENCIES; i++) {
			for (int bin = 0; bin < LOGLIN_BINS; bin++)
				ck_assert_uint_eq(
					records_cell(&row, RECORDS_LATENCY + i, bin),
					t->bin[o][i][bin]);
		}
		for (int a = 0; a < NR_ADDRESSES; a++)
			held += records_cell(&row, RECORDS_ADDRESS, a);
		for (int a = 0; a < NR_ADDRESSES; a++) {
			const uint64_t n = records_cell(&row, RECORDS_ADDRESS, a);
			const double most = n + (double)(addressed - held) /
							(RECORDS_ADDRESSES + 1);

			ck_assert_msg(n <= t->address[o][a] && t->address[o][a] <= most,
				      "seed %" PRIu64 ": address %d", seed, a);
		}
	}
}

/* In parts that are merged in any order, through blobs and not. */
START_TEST(parts_merge_to_the_whole)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	static struct truth truth;

	for (int round = 0; round < 20; round++) {
		struct profile *all = profile_new();

		memset(&truth, 0, sizeof(truth));
		for (int part = 0; part < 6; part++) {
			struct profile *p = profile_new();
			struct records *r = profile_make_records(p);
			const uint64_t nr = unit_random(&state) % 300;
			struct buf b = { 0 };
			uint64_t total;

			for (uint64_t n = nr; n; n--) {
				const struct record one = random_record(&state);
				const int offset = unit_random(&state) % NR_OFFSETS;

				ck_assert_int_eq(records_add(r, offset, &one), 0);
				note(&truth, offset, &one);
			}
			ck_assert_int_eq(codec_encode(p, PROFILE_HISTOGRAM, &b), 0);
			ck_assert_int_eq(codec_total(p, PROFILE_HISTOGRAM, &total), 0);
			ck_assert_uint_eq(total, nr);
			if (part % 2 == 0)
				ck_assert_int_eq(profile_merge(all, p), 0);
			else if (b.len)
				ck_assert_int_eq(codec_decode(b.data, b.len,
							      PROFILE_HISTOGRAM, all),
						 0);
			buf_fini(&b);
			profile_free(p);
		}
		compare(&truth, profile_make_records(all), seed);
		profile_free(all);
	}
}
END_TEST

START_TEST(a_changed_blob_is_refused_or_whole)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	int nr_taken = 0;

	for (int round = 0; round < 3000; round++) {
		struct profile *p = profile_new(), *back = profile_new();
		struct buf b = { 0 };

		for (int i = 0; i < 5; i++) {
			const struct record one = random_record(&state);

			records_add(profile_make_records(p), unit_random(&state) % 99,
				    &one);
		}
		codec_encode(p, PROFILE_HISTOGRAM, &b);
		if (round % 2)
			b.data[unit_random(&state) % b.len] ^=
				1 << unit_random(&state) % 8;
		else
			b.len = unit_random(&state) % b.len;
		if (codec_decode(b.data, b.len, PROFILE_HISTOGRAM, back))
			ck_assert_msg(!profile_records(back), "seed %" PRIu64, seed);
		else
			nr_taken++;
		buf_fini(&b);
		profile_free(p);
		profile_free(back);
	}
	ck_assert_int_lt(nr_taken, 2000);
}
END_TEST

/* Plain bodies: offsets, sizes, then series, values and n by column. */
static const struct {
	const char *what;
	uint8_t blob[32];
	size_t size;
	int err;
} bad[] = {
	{ "one record", { 0, 1, 4, 1, 0, 0, 1 }, 7, 0 },
	{ "nothing", { 0 }, 0, -CPI_ETRUNCATED },
	{ "no offsets", { 0, 0 }, 2, -CPI_ECORRUPT },
	{ "no cell", { 0, 1, 4, 0 }, 4, -CPI_ECORRUPT },
	{ "no number of records", { 0, 1, 4, 1, 0, 2, 1 }, 7, -CPI_ECORRUPT },
	{ "n of zero", { 0, 1, 4, 1, 0, 0, 0 }, 7, -CPI_ECORRUPT },
	{ "a trailing byte", { 0, 1, 4, 1, 0, 0, 1, 0 }, 8, -CPI_ECORRUPT },
	{ "a cut column", { 0, 1, 4, 1, 0, 0 }, 6, -CPI_ETRUNCATED },
	{ "an offset twice",
	  { 0, 2, 4, 0, 1, 1, 0, 0, 0, 0, 1, 1 },
	  12,
	  -CPI_ECORRUPT },
	{ "a cell twice", { 0, 1, 4, 2, 0, 0, 0, 0, 1, 1 }, 10, -CPI_ECORRUPT },
	{ "more events than records",
	  { 0, 1, 4, 2, 0, 0, 0, 2, 1, 2 },
	  10,
	  -CPI_ECORRUPT },
	{ "seen and not known", { 0, 1, 4, 2, 0, 1, 0, 2, 1, 1 }, 10, -CPI_ECORRUPT },
	{ "an unknown event", { 0, 1, 4, 2, 0, 0, 0, 99, 1, 1 }, 10, -CPI_ECORRUPT },
	{ "an unknown series", { 0, 1, 4, 2, 0, 99, 0, 0, 1, 1 }, 10, -CPI_ECORRUPT },
	{ "addresses of none", { 0, 1, 4, 2, 0, 2, 0, 7, 1, 1 }, 10, -CPI_ECORRUPT },
	{ "latencies of more than all",
	  { 0, 1, 4, 3, 0, 3, 0, 0, 1, 1, 1, 1, 1 },
	  13,
	  -CPI_ECORRUPT },
	{ "a bin too far", { 0, 1, 4, 2, 0, 3, 0, 0xd0, 3, 1, 1 }, 11, -CPI_ECORRUPT },
	{ "a cut number", { 0, 0x80 }, 2, -CPI_ETRUNCATED },
	{ "too many offsets", { 0, 0x81, 0x80, 0x80, 4, 0 }, 6, -CPI_ELIMIT },
	{ "a value beyond 64 bits",
	  { 0, 1, 4, 2, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1,
	    1, 1, 1 },
	  19,
	  -CPI_ECORRUPT },
	{ "an offset beyond 64 bits",
	  { 0, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	    1, 1, 1,    1,    0,    0,    0,    0,    1,    1 },
	  21,
	  -CPI_ECORRUPT },
	{ "more records than a database can count",
	  { 0,    2,    4,    4,    1,    1,    0,    0,    0,    0,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff,
	    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f },
	  28,
	  -CPI_ECORRUPT },
	{ "too many cells", { 0, 1, 4, 0x81, 0x80, 0x80, 4, 0 }, 8, -CPI_ELIMIT },
};

START_TEST(bad_blobs_are_refused)
{
	struct profile *p = profile_new();

	ck_assert_msg(codec_decode(bad[_i].blob, bad[_i].size, PROFILE_HISTOGRAM, p) ==
			      bad[_i].err,
		      "%s", bad[_i].what);
	ck_assert_int_eq(!profile_records(p), bad[_i].err != 0);
	profile_free(p);
}
END_TEST

START_TEST(no_more_records_than_a_database_can_count)
{
	const struct records_cell cell = { RECORDS_KNOWN, RECORD_ANY, INT64_MAX };
	const struct record one = { .known = 1u << RECORD_RETIRED };
	struct records *r = records_new();

	ck_assert_int_eq(records_add_row(r, &(struct records_row){ 4, &cell, 1 }), 0);
	ck_assert_int_eq(records_add(r, 8, &one), -EOVERFLOW);
	ck_assert_uint_eq(records_nr(r), 1);
	ck_assert_uint_eq(records_total(r), INT64_MAX);
	records_free(r);
}
END_TEST

static void fixture_path(char out[4096], const char *name)
{
	const char *srcdir = getenv("srcdir");

	snprintf(out, 4096, "%s/t/fixtures/codec/%s", srcdir ? srcdir : ".", name);
}

static const struct {
	const char *text, *blob;
	enum codec_encoding encoding;
} golden[] = {
	{ "few.cells", "few.histogram.blob", CODEC_PLAIN },
	{ "many.cells", "many.histogram.blob", CODEC_ZSTD },
};

START_TEST(golden_blobs_decode_to_their_text)
{
	struct profile *p = profile_new();
	struct buf b = { 0 }, again = { 0 };
	char path[4096], line[256];
	size_t nr = 0;
	FILE *f;

	fixture_path(path, golden[_i].blob);
	ck_assert_int_eq(file_read_all(AT_FDCWD, path, 1 << 20, &b), 0);
	ck_assert_int_eq(b.data[0], golden[_i].encoding);
	ck_assert_int_eq(codec_decode(b.data, b.len, PROFILE_HISTOGRAM, p), 0);
	fixture_path(path, golden[_i].text);
	f = fopen(path, "re");
	ck_assert_msg(f != NULL, "%s", path);
	for (; fgets(line, sizeof(line), f); nr++) {
		uint64_t v[4];
		char *at = line;
		struct records_row row;

		for (int i = 0; i < 4; i++)
			v[i] = strtoull(at, &at, 0);
		row = records_at(profile_records(p), v[0]);
		ck_assert_uint_eq(records_cell(&row, v[1], v[2]), v[3]);
	}
	fclose(f);
	ck_assert_uint_eq(nr, records_nr_cells(profile_records(p)));
	ck_assert_int_eq(codec_encode(p, PROFILE_HISTOGRAM, &again), 0);
	if (golden[_i].encoding == CODEC_PLAIN) {
		ck_assert_uint_eq(again.len, b.len);
		ck_assert_mem_eq(again.data, b.data, b.len);
	}
	buf_fini(&b);
	buf_fini(&again);
	profile_free(p);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("records");
	TCase *tc = tcase_create("records");

	tcase_set_timeout(tc, 600);
	tcase_add_test(tc, a_value_is_near_the_middle_of_its_bin);
	tcase_add_test(tc, parts_merge_to_the_whole);
	tcase_add_test(tc, a_changed_blob_is_refused_or_whole);
	tcase_add_loop_test(tc, bad_blobs_are_refused, 0, NR(bad));
	tcase_add_test(tc, no_more_records_than_a_database_can_count);
	tcase_add_loop_test(tc, golden_blobs_decode_to_their_text, 0, NR(golden));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
