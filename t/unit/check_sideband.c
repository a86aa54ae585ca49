/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_sideband.c - rings of mapping events that overrun, and events that stop
 *
 * The events are real ones, but of this process only, so that no privilege is needed. A
 * test may replace the clock and the counts of the events.
 */
#include "config.h"

#include "daemon/mappings/sideband.h"

#include <sched.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/times.h"
#include "daemon/os/perfev.h"
#include "t/unit/unit.h"

#define NR_CPUS 3 /* of the tests with replaced counts */

static int event_fd[NR_CPUS];
static uint64_t fake_ns; /* 0: the clock and the counts are real */
static uint64_t enabled_ns[NR_CPUS];
static uint64_t slow_ns[NR_CPUS]; /* how long a look at this CPU takes */

int __real_perfev_open(struct perf_event_attr *attr, pid_t pid, int cpu);
int __wrap_perfev_open(struct perf_event_attr *attr, pid_t pid, int cpu);
uint64_t __real_time_mono_ns(void);
uint64_t __wrap_time_mono_ns(void);
ssize_t __real_read(int fd, void *buf, size_t size);
ssize_t __wrap_read(int fd, void *buf, size_t size);

int __wrap_perfev_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	const int fd =
		__real_perfev_open(attr, pid < 0 ? getpid() : pid, fake_ns ? -1 : cpu);

	if (fd >= 0 && cpu < NR_CPUS)
		event_fd[cpu] = fd;
	return fd;
}

uint64_t __wrap_time_mono_ns(void)
{
	return fake_ns ? fake_ns : __real_time_mono_ns();
}

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	uint64_t *count = buf;

	for (int cpu = 0; fake_ns && cpu < NR_CPUS; cpu++) {
		if (fd != event_fd[cpu])
			continue;
		memset(buf, 0, size);
		count[1] = enabled_ns[cpu];
		fake_ns += slow_ns[cpu];
		return (ssize_t)size;
	}
	return __real_read(fd, buf, size);
}

static struct sideband_config cfg;

static void setup(void)
{
	cfg = (struct sideband_config){ .procmap = procmap_new(),
					.images = images_new(NULL),
					.target = { .pid = -1 },
					.epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	ck_assert_ptr_nonnull(cfg.procmap);
	ck_assert_ptr_nonnull(cfg.images);
	ck_assert_int_ge(cfg.epoll_fd, 0);
}

static void teardown(void)
{
	procmap_free(cfg.procmap);
	images_free(cfg.images);
	close(cfg.epoll_fd);
}

/* Returns NULL where the kernel refuses events. */
static struct sideband *open_sideband(const struct cpus *cpus)
{
	struct sideband *sb = NULL;
	const int err = sideband_open(&cfg, cpus, &sb);

	if (err)
		fprintf(stderr, "no events, so nothing is tested: error %d\n", err);
	return sb;
}

static bool counts_lost_records(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
		.read_format = PERF_FORMAT_LOST,
	};
	const int fd = __real_perfev_open(&attr, getpid(), -1);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* More records than the largest ring can have, all on one CPU. */
static void overrun_ring(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (int i = 0; i < 65536; i++) {
		void *p = mmap(NULL, page, PROT_READ | PROT_EXEC,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		ck_assert(p != MAP_FAILED && !munmap(p, page));
	}
}

/* No later record of that CPU reports the loss, and no sweep looks at the events. */
START_TEST(a_reading_notices_what_its_ring_has_lost)
{
	struct cpus online;
	struct sideband *sb;
	cpu_set_t one;

	if (!counts_lost_records())
		return;
	ck_assert_int_eq(cpus_online(&online), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
	sb = open_sideband(&online);
	if (!sb)
		return;
	ck_assert(!sideband_read(sb));
	overrun_ring();
	ck_assert(sideband_read(sb));
	ck_assert_uint_gt(sideband_nr_lost(sb), 0);
	sideband_close(sb);
}
END_TEST

/*
 * Of the time between two looks, by CLOCK_MONOTONIC, the part for which each event was
 * enabled. A look may be slow.
 */
static const struct {
	double seconds, enabled[NR_CPUS], slow[NR_CPUS];
	bool stopped[NR_CPUS];
} looks[] = {
	{ 10, { 1, 1, 1 }, { 0 }, { 0 } },
	{ 10, { 1, 0.5, 1 }, { 0 }, { 0, 1, 0 } },
	{ 10, { 0.94, 1, 0 }, { 0 }, { 1, 0, 1 } },
	{ 1, { 1, 0.9, 0.85 }, { 0 }, { 0, 0, 1 } },
	{ 60, { 1, 1, 0.99 }, { 0 }, { 0, 0, 1 } },
	/* the clock is adjusted */
	{ 10, { 0.92, 0.92, 0.92 }, { 0 }, { 0 } },
	{ 10, { 0.92, 0.92, 0.85 }, { 0 }, { 0, 0, 1 } },
	{ 60, { 0.92, 0.92, 0.92 }, { 0 }, { 0 } },
	{ 3600, { 0.9995, 0.9995, 0.9995 }, { 0 }, { 0 } },
	{ 3600, { 1.08, 1.08, 1.08 }, { 0 }, { 0 } },
	/* the clock of one CPU jumps */
	{ 10, { 1, 50, 1 }, { 0 }, { 0 } },
	/* CPUs went and came back one after another */
	{ 10, { 0.2, 0.5, 0.7 }, { 0 }, { 1, 1, 1 } },
	/* the event was read at the end of a long look */
	{ 10, { 1, 1.4, 1.4 }, { 0, 4, 0 }, { 0 } },
	{ 10, { 1, 1, 1.4 }, { 0, 4, 0 }, { 0 } }, /* or at its beginning */
	{ 10, { 0.92, 1.288, 1.288 }, { 0, 4, 0 }, { 0 } },
};

/* Events that are opened on all CPUs here, because not all need to be online. */
START_TEST(an_event_has_stopped_if_others_go_on)
{
	struct cpus cpus = { .online = { true, true, true },
			     .nr = NR_CPUS,
			     .highest = NR_CPUS - 1 };
	const double ns = looks[_i].seconds * (double)NSEC_PER_SEC;
	struct sideband *sb;

	fake_ns = NSEC_PER_SEC;
	sb = open_sideband(&cpus);
	if (!sb)
		return;
	for (int round = 0; round < 2; round++) {
		fake_ns += (uint64_t)ns;
		for (int cpu = 0; cpu < NR_CPUS; cpu++) {
			const double part = round ? looks[_i].enabled[cpu] : 1;

			enabled_ns[cpu] += (uint64_t)(ns * part);
			slow_ns[cpu] = round ? (uint64_t)(looks[_i].slow[cpu] *
							  (double)NSEC_PER_SEC)
					     : 0;
		}
		sideband_look_at_events(sb);
		if (!round) {
			sideband_leave_out_stopped(sb, &cpus);
			ck_assert_int_eq(cpus.nr, NR_CPUS);
		}
	}
	sideband_leave_out_stopped(sb, &cpus);
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		ck_assert_msg(cpus.online[cpu] == !looks[_i].stopped[cpu], "CPU %d",
			      cpu);
	sideband_close(sb);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("sideband");
	TCase *tc = tcase_create("sideband");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_reading_notices_what_its_ring_has_lost);
	tcase_add_loop_test(tc, an_event_has_stopped_if_others_go_on, 0, NR(looks));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
