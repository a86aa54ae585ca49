/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What surrounds the table: a clock that sweeps it, and a reader that takes
 * what it hands out. Only the handler's part, replay(), is timed, by the
 * thread's CPU time: other programs on the machine do not count.
 *
 * struct cpi_bucket differs between variants, so buckets are bytes here.
 */
#include "config.h"

#include "t/bench/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/times.h"
#include "kmod/table.h"

#define CACHE_LINE 64

#define NAMES(X)             \
	X(sim_1_way)         \
	X(sim_2_round_robin) \
	X(sim_2_swap)        \
	X(sim_4_round_robin) \
	X(sim_4_swap)        \
	X(sim_6_round_robin) \
	X(sim_6_swap)        \
	X(sim_8_round_robin) \
	X(sim_8_swap)
#define DECLARE(name) extern const struct sim_variant name;
#define POINT(name)   &name,

NAMES(DECLARE)
const struct sim_variant *const sim_variants[] = { NAMES(POINT) };
const size_t sim_nr_variants = sizeof(sim_variants) / sizeof(sim_variants[0]);

struct sim {
	const struct sim_config *cfg;
	struct cpi_table table;
	unsigned char *buckets;
	size_t size;
	uint64_t result[SIM_NR_RESULTS];
	uint64_t handed_out, handed_samples, key_sum;
	uint64_t cpu_ns;
};

static uint64_t cpu_time_ns(void)
{
	return time_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void hand_out(struct sim *s, const struct cpi_entry *e)
{
	const uint64_t count = cpi_entry_count(e);

	s->handed_out++;
	s->handed_samples += count;
	s->key_sum += count * trace_key(e->word0, (uint32_t)e->word1);
}

static void drain(struct sim *s, struct cpi_overflow *o)
{
	for (uint32_t i = 0; i < o->nr; i++)
		hand_out(s, &o->entries[i]);
	o->nr = 0;
}

static void sweep(struct sim *s)
{
	const struct sim_variant *v = s->cfg->variant;

	drain(s, &s->table.overflow[0]);
	drain(s, &s->table.overflow[1]);
	for (size_t at = 0; at < s->size; at += v->bucket_size) {
		const struct cpi_entry *way = (const void *)(s->buckets + at);

		for (unsigned int w = 0; w < v->ways; w++) {
			if (cpi_entry_count(&way[w]))
				hand_out(s, &way[w]);
		}
	}
	memset(s->buckets, 0, s->size);
}

/* The samples between two sweeps. */
static void replay(struct sim *s, const struct trace_sample *from, size_t nr)
{
	struct cpi_table *t = &s->table;
	uint64_t start;
	size_t done;

	while (nr) {
		start = cpu_time_ns();
		done = s->cfg->variant->replay(t, from, nr, s->result);
		s->cpu_ns += cpu_time_ns() - start;
		from += done;
		nr -= done;
		if (t->overflow[t->active].nr == t->overflow[t->active].cap) {
			t->active ^= 1;
			drain(s, &t->overflow[t->active ^ 1]);
		}
	}
}

static void run_cpu(struct sim *s, const struct trace *t, unsigned int cpu)
{
	size_t i = t->first[cpu], end = t->first[cpu + 1], start;

	while (i < end) {
		const uint64_t nr =
			(t->samples[i].time_ns - t->begin_ns) / s->cfg->sweep_ns;

		for (start = i; i < end; i++) {
			if ((t->samples[i].time_ns - t->begin_ns) / s->cfg->sweep_ns !=
			    nr)
				break;
		}
		replay(s, t->samples + start, i - start);
		sweep(s);
	}
}

static int sim_init(struct sim *s, const struct sim_config *cfg)
{
	struct cpi_table *t = &s->table;

	s->cfg = cfg;
	s->size = cfg->nr_buckets * cfg->variant->bucket_size;
	s->buckets = aligned_alloc(CACHE_LINE, s->size);
	if (!s->buckets)
		return -ENOMEM;
	memset(s->buckets, 0, s->size);
	t->buckets = (void *)s->buckets;
	t->mask = cfg->nr_buckets - 1;
	for (int i = 0; i < 2; i++) {
		struct cpi_overflow *o = &t->overflow[i];

		o->cap = CPI_TABLE_DEFAULT_OVERFLOW;
		o->entries = calloc(o->cap, sizeof(*o->entries));
		if (!o->entries)
			return -ENOMEM;
	}
	return 0;
}

static void sim_fini(struct sim *s)
{
	free(s->table.overflow[0].entries);
	free(s->table.overflow[1].entries);
	free(s->buckets);
}

int sim_run(const struct sim_config *cfg, const struct trace *t, struct sim_counts *out)
{
	struct sim s = { 0 };
	int err;

	err = sim_init(&s, cfg);
	if (err)
		goto out;
	for (unsigned int cpu = 0; cpu < t->nr_cpus; cpu++)
		run_cpu(&s, t, cpu);
	if (s.handed_samples != t->nr || s.key_sum != t->key_sum || s.table.dropped) {
		err = -CPI_ECORRUPT;
		goto out;
	}
	*out = (struct sim_counts){
		.samples = t->nr,
		.hits = s.result[CPI_TABLE_HIT],
		.evictions = s.result[CPI_TABLE_EVICT] + s.result[CPI_TABLE_FILLED],
		.handed_out = s.handed_out,
		.cpu_ns = s.cpu_ns,
	};
out:
	sim_fini(&s);
	return err;
}
