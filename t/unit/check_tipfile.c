/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/os/tipfile.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "daemon/import/replay_samples.h"
#include "t/unit/unit.h"

/* MICRO'21 Figure 6, by its flags: banks are those of a core that commits four. */
static const struct {
	const char *what;
	uint64_t flags, address[4];
	int err;
	enum cpi_tip_state state;
	unsigned int n;
	uint64_t want[4];
} records[] = {
	{ "two commit", 0x3, { 1, 2 }, 0, CPI_TIP_COMMITS, 2, { 1, 2 } },
	{ "the oldest is in bank 2, and goes round",
	  0x2000d,
	  { 3, 0, 1, 2 },
	  0,
	  CPI_TIP_COMMITS,
	  3,
	  { 1, 2, 3 } },
	{ "the head stalls", 0x12000f, { 1, 2, 3, 4 }, 0, CPI_TIP_STALLS, 1, { 3 } },
	{ "drained", 0x310004, { 1, 2, 3, 4 }, -1, 0, 0, { 0 } },
	{ "drained, and the first came to bank 1",
	  0x310002,
	  { 1, 2, 3, 4 },
	  0,
	  CPI_TIP_DRAINED,
	  1,
	  { 2 } },
	{ "excepted", 0x500001, { 9 }, 0, CPI_TIP_EXCEPTS, 1, { 9 } },
	{ "flushed", 0x900001, { 9 }, 0, CPI_TIP_FLUSHES, 1, { 9 } },
	{ "mispredicted", 0x1100001, { 9 }, 0, CPI_TIP_MISPREDICTS, 1, { 9 } },
	{ "nothing is valid", 0, { 0 }, -1, 0, 0, { 0 } },
	{ "the oldest is not", 0x10001, { 1, 2 }, -1, 0, 0, { 0 } },
	{ "a bank that is not there", 0x11, { 1, 2 }, -1, 0, 0, { 0 } },
	{ "two reasons", 0x1900001, { 9 }, -1, 0, 0, { 0 } },
	{ "commits, and drained", 0x200001, { 9 }, -1, 0, 0, { 0 } },
	{ "a flag that nobody knows", 0x2000001, { 9 }, -1, 0, 0, { 0 } },
};

START_TEST(a_record_is_whose_the_flags_say)
{
	uint64_t words[6] = { htole64(77), htole64(records[_i].flags) };
	struct cpi_tip_sample s;

	for (int i = 0; i < 4; i++)
		words[2 + i] = htole64(records[_i].address[i]);
	ck_assert_msg(cpi_tip_decode(words, 4, &s) == records[_i].err, "%s",
		      records[_i].what);
	if (records[_i].err)
		return;
	ck_assert_uint_eq(s.cycle, 77);
	ck_assert_int_eq(s.state, records[_i].state);
	ck_assert_uint_eq(s.n, records[_i].n);
	for (unsigned int i = 0; i < s.n; i++)
		ck_assert_uint_eq(s.address[i], records[_i].want[i]);
}
END_TEST

static struct cpi_tip_sample random_sample(uint64_t *state, unsigned int banks)
{
	struct cpi_tip_sample s = { .cycle = unit_random(state),
				    .state = unit_random(state) % 6,
				    .n = 1 };

	if (s.state == CPI_TIP_COMMITS)
		s.n += unit_random(state) % banks;
	for (unsigned int i = 0; i < s.n; i++)
		s.address[i] = unit_random(state) >> 16;
	return s;
}

/* The file of nr samples, of which some are followed by code. */
static void write_file(const char *path, uint64_t seed, unsigned int banks, int nr)
{
	struct tipfile_info info = { .interval = 101, .banks = banks, .name = "x" };
	struct tipfile_writer *w;
	uint64_t state = seed | 1;

	ck_assert_int_eq(tipfile_create(path, &info, &w), 0);
	for (int i = 0; i < nr; i++) {
		const struct cpi_tip_sample s = random_sample(&state, banks);

		ck_assert_int_eq(tipfile_put_sample(w, &s), 0);
	}
	for (int i = 0; i < 3; i++) {
		struct tipfile_code code = { .address = 4 * i, .begins_function = !i };

		snprintf(code.text, sizeof(code.text), "addi a0, a0, %d", i);
		ck_assert_int_eq(tipfile_put_code(w, &code), 0);
	}
	ck_assert_int_eq(tipfile_end(w), 0);
}

static char path[] = "/tmp/cpi-tipfile.XXXXXX";

static void make_path(void)
{
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void drop_path(void)
{
	unlink(path);
}

START_TEST(what_is_written_is_read)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	const unsigned int banks = 1 + _i;
	union tipfile_item item;
	struct tipfile *f;

	write_file(path, seed, banks, 100);
	ck_assert_int_eq(tipfile_open(path, &f), 0);
	ck_assert_uint_eq(tipfile_info(f)->interval, 101);
	ck_assert_str_eq(tipfile_info(f)->name, "x");
	for (int i = 0; i < 100; i++) {
		const struct cpi_tip_sample s = random_sample(&state, banks);

		ck_assert_int_eq(tipfile_next(f, &item), CPI_TIP_RECORD);
		ck_assert_msg(!memcmp(&s, &item.sample, sizeof(s)), "seed %llu",
			      (unsigned long long)seed);
	}
	for (uint64_t i = 0; i < 3; i++) {
		ck_assert_int_eq(tipfile_next(f, &item), CPI_TIP_CODE);
		ck_assert_uint_eq(item.code.address, 4 * i);
		ck_assert_int_eq(item.code.begins_function, !i);
	}
	ck_assert_str_eq(item.code.text, "addi a0, a0, 2");
	ck_assert_int_eq(tipfile_next(f, &item), 0);
	tipfile_close(f);
}
END_TEST

