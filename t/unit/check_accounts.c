/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "daemon/procmap/accounts.h"
#include "t/unit/unit.h"

#define MAX_RANGES    100000
#define MAX_PROCESSES 1000

static struct accounts as;

static void setup(void)
{
	as = (struct accounts){ .max_ranges = MAX_RANGES,
				.max_processes = MAX_PROCESSES };
}

/* I2, by turns: k users that want everything. */
START_TEST(users_that_want_all_processes_leave_some)
{
	const size_t k = (size_t)_i;
	const double share = (double)ACCOUNT_FACTOR / (double)(k * ACCOUNT_FACTOR + 1);
	struct account *a[20], *late = accounts_get(&as, 1000);

	for (size_t i = 0; i < k; i++)
		a[i] = accounts_get(&as, (uint32_t)i);
	for (int n = 0; n < 2 * MAX_PROCESSES; n++) {
		for (size_t i = 0; i < k; i++) {
			if (account_has_place(&as, a[i]))
				account_charge_process(&as, a[i], 1);
		}
	}
	for (size_t i = 0; i < k; i++)
		ck_assert_double_eq_tol((double)a[i]->nr_processes,
					share * MAX_PROCESSES, ACCOUNT_FACTOR + 1.0);
	ck_assert(account_has_place(&as, late)); /* for one who wants less */
	for (size_t i = 0; i < k; i++) {
		account_charge_process(&as, a[i], -(int)a[i]->nr_processes);
		account_put(&as, a[i]);
	}
	account_put(&as, late);
	ck_assert_uint_eq(as.nr_processes, 0);
	ck_assert_uint_eq(as.by_uid.nr, 0);
	accounts_fini(&as);
}
END_TEST

START_TEST(nobody_has_only_the_bounds_of_all)
{
	ck_assert(accounts_have_room(&as, MAX_RANGES));
	account_charge_ranges(&as, NULL, MAX_RANGES);
	ck_assert(!accounts_have_room(&as, 1));
	for (int i = 0; i < MAX_PROCESSES; i++) {
		ck_assert(account_has_place(&as, NULL));
		account_charge_process(&as, NULL, 1);
	}
	ck_assert(!account_has_place(&as, NULL));
	ck_assert_ptr_null(accounts_largest(&as));
	accounts_fini(&as);
}
END_TEST

START_TEST(the_largest_is_who_has_most)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct account *a[4], *largest;

	for (uint32_t i = 0; i < NR(a); i++)
		a[i] = accounts_get(&as, i);
	for (int round = 0; round < 1000; round++) {
		account_charge_ranges(&as, a[unit_random(&state) % NR(a)],
				      1 + (ptrdiff_t)(unit_random(&state) % 10));
		largest = accounts_largest(&as);
		for (uint32_t i = 0; i < NR(a); i++)
			ck_assert_msg(a[i]->nr_ranges <= largest->nr_ranges,
				      "seed %llu round %d", (unsigned long long)seed,
				      round);
	}
	for (uint32_t i = 0; i < NR(a); i++) {
		account_charge_ranges(&as, a[i], -(ptrdiff_t)a[i]->nr_ranges);
		account_put(&as, a[i]);
	}
	ck_assert_uint_eq(as.nr_ranges, 0);
	accounts_fini(&as);
}
END_TEST

static const struct {
	uint64_t records[3], ns, share_ns, above;
} costs[] = {
	{ { 10, 10, 10 }, 3000, 1000, 0 },    /* as much as each may */
	{ { 100, 0, 0 }, 3000, 1000, 2000 },  /* one has it all */
	{ { 90, 5, 5 }, 10000, 1000, 8000 },  /* the small ones count in full */
	{ { 50, 50, 0 }, 10000, 1000, 8000 }, /* two are above */
	{ { 0, 0, 0 }, 10000, 1000, 0 },      /* nobody's doing */
};

START_TEST(what_one_user_makes_counts_up_to_a_share)
{
	struct account *a[3];

	for (uint32_t i = 0; i < NR(a); i++) {
		a[i] = accounts_get(&as, i);
		for (uint64_t n = 0; n < costs[_i].records[i]; n++)
			account_note_record(&as, a[i]);
	}
	ck_assert_uint_eq(accounts_take_excess(&as, costs[_i].ns, costs[_i].share_ns),
			  costs[_i].above);
	ck_assert_uint_eq(accounts_take_excess(&as, costs[_i].ns, costs[_i].share_ns),
			  0);
	for (uint32_t i = 0; i < NR(a); i++)
		account_put(&as, a[i]);
	accounts_fini(&as);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("accounts");
	TCase *tc = tcase_create("accounts");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_set_timeout(tc, 600);
	tcase_add_loop_test(tc, users_that_want_all_processes_leave_some, 1, 20);
	tcase_add_test(tc, nobody_has_only_the_bounds_of_all);
	tcase_add_test(tc, the_largest_is_who_has_most);
	tcase_add_loop_test(tc, what_one_user_makes_counts_up_to_a_share, 0, NR(costs));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
