/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table in the running kernel: real samples, real flips. Needs privileges. */
#include "config.h"

#include "daemon/collect/bpf_watch.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/collect/bpf_grace.h"
#include "daemon/os/cpus.h"
#include "kmod/table.h"
#include "t/bpf_sampler.h"
#include "t/unit/unit.h"

#define PERIOD_NS 100000 /* of cpu-clock: 10,000 samples per second and CPU */
#define PAGES     64     /* that a worker touches, and gives back */
#define FLIP_FOR  (NSEC_PER_SEC * 2 / 5)
#define ENOUGH    1000 /* samples of an event */

/* Work with many addresses, in the kernel and out of it. */
static void *work(void *arg)
{
	const bool *stop = arg;
	uint64_t seed = unit_seed(), numbers[512];

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		for (size_t i = 0; i < NR(numbers); i++)
			numbers[i] = unit_random(&seed);
		seed ^= numbers[getppid() % NR(numbers)];
	}
	return NULL;
}

static void *fault(void *arg)
{
	const bool *stop = arg;
	size_t page = sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	while (pages != MAP_FAILED && !__atomic_load_n(stop, __ATOMIC_RELAXED)) {
		for (size_t i = 0; i < PAGES; i++)
			pages[i * page] = 1;
		madvise(pages, PAGES * page, MADV_DONTNEED);
	}
	if (pages != MAP_FAILED)
		munmap(pages, PAGES * page);
	return NULL;
}

static const struct {
	const char *event;
	uint64_t period;
	int nr_events;
	uint32_t nr_buckets, nr_entries;
	bool outcome, in_tasks, evicts, loses;
} sizes[] = {
	{ "cpu-clock", PERIOD_NS, 1, CPI_TABLE_DEFAULT_BUCKETS,
	  CPI_TABLE_DEFAULT_OVERFLOW, .outcome = true },
	{ "cpu-clock", PERIOD_NS, 1, CPI_TABLE_DEFAULT_BUCKETS,
	  CPI_TABLE_DEFAULT_OVERFLOW, .outcome = true, .in_tasks = true },
	{ "cpu-clock", PERIOD_NS, 1, 64, 16384, .outcome = true }, /* as usual */
	{ "page-faults", 10, 1, CPI_TABLE_DEFAULT_BUCKETS, CPI_TABLE_DEFAULT_OVERFLOW,
	  .in_tasks = true },
	/* Four entries: nearly all are evicted, */
	{ "cpu-clock", PERIOD_NS, 2, 1, 8192, .outcome = true, .evicts = true,
	  .in_tasks = true },
	{ "cpu-clock", PERIOD_NS, 1, 1, 1, .evicts = true,
	  .loses = true }, /* ... and have no place to go */
};

static bool has_enough(const struct bpf_table_counts *all, int nr_events)
{
	for (int e = 0; e < nr_events; e++)
		if (all->received[e] <= ENOUGH)
			return false;
	return true;
}

