/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_budget_bytes.c - what is shipped of a day stays within its bytes
 *
 * The model is a machine that ships sums. A kept sample takes some bytes, fewer each
 * the more are kept, as addresses repeat; a batch takes some as well.
 */
#include "config.h"

#include <math.h>

#include "base/times.h"
#include "ship/budget.h"
#include "t/unit/unit.h"

#define DAY_NS    (24 * NSEC_PER_HOUR)
#define MINUTE_NS (60 * NSEC_PER_SEC)
#define FIRST_DAY 20000
#define NR_DAYS   4
#define BYTES     450000

struct machine {
	uint32_t nr_cpus;
	double per_second; /* samples of one CPU */
	double bytes;      /* of the first kept samples of a sum */
	double batch;
};

/* What the rows of kept samples take. */
static double rows_take(const struct machine *m, double kept)
{
	const double alike = 100000; /* then half of the addresses repeat */

	return m->bytes * alike * log1p(kept / alike);
}

static const struct machine machines[] = {
	{ 1, 200, 4, 8000 },   { 2, 200, 4, 8000 },  { 2, 254, 9, 14000 },
	{ 2, 20, 2.3, 9000 },  { 8, 100, 4, 12000 }, { 64, 50, 2.3, 15000 },
	{ 256, 200, 6, 15000 }
};

static struct ship_epoch epoch(const struct machine *m, uint64_t from_ns,
			       uint64_t to_ns, double load)
{
	struct ship_epoch e = { .from_ns = from_ns,
				.to_ns = to_ns,
				.label = (char *)"",
				.platform = { .nr_cpus = m->nr_cpus } };

	e.stored = (uint64_t)((double)(to_ns - from_ns) / 1e9 * m->per_second *
			      m->nr_cpus * load);
	return e;
}

static struct ship_budget begun_at(uint64_t ns)
{
	struct ship_budget b;

	ship_budget_init(&b);
	b.begun_ns = ns;
	b.day = ns / DAY_NS;
	return b;
}

/* Ships the sum; returns what it takes. */
static double ship_sum(struct ship_budget *b, const struct ship_how *how,
		       const struct machine *m, struct ship_epoch *e)
{
	double rows;

	e->one_in = 1;
	ship_budget_begin(b);
	ship_budget_plan(b, how, e);
	rows = rows_take(m, (double)(e->stored / e->one_in));
	ship_budget_note(b, true, (uint64_t)rows, (uint64_t)m->batch);
	return rows + m->batch;
}

/* A machine whose load changes from sum to sum, over days. */
START_TEST(the_sums_of_a_day_fit)
{
	const struct machine *m = &machines[_i];
	const struct ship_how how = { .bytes = BYTES };
	const uint64_t length = ship_budget_length(&how, m->nr_cpus);
	const double budget = (double)how.bytes * m->nr_cpus;
	struct ship_budget b = begun_at(FIRST_DAY * DAY_NS);
	uint64_t seed = unit_seed();

	for (uint64_t day = FIRST_DAY; day < FIRST_DAY + NR_DAYS; day++) {
		double took = 0, all = 0;

		for (uint64_t at = day * DAY_NS; at < (day + 1) * DAY_NS;
		     at += length) {
			const double load =
				0.05 +
				0.95 * (double)(unit_random(&seed) >> 40) / 0x1p24;
			struct ship_epoch e = epoch(m, at, at + length, load);

			took += ship_sum(&b, &how, m, &e);
			all += rows_take(m, (double)e.stored) + m->batch;
		}
		ck_assert_msg(took < 1.02 * budget, "day %d: %.0f of %.0f bytes",
			      (int)(day - FIRST_DAY), took, budget);
		/* The first day learns. */
		ck_assert_msg(day == FIRST_DAY ||
				      took > 0.6 * (all < budget ? all : budget),
			      "day %d: only %.0f of %.0f bytes", (int)(day - FIRST_DAY),
			      took, budget);
	}
}
END_TEST

