/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flips [-F HZ] [-r FLIPS] [-s SECONDS] [-g]
 *
 * Samples the whole machine at HZ per CPU, each of which works, while the two sets of
 * tables change roles FLIPS times per second, and says how long a flip takes. With -g
 * it is the kernel's grace period that is waited for. Fails unless the samples in the
 * tables are exactly as many as the kernel counted runs of the program.
 */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/times.h"
#include "t/bpf_sampler.h"

#define MAX_FLIPS 1000000

struct options {
	double hz, flips_per_s;
	int seconds;
	bool grace;
};

struct times {
	uint64_t *ns; /* of each flip */
	size_t nr;
};

static _Noreturn void die(const char *what, int err)
{
	fprintf(stderr, "flips: %s: %s\n", what, err_str(err));
	exit(EXIT_FAILURE);
}

/* Keeps a CPU busy, at a few addresses and in the kernel. */
static void *work(void *arg)
{
	const bool *stop = arg;
	uint64_t sum = 0;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED))
		for (int i = 0; i < 1000; i++)
			sum += i % 100 ? hash_u64(sum) : (uint64_t)getppid();
	return sum ? NULL : arg;
}

static void sleep_until(uint64_t ns)
{
	const struct timespec at = { .tv_sec = (time_t)(ns / NSEC_PER_SEC),
				     .tv_nsec = (long)(ns % NSEC_PER_SEC) };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* Those that come too late are left out, not caught up with. */
static void flip_for(struct bpf_sampler *s, const struct options *o,
		     struct bpf_table_counts *all, struct times *times)
{
	uint64_t begin = time_mono_ns(), next = begin;
	uint64_t end = begin + o->seconds * NSEC_PER_SEC;

	while (next < end && times->nr < MAX_FLIPS) {
		uint64_t now = time_mono_ns();
		int err;

		if (now < next)
			sleep_until(next);
		next = (now > next ? now : next) +
		       (uint64_t)((double)NSEC_PER_SEC / o->flips_per_s);
		err = bpf_sampler_take(s, all);
		if (err)
			die("samples and entries", err);
		times->ns[times->nr++] = s->flip_ns;
	}
}

static int compare_ns(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void print(const struct options *o, struct times *t,
		  const struct bpf_table_counts *all, uint64_t nr_runs)
{
	qsort(t->ns, t->nr, sizeof(*t->ns), compare_ns);
	printf("flips     %zu, %.0f/s\n", t->nr, (double)t->nr / o->seconds);
	printf("a flip    %.1f us, 99 %% below %.1f us, the longest %.1f us\n",
	       (double)t->ns[t->nr / 2] / 1e3, (double)t->ns[t->nr * 99 / 100] / 1e3,
	       (double)t->ns[t->nr - 1] / 1e3);
	printf("samples   %llu in tables, %llu runs of the program, %llu lost\n",
	       (unsigned long long)all->received[0], (unsigned long long)nr_runs,
	       (unsigned long long)all->lost[0]);
}

/* Returns whether each run of the program is a sample. */
static bool measure(const struct options *o, struct times *times)
{
	struct bpf_table_config cfg = bpf_table_default(1, libbpf_num_possible_cpus());
	struct bpf_table_counts all = { 0 };
	struct bpf_sampler s = { 0 };
	uint64_t nr_runs, ns;
	int stats = bpf_enable_stats(BPF_STATS_RUN_TIME), err;

	if (stats < 0)
		die("the kernel's statistics", stats);
	cfg.in_tasks = o->grace;
	err = bpf_sampler_open(&s, &cfg, "cpu-clock",
			       (uint64_t)((double)NSEC_PER_SEC / o->hz));
	if (err)
		die("the programs", err);
	flip_for(&s, o, &all, times);
	counters_stop(s.counters);
	err = bpf_sampler_take(&s, &all);
	if (!err)
		err = bpf_sampler_take(&s, &all);
	if (!err)
		err = bpf_table_runs(s.table, 0, &nr_runs, &ns);
	if (err)
		die("samples and entries", err);
	bpf_sampler_close(&s);
	close(stats);
	print(o, times, &all, nr_runs);
	return all.received[0] == nr_runs && nr_runs;
}

static bool measure_at_work(const struct options *o)
{
	const struct sched_param first = { .sched_priority = 1 };
	struct times times = { .ns = calloc(MAX_FLIPS, sizeof(uint64_t)) };
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t *worker = calloc(nr_cpus, sizeof(*worker));
	bool stop = false, exact;
	int err = 0;

	if (!times.ns || !worker)
		die("memory", -ENOMEM);
	for (long i = 0; i < nr_cpus && !err; i++)
		err = -pthread_create(&worker[i], NULL, work, &stop);
	if (err)
		die("threads", err);
	/* Where it may not be so flips come late. */
	pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
	exact = measure(o, &times);
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (long i = 0; i < nr_cpus; i++)
		pthread_join(worker[i], NULL);
	free(worker);
	free(times.ns);
	return exact;
}

int main(int argc, char **argv)
{
	struct options o = { .hz = 4000, .flips_per_s = 1000, .seconds = 10 };
	int opt;

	while ((opt = getopt(argc, argv, "F:r:s:g")) != -1) {
		if (opt == 'F')
			o.hz = atof(optarg);
		else if (opt == 'r')
			o.flips_per_s = atof(optarg);
		else if (opt == 's')
			o.seconds = atoi(optarg);
		else if (opt == 'g')
			o.grace = true;
		else
			return 2;
	}
	if (!(o.hz > 0 && o.flips_per_s > 0 && o.seconds > 0) || optind < argc) {
		fputs("usage: flips [-F HZ] [-r FLIPS] [-s SECONDS] [-g]\n", stderr);
		return 2;
	}
	return measure_at_work(&o) ? EXIT_SUCCESS : EXIT_FAILURE;
}
