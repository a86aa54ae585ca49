/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "t/bpf_sampler.h"

#include <errno.h>
#include <stdlib.h>

#include "base/times.h"

static int opened(void *ctx, int cpu, int event, int fd)
{
	const struct bpf_sampler *s = ctx;

	return bpf_table_attach(s->table, fd, cpu, event);
}

static int open_counters(struct bpf_sampler *s, int nr_events)
{
	struct counters_config counters = {
		.events = s->event,
		.periods = s->period,
		.nr_events = nr_events,
		.target = { .pid = -1 },
		.opened = opened,
		.ctx = s,
	};
	struct cpus cpus;
	int event, err = cpus_online(&cpus);

	return err ? err : counters_open(&counters, &cpus, &s->counters, &event);
}

int bpf_sampler_open(struct bpf_sampler *s, const struct bpf_table_config *cfg,
		     const char *name, uint64_t period)
{
	int err = bpf_table_open(cfg, &s->table);

	if (err)
		return err;
	s->nr_cpus = cfg->nr_cpus;
	for (int i = 0; i < cfg->nr_events; i++) {
		err = event_parse(name, 0, &s->event[i]);
		if (err)
			return err;
		s->period[i] = period;
	}
	s->entries = malloc(bpf_table_max_entries(s->table) * sizeof(*s->entries));
	return s->entries ? open_counters(s, cfg->nr_events) : -ENOMEM;
}

void bpf_sampler_close(struct bpf_sampler *s)
{
	counters_close(s->counters);
	bpf_table_close(s->table);
	free(s->entries);
}

static int take(struct bpf_sampler *s, uint32_t cpu, struct bpf_table_counts *all)
{
	struct bpf_table_counts c = { 0 };
	uint64_t counted[CPI_MAX_EVENTS] = { 0 };
	size_t nr = bpf_table_take(s->table, cpu, s->entries, &c);

	for (size_t i = 0; i < nr; i++) {
		if (!cpi_entry_count(&s->entries[i]))
			return -EBADMSG;
		counted[cpi_entry_event(&s->entries[i])] +=
			cpi_entry_count(&s->entries[i]);
	}
	for (unsigned int e = 0; e < CPI_MAX_EVENTS; e++) {
		if (c.received[e] != counted[e] + c.lost[e])
			return -EBADMSG;
		all->received[e] += c.received[e];
		all->lost[e] += c.lost[e];
	}
	all->evictions += c.evictions;
	return 0;
}

int bpf_sampler_take(struct bpf_sampler *s, struct bpf_table_counts *all)
{
	uint64_t begin = time_mono_ns();
	int err = bpf_table_flip(s->table);

	s->flip_ns = time_mono_ns() - begin;
	for (uint32_t cpu = 0; cpu < s->nr_cpus && !err; cpu++)
		err = take(s, cpu, all);
	return err;
}