START_TEST(the_first_epochs_are_whole)
{
	const struct machine *m = &machines[_i];
	const struct ship_how how = { .bytes = BYTES };
	const uint64_t now_ns = FIRST_DAY * DAY_NS + 5 * NSEC_PER_HOUR;
	struct ship_budget b = begun_at(now_ns);
	uint64_t nr_whole = 0;
	double took = 0;

	for (uint64_t i = 0; i < 60; i++) {
		const uint64_t at = now_ns + (i - 1) * MINUTE_NS;
		struct ship_epoch e = epoch(m, at, at + MINUTE_NS, 0.3);
		const double rows = 9 * (double)e.stored;

		ship_budget_begin(&b);
		if (ship_budget_of(&b, &how, &e).sums_ns)
			continue;
		ck_assert_uint_lt(i, 11);
		nr_whole++;
		ship_budget_plan(&b, &how, &e);
		ck_assert_uint_eq(e.one_in, 0);
		ship_budget_note(&b, true, (uint64_t)rows, 12000);
		took += rows + 12000;
	}
	ck_assert_uint_ge(nr_whole, 1);
	ck_assert_double_le(took, 0.55 * (double)how.bytes * m->nr_cpus);
	/* Old epochs are not. */
	for (uint64_t i = 2; i < 60; i++) {
		struct ship_epoch e = epoch(m, now_ns - (i + 2) * MINUTE_NS,
					    now_ns - (i + 1) * MINUTE_NS, 0.01);

		ck_assert_uint_eq(ship_budget_of(&b, &how, &e).sums_ns,
				  ship_budget_length(&how, m->nr_cpus));
	}
}
END_TEST

/* Several epochs that are due at once share what is there for whole ones. */
START_TEST(whole_epochs_of_a_batch_add_up)
{
	const struct machine m = { 2, 200, 4, 8000 };
	const struct ship_how how = { .bytes = BYTES };
	const uint64_t now_ns = FIRST_DAY * DAY_NS + 5 * NSEC_PER_HOUR;
	struct ship_budget b = begun_at(now_ns);
	double whole = 0;

	ship_budget_begin(&b);
	for (uint64_t i = 0; i < 60; i++) {
		struct ship_epoch e = epoch(&m, now_ns + i * NSEC_PER_SEC,
					    now_ns + (i + 1) * NSEC_PER_SEC, 1);

		if (!ship_budget_of(&b, &how, &e).sums_ns)
			whole += 10 * (double)e.stored;
	}
	ck_assert_double_gt(whole, 0);
	ck_assert_double_le(whole, 0.5 * (double)how.bytes * m.nr_cpus);
}
END_TEST

START_TEST(what_is_set_stays)
{
	const struct ship_how none = { .one_in = 0 },
			      both = { 6 * NSEC_PER_HOUR, 25, BYTES },
			      length = { 6 * NSEC_PER_HOUR, 0, BYTES };
	const uint64_t now_ns = FIRST_DAY * DAY_NS;
	struct ship_budget b = begun_at(now_ns);
	struct ship_epoch e = epoch(&machines[0], now_ns, now_ns + MINUTE_NS, 1);

	ck_assert_uint_eq(ship_budget_of(&b, &none, &e).sums_ns, 0);
	ck_assert_uint_eq(ship_budget_of(&b, &both, &e).sums_ns, both.sums_ns);
	ck_assert_uint_eq(ship_budget_of(&b, &length, &e).sums_ns, both.sums_ns);
	e.one_in = 25;
	e.stored = 1000000000;
	ship_budget_plan(&b, &both, &e);
	ck_assert_uint_eq(e.one_in, 25);
	e.one_in = 1;
	ship_budget_plan(&b, &none, &e);
	ck_assert_uint_eq(e.one_in, 1);
	ship_budget_plan(&b, &length, &e);
	ck_assert_uint_gt(e.one_in, 100);
}
END_TEST

/* Each is a stream of its own in the store. */
START_TEST(there_are_few_numbers)
{
	const struct ship_how how = { .bytes = BYTES };
	uint64_t seen[64];
	size_t nr = 0;

	for (double load = 0.001; load < 1000; load *= 1.01) {
		const uint64_t at = FIRST_DAY * DAY_NS;
		struct ship_budget b = begun_at(at);
		struct ship_epoch e = epoch(&machines[0], at, at + NSEC_PER_HOUR, load);
		size_t i = 0;

		e.one_in = 1;
		ship_budget_plan(&b, &how, &e);
		ck_assert_uint_ge(e.one_in, 1);
		while (i < nr && seen[i] != e.one_in)
			i++;
		if (i < nr)
			continue;
		ck_assert_uint_lt(nr, 21);
		ck_assert(!nr || e.one_in > seen[nr - 1]);
		seen[nr++] = e.one_in;
	}
	ck_assert_uint_gt(nr, 15);
}
END_TEST