START_TEST(every_sample_is_in_an_entry_or_lost_by_name)
{
	struct bpf_sampler s = { 0 };
	const struct bpf_table_config cfg = {
		.nr_events = sizes[_i].nr_events,
		.nr_cpus = libbpf_num_possible_cpus(),
		.nr_buckets = sizes[_i].nr_buckets,
		.nr_entries = sizes[_i].nr_entries,
		.outcome = sizes[_i].outcome,
		.in_tasks = sizes[_i].in_tasks,
	};
	struct bpf_table_counts all = { 0 };
	pthread_t workers[2];
	bool stop = false;
	uint64_t end, nr_flips = 0;
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME);

	ck_assert_int_ge(stats, 0);
	for (size_t i = 0; i < NR(workers); i++)
		ck_assert_int_eq(pthread_create(&workers[i], NULL,
						sizes[_i].in_tasks ? fault : work,
						&stop),
				 0);
	ck_assert_int_eq(bpf_sampler_open(&s, &cfg, sizes[_i].event, sizes[_i].period),
			 0);
	ck_assert(event_interrupts(&s.event[0]) || cfg.in_tasks);
	end = time_mono_ns() + FLIP_FOR;
	while (time_mono_ns() < end || !has_enough(&all, cfg.nr_events)) {
		ck_assert_int_eq(bpf_sampler_take(&s, &all), 0);
		nr_flips++;
	}
	counters_stop(s.counters);
	ck_assert_int_eq(bpf_sampler_take(&s, &all), 0);
	ck_assert_int_eq(bpf_sampler_take(&s, &all), 0);
	for (int e = 0; e < sizes[_i].nr_events; e++) {
		struct collector_counts counts = { 0 };
		uint64_t nr, ns;

		/* As many as the kernel counted runs of the programs. */
		ck_assert_int_eq(bpf_table_runs(s.table, e, &nr, &ns), 0);
		ck_assert_uint_eq(all.received[e], nr);
		/* No more than the event counted. */
		counters_read(s.counters, e, &counts);
		ck_assert_uint_le(all.received[e] * (sizes[_i].period / 10 * 9),
				  counts.event_count);
	}
	for (unsigned int e = sizes[_i].nr_events; e < CPI_MAX_EVENTS; e++)
		ck_assert_uint_eq(all.received[e], 0);
	ck_assert_uint_gt(nr_flips, 1);
	/* A busy machine's samples may evict, and be lost, with the others, too. */
	ck_assert(all.evictions > 0 || !sizes[_i].evicts);
	ck_assert(all.lost[0] > 0 || !sizes[_i].loses);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < NR(workers); i++)
		pthread_join(workers[i], NULL);
	bpf_sampler_close(&s);
	close(stats);
}
END_TEST

START_TEST(after_the_counters_stop_both_sets_run_empty)
{
	struct bpf_table_config cfg = bpf_table_default(1, libbpf_num_possible_cpus());
	struct bpf_sampler s = { 0 };
	struct bpf_table_counts all = { 0 }, none = { 0 };

	ck_assert_int_eq(bpf_sampler_open(&s, &cfg, "cpu-clock", PERIOD_NS), 0);
	counters_stop(s.counters);
	ck_assert_int_eq(bpf_sampler_take(&s, &all), 0);
	ck_assert_int_eq(bpf_sampler_take(&s, &all), 0);
	ck_assert_int_eq(bpf_sampler_take(&s, &none), 0);
	ck_assert_int_eq(bpf_sampler_take(&s, &none), 0);
	for (unsigned int e = 0; e < CPI_MAX_EVENTS; e++)
		ck_assert_uint_eq(none.received[e], 0);
	for (uint32_t cpu = 0; cpu < s.nr_cpus; cpu++) {
		ck_assert_uint_eq(bpf_table_received(s.table, cpu, 0), 0);
		ck_assert_uint_eq(bpf_table_overflow(s.table, cpu), 0);
	}
	bpf_sampler_close(&s);
}
END_TEST

static uint32_t exec_id_of(const struct bpf_table *t, pid_t pid)
{
	struct cpi_bpf_exec_id *ids = NULL;
	size_t nr = 0;
	const struct cpi_bpf_exec_id *found;
	uint32_t id;

	ck_assert_int_eq(bpf_table_exec_ids(t, &ids, &nr), 0);
	for (size_t i = 0; i < nr; i++) {
		ck_assert_uint_le(ids[i].when_ns, time_mono_ns());
		ck_assert(!i || ids[i - 1].tgid < ids[i].tgid);
		ck_assert_ptr_eq(bpf_table_find_exec_id(ids, nr, ids[i].tgid), &ids[i]);
	}
	ck_assert_ptr_null(bpf_table_find_exec_id(ids, nr, UINT32_MAX));
	found = bpf_table_find_exec_id(ids, nr, pid);
	id = found ? found->exec_id : UINT32_MAX;
	free(ids);
	return id;
}

