/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "db/profile/stream_account.h"

#include <errno.h>
#include <inttypes.h>

#include "db/store/flush_merge.h"
#include "t/unit/unit.h"

/* At least 1 each, so that every term can be made less. */
static struct stream_account draw(uint64_t *state)
{
	struct stream_account a = { .stored = 1 + unit_random(state) % 1000000,
				    .pending = 1 + unit_random(state) % 1000 };

	a.received = a.stored + a.pending;
	for (int l = 0; l < ACCOUNT_LOSSES; l++) {
		a.lost[l] = 1 + unit_random(state) % 100;
		a.received += a.lost[l];
	}
	return a;
}

START_TEST(what_is_received_is_stored_lost_or_pending)
{
	uint64_t seed = unit_seed() + (uint64_t)_i, state = seed;
	const struct stream_account a = draw(&state);

	ck_assert_msg(account_adds_up(&a), "seed %" PRIu64, seed);
	ck_assert_uint_eq(account_nr_lost(&a), a.received - a.stored - a.pending);
}
END_TEST

START_TEST(a_change_of_any_one_term_is_seen)
{
	static const uint64_t by[] = { 1, UINT64_MAX, 1ull << 63, 1ull << 32 };
	uint64_t seed = unit_seed() + (uint64_t)_i, state = seed;
	struct stream_account a = draw(&state);
	uint64_t *term[3 + ACCOUNT_LOSSES] = { &a.received, &a.stored, &a.pending };

	for (int l = 0; l < ACCOUNT_LOSSES; l++)
		term[3 + l] = &a.lost[l];
	for (size_t t = 0; t < NR(term); t++) {
		for (size_t i = 0; i < NR(by); i++) {
			*term[t] += by[i];
			ck_assert_msg(!account_adds_up(&a),
				      "seed %" PRIu64 ", term %zu by %" PRIu64, seed, t,
				      by[i]);
			*term[t] -= by[i];
		}
	}
	ck_assert(account_adds_up(&a));
}
END_TEST

/* Sums that are right modulo 2^64 alone. */
START_TEST(terms_that_wrap_do_not_add_up)
{
	uint64_t seed = unit_seed() + (uint64_t)_i, state = seed;
	struct stream_account a = draw(&state);
	const uint64_t far = 1ull << 63 | unit_random(&state);

	a.stored += far;
	a.lost[unit_random(&state) % ACCOUNT_LOSSES] -= far;
	ck_assert_msg(!account_adds_up(&a), "seed %" PRIu64, seed);
}
END_TEST

START_TEST(no_more_is_received_than_a_database_can_hold)
{
	struct stream_account a = { .received = INT64_MAX, .stored = INT64_MAX };

	ck_assert(account_adds_up(&a));
	a.received++;
	a.stored++;
	ck_assert(!account_adds_up(&a));
}
END_TEST

#define MAX_LOSSES 80 /* more than an account has names */

/* A sum that is right modulo 2^64 alone, because two of its losses are too large. */
START_TEST(losses_of_a_flush_that_wrap_are_refused)
{
	uint64_t seed = unit_seed() + (uint64_t)_i, state = seed;
	struct flush_loss loss[MAX_LOSSES];
	const size_t nr = 2 + ACCOUNT_LOSSES +
			  unit_random(&state) % (MAX_LOSSES - ACCOUNT_LOSSES - 1),
		     one = unit_random(&state) % (nr - ACCOUNT_LOSSES),
		     other = one + (_i % 2 ? 1 : ACCOUNT_LOSSES);
	struct flush_stream stream = { .desc.event = "cycles" };
	const struct flush f = {
		.streams = &stream, .nr_streams = 1, .losses = loss, .nr_losses = nr
	};

	for (size_t i = 0; i < nr; i++) {
		loss[i] = (struct flush_loss){ 0, LOSS_LOST, "lost",
					       unit_random(&state) % 1000 };
		stream.received += loss[i].n;
	}
	ck_assert_msg(!flush_check(&f, "db"), "seed %" PRIu64, seed);
	loss[one].n += 1ull << 63;
	loss[other].n += 1ull << 63;
	ck_assert_msg(flush_check(&f, "db") == -EINVAL, "seed %" PRIu64, seed);
}
END_TEST

static struct profile *profile_of(uint64_t n)
{
	struct profile *p = profile_new();

	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(profile_add(p, &(struct count){ .offset = 16, .n = n }), 0);
	return p;
}

/* The same, of what two profiles count. */
START_TEST(profiles_of_a_flush_that_wrap_are_refused)
{
	const uint64_t far = _i ? 1ull << 63 : 0;
	const struct flush_stream stream = { .desc.event = "cycles", .received = 7 };
	const struct image_desc image = { .name = "/bin/a" };
	const struct flush_profile profile[] = {
		{ .image = &image, .context = "", .profile = profile_of(far + 3) },
		{ .image = &image, .context = "", .profile = profile_of(far + 4) },
	};
	const struct flush f = { .streams = &stream,
				 .nr_streams = 1,
				 .profiles = profile,
				 .nr_profiles = 2 };

	ck_assert_int_eq(flush_check(&f, "db"), _i ? -EINVAL : 0);
	profile_free(profile[0].profile);
	profile_free(profile[1].profile);
}
END_TEST

static struct stack_tree *tree_of(uint64_t n)
{
	const struct stack_frame frame = { 0, 16 };
	struct stack_tree *t = stack_tree_new(STACK_MAX_NODES);

	ck_assert_ptr_nonnull(t);
	ck_assert_int_eq(stack_tree_add(t, &frame, 1, STACK_ENDED, n), 0);
	return t;
}

/* The same, of the stacks of three commands: no tree counts more than INT64_MAX. */
START_TEST(stacks_of_a_flush_that_wrap_are_refused)
{
	const uint64_t far = _i ? INT64_MAX : 0;
	const struct flush_stream stream = { .desc.event = "cycles",
					     .received = _i ? 7 : 9 };
	struct stack_tree *a = tree_of(far), *b = tree_of(far), *c = tree_of(9);
	const struct flush_tree tree[] = { { 0, "", a },
					   { 0, "comm=cc1", b },
					   { 0, "comm=make", c } };
	const struct flush_stacks stacks = { .streams = { &stream, 1, NULL, 0 },
					     .trees = tree,
					     .nr_trees = 3 };
	const struct flush f = { .stacks = &stacks };

	ck_assert_int_eq(flush_check(&f, "db"), _i ? -EINVAL : 0);
	stack_tree_free(a);
	stack_tree_free(b);
	stack_tree_free(c);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("stream_account");
	TCase *t = tcase_create("stream_account");

	tcase_add_loop_test(t, what_is_received_is_stored_lost_or_pending, 0, 100);
	tcase_add_loop_test(t, a_change_of_any_one_term_is_seen, 0, 100);
	tcase_add_loop_test(t, terms_that_wrap_do_not_add_up, 0, 100);
	tcase_add_test(t, no_more_is_received_than_a_database_can_hold);
	tcase_add_loop_test(t, losses_of_a_flush_that_wrap_are_refused, 0, 100);
	tcase_add_loop_test(t, profiles_of_a_flush_that_wrap_are_refused, 0, 2);
	tcase_add_loop_test(t, stacks_of_a_flush_that_wrap_are_refused, 0, 2);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
