/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/procmap/threadmap.h"
#include "t/unit/unit.h"

#define NR_TIDS   6
#define NR_EVENTS 400

/* What happened to numbers, in the order of time: the oracle reads it from the start.
 */
struct event {
	enum { THREAD, PROCESS, COMM, EXIT } what;
	uint32_t tid, tgid;
	uint64_t when;
	char comm[8];
};

struct found {
	int err;
	uint32_t tgid;
	char comm[8];
};

/*
 * The tasks of a number in an interval: each holds it from its begin to the next one's.
 * What a process holds is unknown to the map, but it ends what a thread held.
 */
static struct found look_up(const struct event *e, size_t nr, uint32_t tid,
			    uint64_t from_ns, uint64_t to_ns)
{
	struct found out = { .err = -ENOENT };
	int holders = 0;

	for (size_t i = 0; i < nr; i++) {
		uint64_t end = UINT64_MAX;
		char comm[8];

		if (e[i].tid != tid || (e[i].what != THREAD && e[i].what != PROCESS))
			continue;
		strcpy(comm, e[i].comm);
		for (size_t k = i + 1; k < nr && end == UINT64_MAX; k++) {
			if (e[k].tid != tid)
				continue;
			if (e[k].what == THREAD || e[k].what == PROCESS)
				end = e[k].when;
			else if (e[k].what == COMM)
				strcpy(comm, e[k].comm);
		}
		if (e[i].when > to_ns || end <= from_ns)
			continue;
		holders++;
		if (e[i].what == THREAD) {
			out.err = end <= to_ns ? -EEXIST : 0;
			out.tgid = e[i].tgid;
			strcpy(out.comm, comm);
		}
	}
	if (holders > 1 && out.err != -ENOENT)
		out.err = -EEXIST;
	return out;
}

static struct event random_event(uint64_t *state, uint64_t when)
{
	struct event e = { .what = unit_random(state) % 4,
			   .tid = 100 + unit_random(state) % NR_TIDS,
			   .tgid = 200 + unit_random(state) % 3,
			   .when = when };

	snprintf(e.comm, sizeof(e.comm), "c%d", (int)(unit_random(state) % 100));
	return e;
}

static void apply(struct threadmap *tm, const struct event *e)
{
	switch (e->what) {
	case THREAD:
		ck_assert_int_eq(threadmap_fork(tm, e->tid, e->tgid, e->comm, e->when),
				 0);
		break;
	case PROCESS:
		threadmap_process(tm, e->tid, e->when);
		break;
	case COMM:
		threadmap_comm(tm, e->tid, e->comm);
		break;
	case EXIT:
		threadmap_exit(tm, e->tid, e->when);
		break;
	}
}

/* A number that a process had before a thread is told of as the thread's alone. */
static bool agrees(const struct found *want, int err, const struct thread *t)
{
	if (want->err == -EEXIST && !err)
		return t->tgid == want->tgid;
	return want->err == err &&
	       (err || (t->tgid == want->tgid && !strcmp(t->comm, want->comm)));
}

START_TEST(a_number_is_of_the_thread_that_held_it)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct event event[NR_EVENTS];
	struct threadmap tm = { 0 };

	for (size_t i = 0; i < NR_EVENTS; i++) {
		event[i] = random_event(&state, 10 + 10 * i);
		apply(&tm, &event[i]);
		for (int k = 0; k < 20; k++) {
			const uint32_t tid = 100 + unit_random(&state) % NR_TIDS;
			const uint64_t from = unit_random(&state) % (10 * i + 20),
				       to = from + unit_random(&state) % 30;
			const struct found want = look_up(event, i + 1, tid, from, to);
			const struct thread *t = NULL;
			const int err = threadmap_find(&tm, tid, from, to, &t);

			ck_assert_msg(agrees(&want, err, t),
				      "seed %llu, event %zu, %u in %d..%d: %d, %d",
				      (unsigned long long)seed, i, tid, (int)from,
				      (int)to, err, want.err);
		}
	}
	threadmap_fini(&tm);
}
END_TEST

START_TEST(a_scan_finds_what_lives_and_ends_what_does_not)
{
	const struct thread *t;
	struct threadmap tm = { 0 };

	threadmap_begin_scan(&tm);
	ck_assert_int_eq(threadmap_found(&tm, 7, 5, "one"), 0);
	ck_assert_int_eq(threadmap_found(&tm, 8, 5, "two"), 0);
	threadmap_end_scan(&tm, 100);
	ck_assert_int_eq(threadmap_find(&tm, 7, 1, 2, &t), 0);
	ck_assert_uint_eq(t->tgid, 5);
	threadmap_begin_scan(&tm);
	ck_assert_int_eq(threadmap_found(&tm, 8, 5, "renamed"), 0);
	threadmap_end_scan(&tm, 200);
	ck_assert_int_eq(threadmap_find(&tm, 8, 150, 150, &t), 0);
	ck_assert_str_eq(t->comm, "renamed");
	threadmap_forget(&tm, 200);
	ck_assert_int_eq(threadmap_find(&tm, 7, 150, 150, &t), 0);
	threadmap_forget(&tm, 201);
	ck_assert_int_eq(threadmap_find(&tm, 7, 150, 150, &t), -ENOENT);
	ck_assert_int_eq(threadmap_find(&tm, 8, 150, 150, &t), 0);
	threadmap_fini(&tm);
}
END_TEST

START_TEST(a_record_that_comes_after_the_scan_is_of_the_same_thread)
{
	const struct thread *t;
	struct threadmap tm = { 0 };

	threadmap_begin_scan(&tm);
	ck_assert_int_eq(threadmap_found(&tm, 7, 5, "one"), 0);
	threadmap_end_scan(&tm, 100);
	ck_assert_int_eq(threadmap_fork(&tm, 7, 5, "one", 90), 0);
	ck_assert_int_eq(threadmap_find(&tm, 7, 80, 110, &t), 0);
	ck_assert_uint_eq(t->since, 90);
	/* of another process it is another one */
	ck_assert_int_eq(threadmap_fork(&tm, 7, 6, "two", 120), 0);
	ck_assert_int_eq(threadmap_find(&tm, 7, 110, 130, &t), -EEXIST);
	threadmap_fini(&tm);
}
END_TEST

START_TEST(threads_beyond_the_bound_are_refused_and_counted)
{
	const struct thread *t;
	struct threadmap tm = { 0 };

	for (uint32_t i = 0; i < THREADMAP_MAX + 3; i++)
		ck_assert_int_eq(threadmap_fork(&tm, i + 1, 1, "many", 5), 0);
	ck_assert_uint_eq(tm.nr_refused, 3);
	ck_assert_int_eq(threadmap_find(&tm, THREADMAP_MAX, 5, 5, &t), 0);
	ck_assert_int_eq(threadmap_find(&tm, THREADMAP_MAX + 1, 5, 5, &t), -ENOENT);
	threadmap_fini(&tm);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("threadmap");
	TCase *tc = tcase_create("core");

	tcase_add_test(tc, a_number_is_of_the_thread_that_held_it);
	tcase_add_test(tc, a_scan_finds_what_lives_and_ends_what_does_not);
	tcase_add_test(tc, a_record_that_comes_after_the_scan_is_of_the_same_thread);
	tcase_add_test(tc, threads_beyond_the_bound_are_refused_and_counted);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
