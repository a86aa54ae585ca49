/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/control/askers.h"

#include "base/times.h"
#include "t/unit/unit.h"

#define COST_NS (100000)
#define STEP_NS (500000)

static struct askers as;

/*
 * Each of nr users asks whenever it may, for 20 seconds; what they got of the time. All
 * the bursts that there are at first are in it.
 */
static double share(int nr, double *least)
{
	static uint64_t spent[ASKERS_MAX * 2];
	const uint64_t begun_ns = NSEC_PER_SEC, end_ns = begun_ns + 20 * NSEC_PER_SEC;
	uint64_t all = 0, min = UINT64_MAX, rng = unit_seed() | 1, turn;

	memset(spent, 0, sizeof(spent));
	as = (struct askers){ .nr = 0 };
	for (uint64_t now_ns = begun_ns; now_ns < end_ns; now_ns += STEP_NS) {
		turn = unit_random(&rng);
		for (int i = 0; i < nr; i++) {
			int user = (int)((turn + (uint64_t)i) % (uint64_t)nr);
			struct asker *a = askers_get(&as, (uid_t)user + 1000, now_ns);

			if (!askers_may(&as, a, now_ns))
				continue;
			askers_spend(&as, a, COST_NS);
			spent[user] += COST_NS;
		}
	}
	for (int i = 0; i < nr; i++) {
		all += spent[i];
		min = spent[i] < min ? spent[i] : min;
	}
	*least = (double)min / (double)(end_ns - begun_ns);
	return (double)all / (double)(end_ns - begun_ns);
}

static const struct {
	int nr;
	double from, to; /* together */
	double least;    /* each */
} crowds[] = {
	{ 1, 0.010, 0.016, 0.010 },
	{ 2, 0.020, 0.031, 0.009 },
	{ 4, 0.020, 0.031, 0.003 },
	{ ASKERS_MAX * 2, 0.020, 0.031, 0 }, /* more than are remembered */
};

START_TEST(users_have_their_share_and_all_of_them_another)
{
	double least, all = share(crowds[_i].nr, &least);

	ck_assert_double_ge(all, crowds[_i].from);
	ck_assert_double_le(all, crowds[_i].to);
	ck_assert_double_ge(least, crowds[_i].least);
}
END_TEST

START_TEST(a_user_with_clients_is_not_forgotten)
{
	struct asker *first;

	as = (struct askers){ .nr = 0 };
	first = askers_get(&as, 1, 1);
	first->nr_clients = 1;
	for (uid_t uid = 2; uid < 3 * ASKERS_MAX; uid++)
		ck_assert_ptr_ne(askers_get(&as, uid, uid), first);
	ck_assert_ptr_eq(askers_get(&as, 1, 1000), first);
	ck_assert_int_eq(first->nr_clients, 1);
	for (int i = 0; i < as.nr; i++)
		as.asker[i].nr_clients = 1;
	ck_assert_ptr_null(askers_get(&as, 5000, 2000));
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("askers");
	TCase *tc = tcase_create("askers");

	tcase_add_loop_test(tc, users_have_their_share_and_all_of_them_another, 0,
			    NR(crowds));
	tcase_add_test(tc, a_user_with_clients_is_not_forgotten);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