START_TEST(a_child_has_our_exec_id_and_one_more_after_exec)
{
	struct bpf_table_config cfg = bpf_table_default(1, libbpf_num_possible_cpus());
	struct bpf_table *t;
	int to_child[2], from_child[2], status;
	uint32_t own;
	char byte;
	pid_t pid;

	ck_assert_int_eq(bpf_table_open(&cfg, &t), 0);
	own = exec_id_of(t, getpid());
	ck_assert_uint_ne(own, UINT32_MAX);
	ck_assert(!pipe(to_child) && !pipe(from_child));
	pid = fork();
	if (!pid) {
		dup2(to_child[0], 0);
		dup2(from_child[1], 1);
		close(to_child[1]);
		close(from_child[0]);
		if (read(0, &byte, 1) == 1) /* "go on" */
			execlp("cat", "cat", (char *)NULL);
		_exit(1);
	}
	close(to_child[0]);
	close(from_child[1]);
	ck_assert_uint_eq(exec_id_of(t, pid), own);
	ck_assert_int_eq(write(to_child[1], "gx", 2), 2);
	ck_assert_int_eq(read(from_child[0], &byte, 1), 1); /* it is cat that answers */
	ck_assert_uint_eq(exec_id_of(t, pid), own + 1);
	close(to_child[1]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(from_child[0]);
	bpf_table_close(t);
}
END_TEST

/* A table that samples work on all CPUs, and its watch. */
struct watched {
	struct bpf_sampler s;
	struct bpf_watch *watch;
	int epoll_fd;
	pthread_t worker;
	bool stop;
};

static void watched_open(struct watched *t, uint32_t nr_entries)
{
	const struct bpf_table_config cfg = {
		.nr_events = 1,
		.nr_cpus = libbpf_num_possible_cpus(),
		.nr_buckets = 1,
		.nr_entries = nr_entries,
	};

	t->s = (struct bpf_sampler){ 0 };
	t->stop = false;
	ck_assert_int_eq(bpf_sampler_open(&t->s, &cfg, "cpu-clock", PERIOD_NS), 0);
	t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	ck_assert_int_eq(
		bpf_watch_open(t->s.table, t->s.nr_cpus, t->epoll_fd, &t->watch), 0);
	ck_assert_int_eq(pthread_create(&t->worker, NULL, work, &t->stop), 0);
}

static void watched_close(struct watched *t)
{
	__atomic_store_n(&t->stop, true, __ATOMIC_RELAXED);
	pthread_join(t->worker, NULL);
	bpf_watch_close(t->watch);
	close(t->epoll_fd);
	bpf_sampler_close(&t->s);
}

/* Takes notices until there is none: another CPU may give one between take and look. */
static void await_notice(const struct watched *t)
{
	struct epoll_event ev;

	ck_assert_int_eq(epoll_wait(t->epoll_fd, &ev, 1, -1), 1);
	do
		bpf_watch_take(t->watch);
	while (epoll_wait(t->epoll_fd, &ev, 1, 0) == 1);
}

START_TEST(an_overflow_array_that_gets_full_gives_notice)
{
	struct bpf_table_counts all = { 0 };
	struct watched t;

	watched_open(&t, 64);
	while (!bpf_watch_is_full(t.watch))
		await_notice(&t);
	ck_assert_int_eq(bpf_sampler_take(&t.s, &all), 0);
	ck_assert_uint_ge(all.evictions, 48);
	bpf_watch_emptied(t.watch);
	ck_assert(!bpf_watch_is_full(t.watch));
	while (!bpf_watch_is_full(t.watch)) /* and does so after each flip */
		await_notice(&t);
	watched_close(&t);
}
END_TEST

/* Of four entries three. Between two looks the number may change; then neither counts.
 */
START_TEST(an_overflow_array_is_full_at_three_quarters)
{
	struct bpf_table_counts all = { 0 };
	bool seen[2] = { false };
	struct watched t;

	watched_open(&t, 4);
	while (!seen[false] || !seen[true]) {
		for (uint32_t cpu = 0; cpu < t.s.nr_cpus; cpu++) {
			const uint32_t n = bpf_table_overflow(t.s.table, cpu);
			const bool is_full = bpf_table_is_full(t.s.table, cpu);

			if (bpf_table_overflow(t.s.table, cpu) != n)
				continue;
			ck_assert_int_eq(is_full, n >= 3);
			seen[is_full] |= n == 2 || n == 3;
		}
		ck_assert_int_eq(bpf_sampler_take(&t.s, &all), 0);
	}
	watched_close(&t);
}
END_TEST

START_TEST(work_that_follows_a_quiet_time_gives_notice)
{
	struct watched t;

	watched_open(&t, 8192);
	while (!bpf_watch_is_quiet(t.watch)) /* beside such a rate any work is little */
		bpf_watch_look(t.watch, 1e9);
	while (bpf_watch_is_quiet(t.watch))
		await_notice(&t);
	watched_close(&t);
}
END_TEST

START_TEST(without_a_clock_no_time_is_quiet)
{
	struct watched t;
	uint64_t end = time_mono_ns() + NSEC_PER_SEC * 3 / 2;

	watched_open(&t, 8192);
	while (time_mono_ns() < end) {
		bpf_watch_look(t.watch, 0);
		ck_assert(!bpf_watch_is_quiet(t.watch));
	}
	watched_close(&t);
}
END_TEST

/* More than a page, which the ring is, has room for. */
static int nr_notices(void)
{
	return (int)(sysconf(_SC_PAGESIZE) / sizeof(struct cpi_bpf_notice));
}

static int count_notice(void *ctx, void *data, size_t size)
{
	const struct cpi_bpf_notice *notice = data;

	ck_assert_uint_ge(size, sizeof(*notice));
	ck_assert_uint_lt(notice->cpu, (uint32_t)libbpf_num_possible_cpus());
	++*(int *)ctx;
	return 0;
}

/* Asks for notices that nobody reads, until there is no room in the ring. */
static void fill_ring(const struct watched *t)
{
	for (int i = 0; i < nr_notices();) {
		for (uint32_t cpu = 0; cpu < t->s.nr_cpus; cpu++) {
			uint32_t n = bpf_table_work(t->s.table, cpu);

			bpf_table_notify_at(t->s.table, cpu, n + 1);
			while (cpu == (uint32_t)sched_getcpu() &&
			       bpf_table_work(t->s.table, cpu) == n)
				;
			i += bpf_table_work(t->s.table, cpu) != n;
		}
	}
}

START_TEST(a_lost_notice_costs_no_sample)
{
	struct bpf_table_counts all = { 0 };
	struct ring_buffer *ring;
	struct watched t;
	int nr_kept = 0;

	watched_open(&t, 16384);
	fill_ring(&t);
	ck_assert_int_eq(bpf_sampler_take(&t.s, &all), 0);
	memset(&all, 0, sizeof(all));
	while (!bpf_watch_is_full(t.watch)) /* as on the timer */
		bpf_watch_look(t.watch, 0);
	ck_assert_int_eq(bpf_sampler_take(&t.s, &all),
			 0); /* which finds all that was received */
	ck_assert_uint_ge(all.evictions, 12288);
	ck_assert_uint_eq(all.lost[0], 0);
	ring = ring_buffer__new(bpf_table_notices(t.s.table), count_notice, &nr_kept,
				NULL);
	ck_assert_ptr_nonnull(ring);
	ck_assert_int_gt(ring_buffer__consume(ring), 0);
	ck_assert_int_lt(nr_kept, nr_notices()); /* the others were lost */
	ring_buffer__free(ring);
	watched_close(&t);
}
END_TEST

START_TEST(many_cpus_get_smaller_arrays)
{
	struct bpf_table_config few = bpf_table_default(1, 2);
	struct bpf_table_config many = bpf_table_default(1, 512);

	ck_assert_uint_lt(many.nr_entries, few.nr_entries);
	ck_assert_uint_ge(many.nr_entries, 512);
	ck_assert_uint_eq(few.nr_buckets & (few.nr_buckets - 1), 0);
	ck_assert_uint_le(512ull * CPI_BPF_SETS * many.nr_entries *
				  sizeof(struct cpi_entry),
			  64 << 20);
}
END_TEST

/* Linux 5.10 runs a program on the CPU that one asks for. */
START_TEST(flips_are_by_ipi_where_that_can_be)
{
	struct utsname name;
	struct bpf_grace *g;
	unsigned int major, minor;

	uname(&name);
	ck_assert_int_eq(sscanf(name.release, "%u.%u", &major, &minor), 2);
	/* CPUs that there are not answer, too. */
	ck_assert_int_eq(bpf_grace_open(BPF_GRACE_IPI, CPUS_MAX, &g), 0);
	ck_assert_int_eq(bpf_grace_way(g), major > 5 || (major == 5 && minor >= 10)
						   ? BPF_GRACE_IPI
						   : BPF_GRACE_RCU);
	ck_assert_int_eq(bpf_grace_wait(g), 0);
	bpf_grace_close(g);
	ck_assert_int_eq(bpf_grace_open(BPF_GRACE_RCU, CPUS_MAX, &g), 0);
	ck_assert_int_eq(bpf_grace_way(g), BPF_GRACE_RCU);
	ck_assert_int_eq(bpf_grace_wait(g), 0);
	bpf_grace_close(g);
}
END_TEST

/* A load that is refused: what the log says helps. */
START_TEST(a_refused_load_says_which_rights_it_needs)
{
	const struct bpf_table_config cfg = bpf_table_default(1, 1);
	char path[] = "/tmp/check_bpf_table.XXXXXX";
	struct buf said = { 0 };
	struct bpf_table *t;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, 0666), 0);
	ck_assert_int_eq(log_open(path), 0);
	unlink(path);
	ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	ck_assert_int_eq(bpf_table_open(&cfg, &t), -EPERM);
	ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
	ck_assert_ptr_nonnull(buf_reserve(&said, 4096));
	said.len = (size_t)read(fd, said.data, 4095);
	ck_assert_ptr_nonnull(strstr(buf_str(&said), err_str(-EPERM)));
	ck_assert_ptr_nonnull(strstr(buf_str(&said), "grant CAP_BPF and CAP_PERFMON"));
	buf_fini(&said);
	close(fd);
}
END_TEST

