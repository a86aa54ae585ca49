/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * handler [-F HZ] [-w SECONDS] [-r ROUNDS] {-p PID | COMMAND [ARGUMENT...]}
 *
 * What the BPF collector's program takes per sample while COMMAND runs, by the
 * kernel's own statistics (BPF_STATS_RUN_TIME), whose two readings of the clock
 * are in the figure; and what programs take that use the kernel's usual maps
 * (stock.bpf.c). Each round has a window for each of them, in random order. COMMAND
 * is killed at the end; with -p samples are of one process alone, whatever else the
 * machine does.
 */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/times.h"
#include "daemon/collect/bpf_table.h"
#include "daemon/collect/counters.h"
#include "t/bench/stock.skel.h"

#define MAX_ROUNDS 101

struct options {
	double hz;
	int window_s, nr_rounds;
	pid_t target; /* -1: the whole machine */
	char **command;
};

struct span {
	uint64_t nr_samples;
	double ns;            /* per sample */
	uint64_t nr_entries;  /* that were handed out; 0: not known */
	uint32_t nr_verified; /* instructions that the verifier went through */
	uint32_t code_bytes;
};

static void die(const char *what, int err)
{
	fprintf(stderr, "handler: %s: %s\n", what, err_str(err));
	exit(EXIT_FAILURE);
}

/* In the order of the output. */
enum program {
	WITHOUT_OUTCOME,
	WITH_OUTCOME,
	HASH,
	LRU_PERCPU_HASH,
	PERCPU_BUCKETS,
	NOTHING,
	NR_PROGRAMS,
};

static const char *const names[NR_PROGRAMS] = {
	[WITHOUT_OUTCOME] = "cpid, without outcome",
	[WITH_OUTCOME] = "cpid, with outcome",
	[HASH] = "HASH",
	[LRU_PERCPU_HASH] = "LRU_PERCPU_HASH",
	[PERCPU_BUCKETS] = "PERCPU_ARRAY, RINGBUF",
	[NOTHING] = "nothing",
};

/* Who takes the samples: the table's program, or one by itself. */
struct taker {
	struct bpf_table *table; /* NULL: none */
	int program;
};

static int opened(void *ctx, int cpu, int event, int fd)
{
	const struct taker *t = ctx;

	if (t->table)
		return bpf_table_attach(t->table, fd, cpu, event);
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, t->program) ? -errno : 0;
}

static struct counters *open_counters(const struct options *o, struct taker *taker)
{
	struct event event;
	uint64_t period;
	struct counters_config cfg = {
		.events = &event,
		.periods = &period,
		.nr_events = 1,
		.target = { .pid = o->target },
		.opened = opened,
		.ctx = taker,
	};
	struct counters *counters = NULL;
	struct cpus cpus;
	int index, err = event_parse("cpu-clock", 0, &event);

	if (!err)
		err = cpus_online(&cpus);
	if (err)
		die("cpu-clock", err);
	period = event_period(&event, o->hz);
	err = counters_open(&cfg, &cpus, &counters, &index);
	if (err)
		die("cpu-clock", err);
	return counters;
}

static struct span run_window(const struct options *o, struct taker *taker)
{
	const struct timespec pause = { .tv_sec = o->window_s };
	struct counters *counters = open_counters(o, taker);
	struct bpf_prog_info info = { 0 };
	uint32_t size = sizeof(info);

	nanosleep(&pause, NULL);
	counters_close(counters);
	if (bpf_obj_get_info_by_fd(taker->program, &info, &size))
		die("the program's statistics", -errno);
	if (!info.run_cnt)
		die("the window", -ENODATA);
	return (struct span){
		.nr_samples = info.run_cnt,
		.ns = (double)info.run_time_ns / (double)info.run_cnt,
		.nr_verified = info.verified_insns,
		.code_bytes = info.jited_prog_len,
	};
}