/* So many rows were sent of a batch, and then it was not committed. */
static const uint64_t sent_of_failed[] = { 0, 100, 20000 };

START_TEST(a_batch_that_failed_does_not_change_the_next_one)
{
	const struct ship_how how = { .bytes = BYTES };
	const struct machine *m = &machines[1];
	const uint64_t from_ns = FIRST_DAY * DAY_NS + 10 * NSEC_PER_HOUR;
	struct ship_epoch e = epoch(m, from_ns, from_ns + NSEC_PER_HOUR, 1);
	struct ship_budget b = begun_at(from_ns - DAY_NS);
	uint64_t before;

	b.day = FIRST_DAY;
	for (int i = 0; i < 10; i++) {
		e.one_in = 1;
		ship_budget_begin(&b);
		ship_budget_plan(&b, &how, &e);
		if (!i)
			before = e.one_in;
		ship_budget_note(&b, false, sent_of_failed[_i], 0);
	}
	ck_assert_uint_gt(before, 1);
	ck_assert_uint_ge(e.one_in, before);
}
END_TEST

START_TEST(looks_are_often_enough_for_the_alert)
{
	struct ship_how how = { .sums_ns = 24 * NSEC_PER_HOUR };
	struct ship_budget b = begun_at(FIRST_DAY * DAY_NS);

	ck_assert_uint_eq(ship_budget_every_ns(&b, &how), 30 * MINUTE_NS);
	how.sums_ns = NSEC_PER_HOUR;
	ck_assert_uint_eq(ship_budget_every_ns(&b, &how), 10 * MINUTE_NS);
}
END_TEST

/* Nothing was due, ever, and the clock is where it was or was set back. */
static const uint64_t set_back_ns[] = { 0, 5 * NSEC_PER_HOUR };

START_TEST(looks_for_nothing_get_rare)
{
	const struct ship_how how = { .bytes = BYTES };
	struct ship_budget b;

	ship_budget_init(&b);
	b.begun_ns += set_back_ns[_i];
	ck_assert_uint_eq(ship_budget_every_ns(&b, &how), MINUTE_NS);
	b.begun_mono_ns -= 11 * MINUTE_NS;
	b.begun_ns -= 11 * MINUTE_NS;
	ck_assert_uint_eq(ship_budget_every_ns(&b, &how), 10 * MINUTE_NS);
}
END_TEST

START_TEST(short_sums_are_for_large_machines)
{
	const struct ship_how how = { .bytes = BYTES };
	uint64_t last = UINT64_MAX;

	for (uint32_t nr_cpus = 1; nr_cpus < 1000; nr_cpus++) {
		const uint64_t length = ship_budget_length(&how, nr_cpus);

		ck_assert_uint_le(length, last);
		ck_assert_uint_eq(DAY_NS % length, 0);
		last = length;
	}
	ck_assert_uint_eq(last, NSEC_PER_HOUR);
	ck_assert_uint_eq(ship_budget_length(&(struct ship_how){ .bytes = 1024 }, 1),
			  DAY_NS);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("budget_bytes");
	TCase *tc = tcase_create("budget_bytes");

	tcase_add_loop_test(tc, the_sums_of_a_day_fit, 0, (int)NR(machines));
	tcase_add_loop_test(tc, the_first_epochs_are_whole, 0, (int)NR(machines));
	tcase_add_test(tc, whole_epochs_of_a_batch_add_up);
	tcase_add_test(tc, what_is_set_stays);
	tcase_add_test(tc, there_are_few_numbers);
	tcase_add_loop_test(tc, a_batch_that_failed_does_not_change_the_next_one, 0,
			    (int)NR(sent_of_failed));
	tcase_add_test(tc, looks_are_often_enough_for_the_alert);
	tcase_add_loop_test(tc, looks_for_nothing_get_rare, 0, (int)NR(set_back_ns));
	tcase_add_test(tc, short_sums_are_for_large_machines);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