/* 0 when all of it reads well, else the error. */
static int read_all(void *data, size_t size)
{
	union tipfile_item item;
	struct tipfile *f;
	int err = tipfile_open_stream(fmemopen(data, size, "r"), &f);

	if (err)
		return err;
	while ((err = tipfile_next(f, &item)) > 0)
		;
	tipfile_close(f);
	return err;
}

START_TEST(every_cut_is_noticed)
{
	char data[8192];
	FILE *f;
	size_t size;

	write_file(path, 5, 4, 20);
	f = fopen(path, "re");
	size = fread(data, 1, sizeof(data), f);
	fclose(f);
	ck_assert_int_eq(read_all(data, size), 0);
	for (size_t n = 1; n < size; n++)
		ck_assert_msg(read_all(data, n) == -CPI_ETRUNCATED, "%zu bytes", n);
	data[size] = 0;
	ck_assert_int_eq(read_all(data, size + 1), -CPI_ECORRUPT);
}
END_TEST

/* What is handed out. */
struct sums {
	uint64_t counts, weights[NR_WEIGHTS], at[256];
	int codes;
};

static int take_share(void *ctx, const struct replay_share *share)
{
	struct sums *s = ctx;

	s->counts += share->count;
	s->weights[share->weight] += share->part;
	s->at[share->address % 256] += share->part;
	return 0;
}

static int take_code(void *ctx, const struct tipfile_code *code)
{
	struct sums *s = ctx;

	ck_assert_uint_eq(code->address, 4 * s->codes);
	s->codes++;
	return 0;
}

static uint64_t replay(struct tipfile *f, struct sums *sums)
{
	const struct replay_taker to = { take_share, take_code, sums };
	uint64_t nr;

	ck_assert_int_eq(replay_read_samples(f, &to, &nr), 0);
	return nr;
}

START_TEST(each_sample_is_shared_out_whole)
{
	uint64_t seed = unit_seed(), state = seed | 1, want[NR_WEIGHTS] = { 0 };
	struct sums sums = { 0 };
	struct tipfile *f;
	const int nr = 20000;

	write_file(path, seed, CPI_TIP_MAX_BANKS, nr);
	for (int i = 0; i < nr; i++)
		want[random_sample(&state, CPI_TIP_MAX_BANKS).state] += WEIGHT_UNIT;
	ck_assert_int_eq(tipfile_open(path, &f), 0);
	ck_assert_uint_eq(replay(f, &sums), nr);
	tipfile_close(f);
	ck_assert_uint_eq(sums.counts, nr);
	ck_assert_int_eq(sums.codes, 3);
	for (int w = 0; w < NR_WEIGHTS; w++)
		ck_assert_msg(sums.weights[w] == want[w], "seed %llu: weight %d",
			      (unsigned long long)seed, w);
}
END_TEST

START_TEST(n_that_commit_have_an_equal_part)
{
	struct cpi_tip_sample s = { .state = CPI_TIP_COMMITS, .n = 1 + _i };
	struct tipfile_info info = { .interval = 1, .banks = CPI_TIP_MAX_BANKS };
	struct sums sums = { 0 };
	struct tipfile_writer *w;
	struct tipfile *f;

	for (unsigned int i = 0; i < s.n; i++)
		s.address[i] = i;
	ck_assert_int_eq(tipfile_create(path, &info, &w), 0);
	ck_assert_int_eq(tipfile_put_sample(w, &s), 0);
	ck_assert_int_eq(tipfile_end(w), 0);
	ck_assert_int_eq(tipfile_open(path, &f), 0);
	replay(f, &sums);
	tipfile_close(f);
	ck_assert_uint_eq(sums.weights[WEIGHT_EXECUTION], WEIGHT_UNIT);
	for (unsigned int i = 0; i < s.n; i++) {
		ck_assert_uint_le(sums.at[i] - WEIGHT_UNIT / s.n, s.n > 8);
		ck_assert_uint_le(sums.at[i], sums.at[0]);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("tipfile");
	TCase *tc = tcase_create("tipfile");

	tcase_add_checked_fixture(tc, make_path, drop_path);
	tcase_add_loop_test(tc, a_record_is_whose_the_flags_say, 0, NR(records));
	tcase_add_loop_test(tc, what_is_written_is_read, 0, CPI_TIP_MAX_BANKS);
	tcase_add_test(tc, every_cut_is_noticed);
	tcase_add_test(tc, each_sample_is_shared_out_whole);
	tcase_add_loop_test(tc, n_that_commit_have_an_equal_part, 0, CPI_TIP_MAX_BANKS);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