static struct span measure_table(const struct options *o, bool outcome)
{
	struct bpf_table_config cfg = bpf_table_default(1, libbpf_num_possible_cpus());
	struct bpf_table_counts counts = { 0 };
	struct cpi_entry *entries;
	struct taker taker;
	struct bpf_table *t;
	struct span w;
	uint64_t ns;
	int err;

	cfg.outcome = outcome;
	err = bpf_table_open(&cfg, &t);
	if (err)
		die("the programs", err);
	entries = malloc(bpf_table_max_entries(t) * sizeof(*entries));
	if (!entries)
		die("entries", -ENOMEM);
	taker = (struct taker){ .table = t, .program = bpf_table_program(t, 0, 0) };
	w = run_window(o, &taker);
	err = bpf_table_runs(t, 0, &w.nr_samples, &ns); /* on all nodes */
	if (!err)
		err = bpf_table_flip(t);
	if (err)
		die("flip", err);
	w.ns = (double)ns / (double)w.nr_samples;
	for (uint32_t i = 0; i < cfg.nr_cpus; i++)
		w.nr_entries += bpf_table_take(t, i, entries, &counts);
	free(entries);
	bpf_table_close(t);
	return w;
}

static const struct bpf_program *stock_program(const struct stock_bpf *s,
					       enum program program)
{
	switch (program) {
	case HASH:
		return s->progs.count_hash;
	case LRU_PERCPU_HASH:
		return s->progs.count_lru;
	case PERCPU_BUCKETS:
		return s->progs.count_buckets;
	default:
		return s->progs.count_nothing;
	}
}

static struct span measure_stock(const struct options *o, enum program program)
{
	struct stock_bpf *s = stock_bpf__open_and_load();
	struct taker taker = { 0 };
	struct span w;

	if (!s)
		die("the programs with stock maps", -errno);
	taker.program = bpf_program__fd(stock_program(s, program));
	w = run_window(o, &taker);
	stock_bpf__destroy(s);
	return w;
}

static struct span measure(const struct options *o, enum program program)
{
	if (program == WITHOUT_OUTCOME || program == WITH_OUTCOME)
		return measure_table(o, program == WITH_OUTCOME);
	return measure_stock(o, program);
}

static int compare_ns(const void *a, const void *b)
{
	double x = ((const struct span *)a)->ns, y = ((const struct span *)b)->ns;

	return x < y ? -1 : x > y;
}

static void print(const char *name, struct span *w, int nr)
{
	const struct span *middle = &w[nr / 2];

	qsort(w, nr, sizeof(*w), compare_ns);
	printf("%-24s %6.0f (%.0f-%.0f) %10llu ", name, middle->ns, w[0].ns,
	       w[nr - 1].ns, (unsigned long long)middle->nr_samples);
	if (middle->nr_entries)
		printf("%14.2f",
		       (double)middle->nr_samples / (double)middle->nr_entries);
	else
		printf("%14s", "-");
	printf(" %9u %9u\n", middle->nr_verified, middle->code_bytes);
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

/* The order of a round: Fisher and Yates's. */
static void shuffle(enum program order[NR_PROGRAMS], uint64_t seed)
{
	for (int i = 0; i < NR_PROGRAMS; i++) {
		int j = hash_u64(seed + i) % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
}

static void measure_rounds(const struct options *o)
{
	struct span windows[NR_PROGRAMS][MAX_ROUNDS];
	enum program order[NR_PROGRAMS];
	uint64_t seed = time_real_ns();

	for (int i = 0; i < o->nr_rounds; i++) {
		shuffle(order, seed + (uint64_t)i * NR_PROGRAMS);
		for (int p = 0; p < NR_PROGRAMS; p++)
			windows[order[p]][i] = measure(o, order[p]);
	}
	printf("%-24s %16s %10s %13s %9s %9s\n", "", "ns (min-max)", "samples",
	       "samples/entry", "verified", "bytes");
	for (int p = 0; p < NR_PROGRAMS; p++)
		print(names[p], windows[p], o->nr_rounds);
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
