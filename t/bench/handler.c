/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * handler [-F HZ] [-w SECONDS] [-r ROUNDS] {-p PID | COMMAND [ARGUMENT...]}
 *
 * What the BPF collector's program takes per sample while COMMAND runs, by the
 * kernel's own statistics (BPF_STATS_RUN_TIME), whose two readings of the clock
 * are in the figure. Each round has a window with the outcome of conditional
 * jumps and one without, in random order. COMMAND is killed at the end; with -p
 * samples are of one process alone, whatever else the machine does.
 */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/times.h"
#include "daemon/bpf_table.h"
#include "daemon/counters.h"

#define MAX_ROUNDS 101

struct options {
	double hz;
	int window_s, nr_rounds;
	pid_t target; /* -1: the whole machine */
	char **command;
};

struct window {
	uint64_t nr_samples;
	double ns;            /* per sample */
	double hits;          /* share of the samples */
	uint32_t nr_verified; /* instructions that the verifier went through */
	uint32_t code_bytes;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "handler: %s: %s\n", what, err_str(err));
	exit(EXIT_FAILURE);
}

static int opened(void *ctx, int cpu, int event, int fd)
{
	return bpf_table_attach(ctx, fd, cpu, event);
}

static struct counters *open_counters(struct bpf_table *t, const struct event *event,
				      const uint64_t *period, pid_t target)
{
	struct counters_config cfg = {
		.events = event,
		.periods = period,
		.nr_events = 1,
		.target = target,
		.opened = opened,
		.ctx = t,
	};
	struct counters *counters = NULL;
	struct cpus cpus;
	int index, err = cpus_online(&cpus);

	if (!err)
		err = counters_open(&cfg, &cpus, &counters, &index);
	if (err)
		die("cpu-clock", err);
	return counters;
}

/* Of the first node's program: the others' are the same. */
static struct bpf_prog_info read_info(const struct bpf_table *t)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);
	int err = bpf_obj_get_info_by_fd(bpf_table_program(t, 0, 0), &info, &size);

	if (err)
		die("the program's statistics", err);
	return info;
}

static struct window measure(const struct options *o, bool outcome)
{
	struct bpf_table_config cfg = bpf_table_default(1, libbpf_num_possible_cpus());
	const struct timespec pause = { .tv_sec = o->window_s };
	struct bpf_table_counts counts = { 0 };
	struct counters *counters;
	struct cpi_entry *entries;
	struct bpf_prog_info info;
	struct bpf_table *t;
	uint64_t nr, ns;
	struct event event;
	uint64_t period, nr_entries = 0;
	int err;

	cfg.outcome = outcome;
	err = bpf_table_open(&cfg, &t);
	if (!err)
		err = event_parse("cpu-clock", 0, &event);
	if (err)
		die("the programs", err);
	entries = malloc(bpf_table_max_entries(t) * sizeof(*entries));
	if (!entries)
		die("entries", -ENOMEM);
	period = event_period(&event, o->hz);
	counters = open_counters(t, &event, &period, o->target);
	nanosleep(&pause, NULL);
	counters_close(counters);
	info = read_info(t);
	err = bpf_table_runs(t, 0, &nr, &ns);
	if (!err)
		err = bpf_table_flip(t);
	if (err)
		die("flip", err);
	for (uint32_t i = 0; i < cfg.nr_cpus; i++)
		nr_entries += bpf_table_take(t, i, entries, &counts);
	free(entries);
	bpf_table_close(t);
	if (!nr)
		die("the window", -ENODATA);
	return (struct window){
		.nr_samples = nr,
		.ns = (double)ns / (double)nr,
		.hits = 1 - (double)nr_entries / (double)nr,
		.nr_verified = info.verified_insns,
		.code_bytes = info.jited_prog_len,
	};
}

static int compare_ns(const void *a, const void *b)
{
	double x = ((const struct window *)a)->ns, y = ((const struct window *)b)->ns;

	return x < y ? -1 : x > y;
}

static void print(const char *name, struct window *w, int nr)
{
	qsort(w, nr, sizeof(*w), compare_ns);
	printf("%-16s %8.0f (%.0f-%.0f) %10llu %9.1f %9u %9u\n", name, w[nr / 2].ns,
	       w[0].ns, w[nr - 1].ns, (unsigned long long)w[nr / 2].nr_samples,
	       w[nr / 2].hits * 100, w[nr / 2].nr_verified, w[nr / 2].code_bytes);
}

static pid_t start(char **command)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	setpgid(0, 0);
	execvp(command[0], command);
	fprintf(stderr, "handler: %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

static void measure_rounds(const struct options *o)
{
	struct window with[MAX_ROUNDS], without[MAX_ROUNDS];
	uint64_t seed = time_real_ns();

	for (int i = 0; i < o->nr_rounds; i++) {
		bool first = hash_u64(seed + i) & 1;

		if (first)
			with[i] = measure(o, true);
		without[i] = measure(o, false);
		if (!first)
			with[i] = measure(o, true);
	}
	printf("%-16s %19s %10s %9s %9s %9s\n", "", "ns (min-max)", "samples", "hits %",
	       "verified", "bytes");
	print("without outcome", without, o->nr_rounds);
	print("with outcome", with, o->nr_rounds);
}

static void run(const struct options *o)
{
	int status;
	pid_t pid;

	if (bpf_enable_stats(BPF_STATS_RUN_TIME) < 0)
		die("BPF_STATS_RUN_TIME", -errno);
	if (o->target >= 0) {
		measure_rounds(o);
		return;
	}
	pid = start(o->command);
	measure_rounds(o);
	if (waitpid(pid, &status, WNOHANG))
		die("the command was over too soon", -ECHILD);
	kill(-pid, SIGTERM);
	waitpid(pid, &status, 0);
}

int main(int argc, char **argv)
{
	struct options o = { .hz = 1000, .window_s = 5, .nr_rounds = 5, .target = -1 };
	int c;

	while ((c = getopt(argc, argv, "+F:w:r:p:")) >= 0) {
		if (c == 'F')
			o.hz = atof(optarg);
		else if (c == 'w')
			o.window_s = atoi(optarg);
		else if (c == 'r')
			o.nr_rounds = atoi(optarg);
		else if (c == 'p')
			o.target = atoi(optarg);
		else
			o.nr_rounds = 0; /* getopt has complained */
	}
	if ((optind >= argc) != (o.target >= 0) || o.hz < 1 || o.window_s < 1 ||
	    o.nr_rounds < 1 || o.nr_rounds > MAX_ROUNDS) {
		fprintf(stderr, "usage: handler [-F HZ] [-w SECONDS] [-r ROUNDS] "
				"{-p PID | COMMAND [ARGUMENT...]}\n");
		return 2;
	}
	o.command = argv + optind;
	run(&o);
	return EXIT_SUCCESS;
}
