/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_sampler.h - a BPF table that samples the whole machine, for tests
 */
#ifndef CPI_T_BPF_SAMPLER_H
#define CPI_T_BPF_SAMPLER_H

#include "daemon/collect/bpf_table.h"
#include "daemon/collect/counters.h"

struct bpf_sampler {
	struct bpf_table *table;
	struct counters *counters;
	struct event event[2];
	uint64_t period[2];
	uint32_t nr_cpus;
	struct cpi_entry *entries;
	uint64_t flip_ns; /* what the last flip took */
};

/*
 * Samples what is called name, as one event or two; s is to be {0}. Returns 0 or
 * -errno; what is open is to be closed also then.
 */
int bpf_sampler_open(struct bpf_sampler *s, const struct bpf_table_config *cfg,
		     const char *name, uint64_t period);
void bpf_sampler_close(struct bpf_sampler *s);

/*
 * Flips, takes from all CPUs and adds to all. Returns 0, or -EBADMSG when a CPU's
 * parts disagree (abi/bpf.h, I4), or another -errno.
 */
int bpf_sampler_take(struct bpf_sampler *s, struct bpf_table_counts *all);

#endif
