/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/import/perfstreams.h"

#include <errno.h>

#include "t/unit/unit.h"

#define MAX_SAMPLES 2000
#define EVENTS      3

struct sample {
	int event;
	uint64_t period;
};

static size_t make_samples(uint64_t *state, struct sample sample[MAX_SAMPLES])
{
	size_t nr = 1 + unit_random(state) % MAX_SAMPLES;
	int spread = unit_random(state) % 40;

	for (size_t i = 0; i < nr; i++) {
		sample[i].event = unit_random(state) % EVENTS;
		sample[i].period =
			unit_random(state) >> (63 - unit_random(state) % (spread + 1));
	}
	return nr;
}

/* Whatever the periods: what the streams stand for is what the samples do. */
START_TEST(the_sum_of_periods_is_kept_to_the_unit)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed | 1, want[EVENTS] = { 0 }, got[EVENTS] = { 0 };
	struct sample sample[MAX_SAMPLES];
	size_t nr = make_samples(&state, sample);
	struct perfstreams *s = perfstreams_new();

	for (size_t i = 0; i < nr; i++) {
		ck_assert_int_eq(perfstreams_note(s, sample[i].event, sample[i].period),
				 0);
		want[sample[i].event] += sample[i].period + !sample[i].period;
	}
	ck_assert_int_eq(perfstreams_make(s), 0);
	for (size_t i = 0; i < nr; i++) {
		int id = perfstreams_take(s, sample[i].event, sample[i].period);
		const struct perfstream *stream;
		uint64_t period = sample[i].period + !sample[i].period;

		ck_assert_msg(id >= 0 && (size_t)id < perfstreams_nr(s), "seed %llu",
			      (unsigned long long)seed);
		stream = perfstreams_get(s, (size_t)id);
		ck_assert_int_eq(stream->event, sample[i].event);
		ck_assert_msg(stream->period <= 2 * period &&
				      period <= 2 * stream->period,
			      "%llu for %llu, seed %llu",
			      (unsigned long long)stream->period,
			      (unsigned long long)period, (unsigned long long)seed);
		got[stream->event] += stream->period;
	}
	for (int e = 0; e < EVENTS; e++)
		ck_assert_msg(got[e] == want[e], "event %d: %llu, not %llu; seed %llu",
			      e, (unsigned long long)got[e],
			      (unsigned long long)want[e], (unsigned long long)seed);
	perfstreams_free(s);
}
END_TEST

START_TEST(one_period_is_one_stream)
{
	struct perfstreams *s = perfstreams_new();

	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(perfstreams_note(s, 1, 20003), 0);
	ck_assert_int_eq(perfstreams_make(s), 0);
	ck_assert_uint_eq(perfstreams_nr(s), 1);
	ck_assert_uint_eq(perfstreams_get(s, 0)->period, 20003);
	ck_assert_int_eq(perfstreams_main(s, 1), 0);
	ck_assert_int_eq(perfstreams_main(s, 0), -1);
	ck_assert_int_eq(perfstreams_take(s, 0, 20003), -1);
	ck_assert_int_eq(perfstreams_take(s, 1, 3), -1);
	perfstreams_free(s);
}
END_TEST

START_TEST(more_time_than_a_database_holds_is_refused)
{
	struct perfstreams *s = perfstreams_new();

	ck_assert_int_eq(perfstreams_note(s, 0, INT64_MAX), 0);
	ck_assert_int_eq(perfstreams_note(s, 0, INT64_MAX), -EOVERFLOW);
	perfstreams_free(s);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("perfstreams");
	TCase *t = tcase_create("perfstreams");

	tcase_add_loop_test(t, the_sum_of_periods_is_kept_to_the_unit, 0, 50);
	tcase_add_test(t, one_period_is_one_stream);
	tcase_add_test(t, more_time_than_a_database_holds_is_refused);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
