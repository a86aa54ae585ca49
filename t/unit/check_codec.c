/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <zstd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/varint.h"
#include "db/profile/codec.h"
#include "t/unit/unit.h"

/* The other way round than a merge: by what is sorted. */
static void add_weights(struct profile *p, enum weight weight, struct profile *from)
{
	size_t nr = 0;
	const struct count *c = from ? profile_sorted(from, &nr) : NULL;

	for (size_t i = 0; i < nr; i++)
		ck_assert_int_eq(profile_add_weight(p, weight, c[i].offset, c[i].n), 0);
}

/* What of a the codec keeps for kind. */
static struct profile *restrict_to(struct profile *a, enum profile_kind kind)
{
	struct profile *p = profile_new();
	size_t nr;
	const struct count *c = profile_sorted(a, &nr);

	for (int w = 0; w < NR_WEIGHTS && kind == PROFILE_WEIGHTED; w++)
		add_weights(p, w, profile_weights(a, w));
	for (size_t i = 0; i < nr && kind != PROFILE_WEIGHTED; i++) {
		struct count one = c[i];

		if (kind == PROFILE_COUNT)
			one.taken = one.not_taken = 0;
		else
			one.n = 0;
		ck_assert_int_eq(profile_add(p, &one), 0);
	}
	return p;
}

static bool is_empty(const struct profile *p)
{
	return !profile_nr(p) && !profile_is_weighted(p);
}

static bool same(struct profile *a, struct profile *b)
{
	struct profile *none = profile_new();
	size_t nr_a, nr_b;
	bool all = true;

	for (int w = 0; w < NR_WEIGHTS && all; w++) {
		struct profile *x = profile_weights(a, w), *y = profile_weights(b, w);

		if (x || y)
			all = same(x ? x : none, y ? y : none);
	}
	profile_free(none);
	if (!all)
		return false;

	const struct count *x = profile_sorted(a, &nr_a);
	const struct count *y = profile_sorted(b, &nr_b);

	return nr_a == nr_b && (!nr_a || !memcmp(x, y, nr_a * sizeof(*x)));
}

/* Random in everything that matters: size, spread, magnitude, share of outcomes. */
static struct profile *random_profile(uint64_t *state)
{
	struct profile *p = profile_new();
	uint64_t nr = unit_random(state) % (1 + (1ULL << unit_random(state) % 12));
	int spread = 1 + unit_random(state) % 60, height = 1 + unit_random(state) % 40;
	uint64_t outcomes = 1 + unit_random(state) % 10;

	for (uint64_t i = 0; i < nr; i++) {
		struct count c = { unit_random(state) >> (64 - spread),
				   1 + (unit_random(state) >> (64 - height)), 0, 0 };

		if (unit_random(state) % outcomes == 0) {
			c.taken = unit_random(state) % (c.n + 1);
			c.not_taken = c.n - c.taken;
		}
		ck_assert_int_eq(profile_add(p, &c), 0);
		if (unit_random(state) % 3 == 0)
			profile_add_weight(p, unit_random(state) % NR_WEIGHTS,
					   unit_random(state) >> (64 - spread),
					   1 + (unit_random(state) >> (64 - height)));
	}
	return p;
}

START_TEST(what_is_encoded_comes_back)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	const enum profile_kind kind = _i;

	for (int round = 0; round < 500; round++) {
		struct profile *p = random_profile(&state), *back = profile_new();
		struct profile *want = restrict_to(p, kind);
		struct buf b = { 0 };

		ck_assert_int_eq(codec_encode(p, kind, &b), 0);
		ck_assert_msg(!b.len == is_empty(want), "seed %" PRIu64, seed);
		if (b.len)
			ck_assert_int_eq(codec_decode(b.data, b.len, kind, back), 0);
		ck_assert_msg(same(back, want), "seed %" PRIu64 ", round %d", seed,
			      round);
		buf_fini(&b);
		profile_free(p);
		profile_free(want);
		profile_free(back);
	}
}
END_TEST

START_TEST(a_changed_blob_never_crashes_nor_adds_a_part)
{
	uint64_t seed = unit_seed(), state = seed | 1;

	for (int round = 0; round < 2000; round++) {
		enum profile_kind kind = unit_random(&state) % PROFILE_NR_KINDS;
		struct profile *p = random_profile(&state), *back = profile_new();
		struct buf b = { 0 };

		codec_encode(p, kind, &b);
		if (b.len && round % 2)
			b.data[unit_random(&state) % b.len] ^=
				1 << unit_random(&state) % 8;
		else if (b.len)
			b.len = unit_random(&state) % b.len;
		if (codec_decode(b.data, b.len, kind, back))
			ck_assert_msg(is_empty(back), "seed %" PRIu64 ", round %d",
				      seed, round);
		buf_fini(&b);
		profile_free(p);
		profile_free(back);
	}
}
END_TEST