static const struct {
	const char *name;
	bool interrupts;
} events[] = {
	{ "cpu-clock", true },   { "task-clock", true },        { "cycles", true },
	{ "r00c0", true },       { "page-faults", false },      { "cs", false },
	{ "migrations", false }, { "alignment-faults", false },
};

START_TEST(software_events_are_sampled_with_interrupts_on)
{
	struct event e;

	ck_assert_int_eq(event_parse(events[_i].name, 0, &e), 0);
	ck_assert_int_eq(event_interrupts(&e), events[_i].interrupts);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("bpf_table");
	TCase *tc = tcase_create("table");

	tcase_set_timeout(tc, 600); /* a busy machine samples slowly */
	tcase_add_loop_test(tc, every_sample_is_in_an_entry_or_lost_by_name, 0,
			    NR(sizes));
	tcase_add_test(tc, after_the_counters_stop_both_sets_run_empty);
	tcase_add_test(tc, a_child_has_our_exec_id_and_one_more_after_exec);
	tcase_add_test(tc, an_overflow_array_that_gets_full_gives_notice);
	tcase_add_test(tc, an_overflow_array_is_full_at_three_quarters);
	tcase_add_test(tc, work_that_follows_a_quiet_time_gives_notice);
	tcase_add_test(tc, without_a_clock_no_time_is_quiet);
	tcase_add_test(tc, a_lost_notice_costs_no_sample);
	tcase_add_test(tc, many_cpus_get_smaller_arrays);
	tcase_add_test(tc, a_refused_load_says_which_rights_it_needs);
	tcase_add_test(tc, flips_are_by_ipi_where_that_can_be);
	tcase_add_loop_test(tc, software_events_are_sampled_with_interrupts_on, 0,
			    NR(events));
	suite_add_tcase(s, tc);
	return s;
}

/* Where programs may not be loaded there is nothing to test. */
static bool can_load(void)
{
	struct bpf_table_config cfg = bpf_table_default(1, 1);
	struct bpf_table *t;

	if (perfev_system_access() || bpf_table_open(&cfg, &t))
		return false;
	bpf_table_close(t);
	return true;
}

static Suite *suite_or_skip(void)
{
	if (!can_load()) {
		puts("1..0 # SKIP needs CAP_BPF and CAP_PERFMON");
		exit(EXIT_SUCCESS);
	}
	return make_suite();
}

UNIT_MAIN(suite_or_skip)
