/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute_bench [ROUNDS [KINDS]] - how many entries a second are attributed
 *
 * Batches of 8000 samples of 400 processes and 300 images (crowd.h), as a drain of a
 * busy CPU has them after ten seconds at 1 kHz. Sorting is timed apart. Medians, for
 * others use the machine. With KINDS, as cpid's --by has them, profiles by context are
 * kept, too: 40 cgroups, of which each second one's processes have a label; by thread,
 * each second process is a thread of another.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/times.h"
#include "t/bench/crowd.h"

#define NR_SAMPLES 8000
#define MAX_ROUNDS 10001

static double cpu_ns(void)
{
	return (double)time_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *values, int nr)
{
	qsort(values, nr, sizeof(*values), compare);
	return values[nr / 2];
}

static void add_contexts(struct crowd *c)
{
	char name[128];

	for (uint32_t tgid = 1; tgid <= c->nr_processes; tgid++) {
		snprintf(name, sizeof(name), "/system.slice/docker-%060u.scope",
			 tgid % 40);
		procmap_set_cgroup(c->a.procmap, tgid, name, 0);
		snprintf(name, sizeof(name), "label%u", tgid % 40);
		if (tgid % 2)
			procmap_set_label(c->a.procmap, tgid, name);
	}
}

/* Every second process's number is a thread's of the process before. */
static void add_threads(struct crowd *c, struct threadmap *tm)
{
	for (uint32_t tgid = 2; tgid <= c->nr_processes; tgid += 2) {
		if (threadmap_fork(tm, tgid, tgid - 1, "worker", 0))
			abort();
	}
	c->a.threads = tm;
}

int main(int argc, char **argv)
{
	struct threadmap threads = { 0 };
	static struct cpi_entry entries[NR_SAMPLES], spare[NR_SAMPLES];
	static double sort[MAX_ROUNDS], attribute[MAX_ROUNDS];
	int nr_rounds = argc > 1 ? atoi(argv[1]) : 201;
	unsigned int kinds = 0;
	struct crowd c;

	if (nr_rounds < 1 || nr_rounds > MAX_ROUNDS ||
	    (argc > 2 && context_parse_kinds(argv[2], &kinds))) {
		fprintf(stderr, "usage: attribute_bench [ROUNDS [KINDS]]\n");
		return 2;
	}
	crowd_open(&c, 400, 300, 1);
	c.a.by = kinds;
	if (kinds)
		add_contexts(&c);
	if (kinds & 1u << CONTEXT_THREAD)
		add_threads(&c, &threads);
	for (int i = 0; i < nr_rounds; i++) {
		struct batch batch;
		double begin;
		size_t nr = crowd_sample(&c, entries, spare, NR_SAMPLES);

		for (size_t n = nr; n > 1; n--) { /* a table is in no order */
			size_t other = crowd_random(&c) % n;
			struct cpi_entry e = entries[other];

			entries[other] = entries[n - 1];
			entries[n - 1] = e;
		}
		begin = cpu_ns();
		nr = entries_sort(entries, spare, nr);
		sort[i] = (cpu_ns() - begin) / (double)nr;
		batch = crowd_batch(entries, nr);
		begin = cpu_ns();
		attribute_batch(&c.a, &batch);
		attribute[i] = (cpu_ns() - begin) / (double)nr;
	}
	printf("sorted:     %6.1f ns/entry\n", median(sort, nr_rounds));
	printf("attributed: %6.1f ns/entry, %.1f million a second\n",
	       median(attribute, nr_rounds), 1e3 / median(attribute, nr_rounds));
	crowd_close(&c);
	threadmap_fini(&threads);
	return 0;
}