static const struct {
	const char *what;
	uint8_t blob[16];
	size_t size;
	int err;
} bad[] = {
	{ "nothing", { 0 }, 0, -CPI_ETRUNCATED },
	{ "an encoding alone", { 0 }, 1, -CPI_ETRUNCATED },
	{ "an unknown encoding", { 2, 1, 4, 1 }, 4, -CPI_EVERSION },
	{ "no offsets", { 0, 0 }, 2, -CPI_ECORRUPT },
	{ "no count", { 0, 1, 4 }, 3, -CPI_ETRUNCATED },
	{ "a count of zero", { 0, 1, 4, 0 }, 4, -CPI_ECORRUPT },
	{ "a trailing byte", { 0, 1, 4, 1, 0 }, 5, -CPI_ECORRUPT },
	{ "an offset twice", { 0, 2, 4, 0, 1, 1 }, 6, -CPI_ECORRUPT },
	{ "offsets beyond 64 bits",
	  { 0, 2, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 1, 1, 1 },
	  15,
	  -CPI_ECORRUPT },
	{ "too many offsets", { 0, 0x81, 0x80, 0x80, 0x08, 1, 1 }, 7, -CPI_ELIMIT },
	{ "far fewer than it says",
	  { 0, 0x80, 0x80, 0x80, 0x08, 1 },
	  6,
	  -CPI_ETRUNCATED },
	{ "no frame", { 1, 1, 2, 3, 4, 5 }, 6, -CPI_ECORRUPT },
	{ "a cut frame", { 1, 0x28, 0xb5, 0x2f, 0xfd }, 5, -CPI_ETRUNCATED },
	{ "a skippable frame",
	  { 1, 0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0 },
	  9,
	  -CPI_ECORRUPT },
};

START_TEST(bad_blobs_are_refused)
{
	struct profile *p = profile_new();

	ck_assert_msg(codec_decode(bad[_i].blob, bad[_i].size, PROFILE_COUNT, p) ==
			      bad[_i].err,
		      "%s", bad[_i].what);
	ck_assert_uint_eq(profile_nr(p), 0);
	profile_free(p);
}
END_TEST

static const struct {
	const char *what;
	uint8_t blob[24];
	size_t size;
	int err;
} bad_weights[] = {
	{ "weights of no kind", { 0, 0, 0, 0, 0, 0, 0 }, 7, -CPI_ECORRUPT },
	{ "five kinds", { 0, 1, 4, 1, 0, 0, 0, 0 }, 8, -CPI_ETRUNCATED },
	{ "seven kinds", { 0, 1, 4, 1, 0, 0, 0, 0, 0, 0 }, 10, -CPI_ECORRUPT },
	{ "a weight of zero", { 0, 0, 1, 4, 0, 0, 0, 0, 0 }, 9, -CPI_ECORRUPT },
	{ "an offset twice", { 0, 2, 4, 0, 1, 1, 0, 0, 0, 0, 0 }, 11, -CPI_ECORRUPT },
	{ "too many offsets of a kind",
	  { 0, 0, 0, 0x81, 0x80, 0x80, 0x08, 1, 1 },
	  9,
	  -CPI_ELIMIT },
};

START_TEST(bad_weights_are_refused)
{
	struct profile *p = profile_new();

	ck_assert_msg(codec_decode(bad_weights[_i].blob, bad_weights[_i].size,
				   PROFILE_WEIGHTED, p) == bad_weights[_i].err,
		      "%s", bad_weights[_i].what);
	ck_assert(is_empty(p));
	profile_free(p);
}
END_TEST

/* A frame of a kilobyte or so that claims to hold size zero bytes. */
static void put_frame_of_zeros(struct buf *b, size_t size, bool twice)
{
	void *zeros = calloc(1, size);
	size_t room = ZSTD_compressBound(size), got;

	buf_putc(b, CODEC_ZSTD);
	for (int i = 0; i <= twice; i++) {
		got = ZSTD_compress(buf_reserve(b, room), room, zeros, size, 3);
		ck_assert(!ZSTD_isError(got));
		b->len += got;
	}
	free(zeros);
}

