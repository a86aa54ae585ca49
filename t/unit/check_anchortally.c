/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose turn a breakpoint is, what a visit tells, and breakpoints in a program. */
#include "config.h"

#include "daemon/anchortally.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/breakpoint.h"
#include "t/unit/unit.h"

#define TGID 7
#define BASE 0x400000

static struct known_image image, other;

/* A process that has the image at BASE. */
static struct process *map_image(struct procmap *pm)
{
	const struct range r = { .start = BASE,
				 .end = BASE + 0x1000,
				 .bias = 0x2000 - (uint64_t)BASE,
				 .since = 1,
				 .value = &image };

	procmap_fork(pm, TGID, 1, 1);
	procmap_map(pm, TGID, &r);
	return procmap_find(pm, TGID, 0, 2);
}

static void see(struct anchortally *t, struct known_image *where, uint64_t offset,
		const char *comm, int n)
{
	struct anchor_place like = { .image = where,
				     .mapped = where,
				     .offset = offset };

	strncpy(like.comm, comm, sizeof(like.comm) - 1);
	while (n--)
		anchortally_see(t, &like);
}

START_TEST(turns_follow_what_was_seen)
{
	struct anchortally *t = anchortally_new();
	struct procmap *pm = procmap_new();
	const struct process *p = map_image(pm);
	int often = 0, seldom = 0;
	uint64_t address;

	see(t, &image, 0x2010, "a", 1600);
	see(t, &image, 0x2020, "a", 100);
	see(t, &image, 0x2030, "b", 5000); /* another command's */
	see(t, &image, 0x9000, "a", 5000); /* not mapped here */
	see(t, &other, 0x2040, "a", 5000);
	for (int i = 0; i < 500; i++) {
		const struct anchor_place *at = anchortally_choose(t, p, "a", &address);

		ck_assert_ptr_nonnull(at);
		ck_assert_uint_eq(address, at->offset - 0x2000 + BASE);
		often += at->offset == 0x2010;
		seldom += at->offset == 0x2020;
	}
	ck_assert_int_eq(often + seldom, 500);
	ck_assert_int_ge(seldom, 95); /* the square root of 16 is 4 */
	ck_assert_int_le(seldom, 105);
	ck_assert_ptr_null(anchortally_choose(t, p, "c", &address));
	procmap_free(pm);
	anchortally_free(t);
}
END_TEST

static const struct {
	uint64_t running_ns, hits;
	enum anchor_loss want;
	double rate;
} visits[] = {
	{ 1000000, 10, ANCHOR_NR_LOSSES, 10 / 950e-6 },
	{ 1000000, 0, ANCHOR_NR_LOSSES, 0 }, /* that it was not hit says something */
	{ 99999, 0, ANCHOR_IDLE, 0 },
	{ 49000, 9, ANCHOR_TOO_FREQUENT, 0 },
	{ 50000, 11, ANCHOR_TOO_FREQUENT, 0 },
};

START_TEST(a_visit_is_a_rate_or_a_loss)
{
	struct anchortally *t = anchortally_new();
	struct procmap *pm = procmap_new();
	struct anchor_place *place;
	struct anchorset *set;
	uint64_t address;

	see(t, &image, 0x2010, "a", 1);
	place = anchortally_choose(t, map_image(pm), "a", &address);
	ck_assert_int_eq(anchortally_visit(t, place, 2000000, visits[_i].running_ns,
					   visits[_i].hits, 5000),
			 visits[_i].want);
	set = anchortally_list(t);
	ck_assert_uint_eq(set->flush.visits, 1);
	ck_assert_uint_eq(set->flush.nr_anchors, visits[_i].want == ANCHOR_NR_LOSSES);
	ck_assert_int_eq(anchors_check_flush(&set->flush, 1, "test"), 0);
	if (set->flush.nr_anchors) {
		const struct anchor_sums *s = &set->flush.anchor[0].sums;

		ck_assert_double_eq_tol(s->rate, visits[_i].rate, 1e-6);
		ck_assert_uint_eq(s->hit_ns, 5000 * visits[_i].hits);
		ck_assert_uint_eq(s->enabled_ns, 2000000);
	}
	/* It is told of once, and what was seen once is forgotten. */
	anchortally_took(t);
	ck_assert_uint_eq(t->places.nr, 0);
	ck_assert_uint_eq(t->before.visits, 1);
	anchorset_free(set);
	set = anchortally_list(t);
	ck_assert_uint_eq(set->flush.visits, 0);
	anchorset_free(set);
	procmap_free(pm);
	anchortally_free(t);
}
END_TEST

START_TEST(there_are_never_more_places_than_the_limit)
{
	struct anchortally *t = anchortally_new();

	for (int i = 0; i < 2 * ANCHORTALLY_PLACES; i++)
		see(t, &image, i, "a", 1);
	ck_assert_uint_eq(t->places.nr, ANCHORTALLY_PLACES);
	anchortally_free(t);
}
END_TEST

/* ---- breakpoints ---- */

__attribute__((noinline)) static void called(volatile uint64_t *n)
{
	(*n)++;
}

/* Calls it for ever. */
static pid_t run_child(volatile uint64_t *n)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	while (!pid)
		called(n);
	return pid;
}

static bool can_break(void)
{
	double ns;

	return !breakpoint_measure(32, &ns) && ns > 0;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

START_TEST(hits_are_bounded_by_the_kernel)
{
	volatile uint64_t *n = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct breakpoint_counts c = { 0 };
	uint64_t before;
	pid_t pid;
	int fd;

	if (!can_break())
		return;
	pid = run_child(n);
	ck_assert_int_eq(breakpoint_open(pid, (uintptr_t)called, 20, &fd), 0);
	before = *n;
	while (*n < before + 100000)
		usleep(1000);
	ck_assert_int_eq(breakpoint_close(fd, &c), 0);
	ck_assert_uint_ge(c.hits, 20);
	ck_assert_uint_le(c.hits, 22);
	ck_assert_uint_gt(c.running_ns, 0);
	end_child(pid);
	ck_assert_int_eq(breakpoint_open(pid, (uintptr_t)called, 20, &fd), -ESRCH);
	munmap((void *)n, 4096);
}
END_TEST

START_TEST(debuggers_keep_theirs)
{
	volatile uint64_t *n = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int fd[3], err = 0, nr = 0;
	pid_t pid;

	if (!can_break())
		return;
	pid = run_child(n);
	while (nr < 3 && !(err = breakpoint_open(pid, (uintptr_t)called, 1, &fd[nr])))
		nr++;
	ck_assert_int_eq(err, -ENOSPC);
	while (nr--)
		close(fd[nr]);
	ck_assert_int_eq(ptrace(PTRACE_SEIZE, pid, NULL, NULL), 0);
	ck_assert_int_eq(breakpoint_open(pid, (uintptr_t)called, 1, &fd[0]), -EBUSY);
	end_child(pid);
	munmap((void *)n, 4096);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("anchortally");
	TCase *tcase = tcase_create("tally"), *real = tcase_create("breakpoints");

	tcase_add_test(tcase, turns_follow_what_was_seen);
	tcase_add_loop_test(tcase, a_visit_is_a_rate_or_a_loss, 0, NR(visits));
	tcase_add_test(tcase, there_are_never_more_places_than_the_limit);
	tcase_set_timeout(real, 60);
	tcase_add_test(real, hits_are_bounded_by_the_kernel);
	tcase_add_test(real, debuggers_keep_theirs);
	suite_add_tcase(suite, tcase);
	suite_add_tcase(suite, real);
	return suite;
}

UNIT_MAIN(make_suite)
