/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stream from flush to flush: what came, what did not, and what is left of a period.
 */
#include "config.h"

#include "daemon/session/sampler.h"

#include "daemon/os/wrapping.h"
#include "t/unit/random.h"
#include "t/unit/unit.h"

#define PERIOD     1000
#define NR_FLUSHES 50

static const struct event ticks = { .name = "ticks" };

/* As the collector counts ticks: each one that came is a period of the event. */
static struct collector_counts count_ticks(uint64_t received, uint64_t elsewhere)
{
	return (struct collector_counts){
		.received = received,
		.elsewhere = elsewhere,
		.event_count = (received + elsewhere) * PERIOD,
	};
}

static void flush(struct stream *st, const struct collector_counts *now)
{
	static const uint64_t lost[NR_LOSSES];
	const struct flush_stream f = stream_describe(st, &ticks, "bpf", PERIOD, now);

	stream_commit(st, &f, lost, now);
}

/* Where the kernel's count stands before the first flush, and how far each one goes. */
static const struct {
	uint32_t first;
	uint32_t step;
} sources[] = {
	{ 0, 1000 },       { UINT32_MAX - 1500, 1000 }, { UINT32_MAX, 1 },
	{ 0, UINT32_MAX }, { 1u << 31, 1u << 31 },
};

START_TEST(a_count_that_wraps_makes_no_sample_missing)
{
	uint32_t source = sources[_i].first;
	struct wrapping elsewhere = { 0 };
	uint64_t received = 0, want = source;
	struct stream st = { 0 };

	for (int i = 0; i < NR_FLUSHES; i++) {
		const struct collector_counts now =
			count_ticks(received, wrapping_follow(&elsewhere, source));

		ck_assert_uint_eq(now.elsewhere, want);
		ck_assert_int_eq(stream_not_delivered(&st, &ticks, PERIOD, &now), 0);
		flush(&st, &now);
		received += 10;
		source += sources[_i].step;
		want += sources[_i].step;
	}
	ck_assert_int_eq(st.account.not_delivered, 0);
	ck_assert_uint_eq(st.account.received, (NR_FLUSHES - 1) * 10);
	ck_assert_uint_eq(st.account.stored, st.account.received);
}
END_TEST

/* What one flush leaves of a period is the next one's, so none is missing at the end.
 */
START_TEST(what_is_less_than_a_period_is_kept_for_the_next_flush)
{
	uint64_t seed = unit_seed();
	struct collector_counts now = { 0 };
	struct stream st = { 0 };

	for (int i = 0; i < NR_FLUSHES; i++) {
		now.event_count += unit_random(&seed) % (3 * PERIOD);
		now.received = now.event_count / PERIOD - (i > NR_FLUSHES / 2);
		flush(&st, &now);
		ck_assert_int_eq(st.account.not_delivered, i > NR_FLUSHES / 2);
		ck_assert_uint_eq(st.remainder, now.event_count % PERIOD);
	}
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("sampler");
	TCase *t = tcase_create("sampler");

	tcase_add_loop_test(t, a_count_that_wraps_makes_no_sample_missing, 0,
			    NR(sources));
	tcase_add_test(t, what_is_less_than_a_period_is_kept_for_the_next_flush);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