START_TEST(frames_that_hold_no_body_are_refused)
{
	struct profile *p = profile_new();
	struct buf b = { 0 };

	put_frame_of_zeros(&b, 310 << 20, false);
	ck_assert_int_eq(codec_decode(b.data, b.len, PROFILE_COUNT, p), -CPI_ELIMIT);
	buf_reset(&b);
	put_frame_of_zeros(&b, 1000, false);
	ck_assert_int_eq(codec_decode(b.data, b.len, PROFILE_COUNT, p), -CPI_ECORRUPT);
	buf_reset(&b);
	put_frame_of_zeros(&b, 1000, true);
	ck_assert_int_eq(codec_decode(b.data, b.len, PROFILE_COUNT, p), -CPI_ECORRUPT);
	ck_assert_uint_eq(profile_nr(p), 0);
	buf_fini(&b);
	profile_free(p);
}
END_TEST

START_TEST(decoding_adds_to_what_is_there)
{
	static const uint8_t blob[] = { CODEC_PLAIN, 1, 4, 3 };
	struct profile *p = profile_new();

	profile_add(p, &(struct count){ 4, 2, 0, 0 });
	ck_assert_int_eq(codec_decode(blob, sizeof(blob), PROFILE_COUNT, p), 0);
	ck_assert_uint_eq(profile_at(p, 4).n, 5);
	profile_add(p, &(struct count){ 8, UINT64_MAX - 6, 0, 0 });
	ck_assert_int_eq(codec_decode(blob, sizeof(blob), PROFILE_COUNT, p),
			 -EOVERFLOW);
	profile_free(p);
}
END_TEST

static uint64_t sum_of(struct profile *p, enum profile_kind kind)
{
	size_t nr = 0;
	const struct count *c = p ? profile_sorted(p, &nr) : NULL;
	uint64_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += kind == PROFILE_OUTCOME ? c[i].taken + c[i].not_taken : c[i].n;
	for (int w = 0; w < NR_WEIGHTS && kind == PROFILE_WEIGHTED; w++)
		sum += sum_of(profile_weights(p, w), PROFILE_COUNT);
	return sum;
}

START_TEST(a_total_is_the_sum_of_what_is_encoded)
{
	uint64_t seed = unit_seed(), state = seed | 1, total;
	const enum profile_kind kind = _i;

	for (int round = 0; round < 100; round++) {
		struct profile *p = random_profile(&state);
		struct profile *only = restrict_to(p, kind);

		total = UINT64_MAX;
		ck_assert_int_eq(codec_total(p, kind, &total), 0);
		ck_assert_msg(total == sum_of(only, kind), "seed %" PRIu64, seed);
		profile_free(only);
		profile_free(p);
	}
}
END_TEST

/* A database holds totals of at most INT64_MAX. */
static const struct {
	enum profile_kind kind;
	struct count a, b;
	int err;
} totals[] = {
	{ PROFILE_COUNT, { 4, INT64_MAX, 0, 0 }, { 8, 0, 0, 0 }, 0 },
	{ PROFILE_COUNT, { 4, INT64_MAX, 0, 0 }, { 8, 1, 0, 0 }, -EOVERFLOW },
	{ PROFILE_COUNT, { 4, INT64_MAX, 1, 0 }, { 8, 0, 0, 0 }, 0 },
	{ PROFILE_OUTCOME, { 4, 1, INT64_MAX, 0 }, { 8, 1, 0, 0 }, 0 },
	{ PROFILE_OUTCOME, { 4, 0, INT64_MAX, 1 }, { 8, 0, 0, 0 }, -EOVERFLOW },
	{ PROFILE_OUTCOME, { 4, 0, INT64_MAX, 0 }, { 8, 0, 0, 1 }, -EOVERFLOW },
	{ PROFILE_OUTCOME, { 4, 0, UINT64_MAX, 1 }, { 8, 0, 0, 0 }, -EOVERFLOW },
};

START_TEST(a_total_that_no_database_holds_is_refused)
{
	struct profile *p = profile_new();
	uint64_t total = 7;

	ck_assert_int_eq(profile_add(p, &totals[_i].a), 0);
	ck_assert_int_eq(profile_add(p, &totals[_i].b), 0);
	ck_assert_int_eq(codec_total(p, totals[_i].kind, &total), totals[_i].err);
	ck_assert_uint_eq(total, totals[_i].err ? 7 : INT64_MAX);
	profile_free(p);
}
END_TEST

