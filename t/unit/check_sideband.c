/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_sideband.c - rings of mapping events that overrun
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

static Suite *make_suite(void)
{
	Suite *s = suite_create("sideband");
	TCase *tc = tcase_create("sideband");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_reading_notices_what_its_ring_has_lost);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