START_TEST(a_total_of_weights_that_no_database_holds_is_refused)
{
	struct profile *p = profile_new();
	uint64_t total = 7;

	ck_assert_int_eq(codec_total(p, PROFILE_HISTOGRAM, &total), 0);
	ck_assert_uint_eq(total, 0);
	ck_assert_int_eq(profile_add_weight(p, 0, 4, INT64_MAX - 1), 0);
	ck_assert_int_eq(profile_add_weight(p, 1, 4, 1), 0);
	ck_assert_int_eq(codec_total(p, PROFILE_WEIGHTED, &total), 0);
	ck_assert_uint_eq(total, INT64_MAX);
	ck_assert_int_eq(profile_add_weight(p, 1, 8, 1), 0);
	ck_assert_int_eq(codec_total(p, PROFILE_WEIGHTED, &total), -EOVERFLOW);
	profile_free(p);
	p = profile_new();
	ck_assert_int_eq(profile_add_weight(p, 0, 4, 1), 0);
	ck_assert_int_eq(profile_add_weight(p, 1, 4, UINT64_MAX), 0);
	ck_assert_int_eq(codec_total(p, PROFILE_WEIGHTED, &total), -EOVERFLOW);
	ck_assert_uint_eq(total, INT64_MAX);
	profile_free(p);
}
END_TEST

START_TEST(an_unknown_kind_is_corrupt_and_encodes_nothing)
{
	static const uint8_t blob[] = { CODEC_PLAIN, 1, 4, 3 };
	struct profile *p = profile_new();
	struct buf b = { 0 };

	profile_add(p, &(struct count){ 4, 2, 0, 0 });
	ck_assert_int_eq(codec_encode(p, 3, &b), 0);
	ck_assert_int_eq(codec_encode(p, PROFILE_WEIGHTED, &b), 0);
	ck_assert_int_eq(codec_encode(p, PROFILE_HISTOGRAM, &b), 0);
	ck_assert_ptr_nonnull(profile_make_records(p));
	ck_assert_int_eq(codec_encode(p, PROFILE_HISTOGRAM, &b), 0);
	ck_assert_uint_eq(b.len, 0);
	ck_assert_int_eq(codec_decode(blob, sizeof(blob), 3, p), -CPI_ECORRUPT);
	profile_free(p);
}
END_TEST

/* Outcomes: of each offset at least one column is not 0. */
START_TEST(an_outcome_of_neither_way_is_corrupt)
{
	static const uint8_t good[] = { CODEC_PLAIN, 2, 4, 4, 0, 1, 2, 0 };
	static const uint8_t bad_one[] = { CODEC_PLAIN, 2, 4, 4, 0, 0, 2, 0 };
	static const uint8_t cut[] = { CODEC_PLAIN, 2, 4, 4, 0, 1, 2 };
	struct profile *p = profile_new();

	ck_assert_int_eq(codec_decode(bad_one, sizeof(bad_one), PROFILE_OUTCOME, p),
			 -CPI_ECORRUPT);
	ck_assert_int_eq(codec_decode(cut, sizeof(cut), PROFILE_OUTCOME, p),
			 -CPI_ETRUNCATED);
	ck_assert_uint_eq(profile_nr(p), 0);
	ck_assert_int_eq(codec_decode(good, sizeof(good), PROFILE_OUTCOME, p), 0);
	ck_assert_uint_eq(profile_at(p, 4).not_taken, 0);
	ck_assert_uint_eq(profile_at(p, 4).taken, 2);
	ck_assert_uint_eq(profile_at(p, 8).not_taken, 1);
	ck_assert_uint_eq(profile_at(p, 8).taken, 0);
	profile_free(p);
}
END_TEST

START_TEST(only_what_shrinks_is_compressed)
{
	struct profile *p = profile_new();
	struct buf b = { 0 };

	for (uint64_t i = 0; i < 20; i++)
		profile_add(p, &(struct count){ 4 * i, 1, 0, 0 });
	codec_encode(p, PROFILE_COUNT, &b);
	ck_assert_int_eq(b.data[0], CODEC_PLAIN);
	ck_assert_uint_eq(b.len, 42);
	for (uint64_t i = 20; i < 1000; i++)
		profile_add(p, &(struct count){ 4 * i, 1, 0, 0 });
	buf_reset(&b);
	codec_encode(p, PROFILE_COUNT, &b);
	ck_assert_int_eq(b.data[0], CODEC_ZSTD);
	ck_assert_uint_lt(b.len, 100);
	buf_fini(&b);
	profile_free(p);
}
END_TEST

static const struct {
	const char *name;
	enum profile_kind kind;
	const char *kind_name;
	enum codec_encoding encoding;
} golden[] = {
	{ "small", PROFILE_COUNT, "count", CODEC_PLAIN },
	{ "small", PROFILE_OUTCOME, "outcome", CODEC_PLAIN },
	{ "extreme", PROFILE_COUNT, "count", CODEC_PLAIN },
	{ "loop", PROFILE_COUNT, "count", CODEC_ZSTD },
	{ "loop", PROFILE_OUTCOME, "outcome", CODEC_PLAIN },
	{ "steady", PROFILE_COUNT, "count", CODEC_ZSTD },
	{ "steady", PROFILE_OUTCOME, "outcome", CODEC_ZSTD },
	{ "records", PROFILE_WEIGHTED, "weighted", CODEC_PLAIN },
	{ "stacks", PROFILE_WEIGHTED, "weighted", CODEC_ZSTD },
};

static void fixture_path(char out[4096], const char *name, const char *suffix)
{
	const char *srcdir = getenv("srcdir");

	snprintf(out, 4096, "%s/t/fixtures/codec/%s.%s", srcdir ? srcdir : ".", name,
		 suffix);
}

static void add_line(struct profile *p, const uint64_t *v, enum profile_kind kind)
{
	if (kind != PROFILE_WEIGHTED) {
		ck_assert_int_eq(
			profile_add(p, &(struct count){ v[0], v[1], v[2], v[3] }), 0);
		return;
	}
	for (int w = 0; w < NR_WEIGHTS; w++)
		ck_assert_int_eq(profile_add_weight(p, w, v[0], v[1 + w]), 0);
}

static struct profile *read_text(const char *name, enum profile_kind kind)
{
	const int nr = kind == PROFILE_WEIGHTED ? 1 + NR_WEIGHTS : 4;
	struct profile *p = profile_new();
	char path[4096], line[256];
	uint64_t v[1 + NR_WEIGHTS];
	FILE *f;

	fixture_path(path, name, kind == PROFILE_WEIGHTED ? "weights" : "txt");
	f = fopen(path, "re");
	ck_assert_msg(f != NULL, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		char *at = line;

		for (int i = 0; i < nr; i++)
			v[i] = strtoull(at, &at, 0);
		ck_assert_str_eq(at, "\n");
		add_line(p, v, kind);
	}
	fclose(f);
	return p;
}

START_TEST(golden_blobs_decode_to_their_text)
{
	struct profile *text = read_text(golden[_i].name, golden[_i].kind);
	struct profile *back = profile_new();
	struct profile *want = restrict_to(text, golden[_i].kind);
	struct buf b = { 0 }, again = { 0 };
	char path[4096], suffix[32];

	snprintf(suffix, sizeof(suffix), "%s.blob", golden[_i].kind_name);
	fixture_path(path, golden[_i].name, suffix);
	ck_assert_int_eq(file_read_all(AT_FDCWD, path, 1 << 20, &b), 0);
	ck_assert_int_eq(b.data[0], golden[_i].encoding);
	ck_assert_int_eq(codec_decode(b.data, b.len, golden[_i].kind, back), 0);
	ck_assert(!is_empty(want));
	ck_assert(same(back, want));
	if (golden[_i].encoding == CODEC_PLAIN) {
		codec_encode(text, golden[_i].kind, &again);
		ck_assert_uint_eq(again.len, b.len);
		ck_assert_mem_eq(again.data, b.data, b.len);
	}
	buf_fini(&b);
	buf_fini(&again);
	profile_free(text);
	profile_free(want);
	profile_free(back);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("codec");
	TCase *tc = tcase_create("codec");

	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, what_is_encoded_comes_back, 0, PROFILE_OUTCOME + 1);
	tcase_add_test(tc, a_changed_blob_never_crashes_nor_adds_a_part);
	tcase_add_loop_test(tc, bad_blobs_are_refused, 0, NR(bad));
	tcase_add_loop_test(tc, bad_weights_are_refused, 0, NR(bad_weights));
	tcase_add_test(tc, frames_that_hold_no_body_are_refused);
	tcase_add_test(tc, decoding_adds_to_what_is_there);
	tcase_add_loop_test(tc, a_total_is_the_sum_of_what_is_encoded, 0,
			    PROFILE_WEIGHTED + 1);
	tcase_add_loop_test(tc, a_total_that_no_database_holds_is_refused, 0,
			    NR(totals));
	tcase_add_test(tc, a_total_of_weights_that_no_database_holds_is_refused);
	tcase_add_test(tc, an_unknown_kind_is_corrupt_and_encodes_nothing);
	tcase_add_test(tc, an_outcome_of_neither_way_is_corrupt);
	tcase_add_test(tc, only_what_shrinks_is_compressed);
	tcase_add_loop_test(tc, golden_blobs_decode_to_their_text, 0, NR(golden));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
