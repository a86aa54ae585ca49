/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sim.h - kmod/table.h with a trace for interrupts, in several variants
 *
 * A variant is t/bench/sim_variant.c compiled with other values of
 * CPI_TABLE_WAYS and CPI_TABLE_SWAP_TO_FRONT.
 */
#ifndef CPI_T_BENCH_SIM_H
#define CPI_T_BENCH_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "t/bench/trace.h"

struct cpi_table;

#define SIM_NR_RESULTS 5 /* of enum cpi_table_result */

struct sim_variant {
	unsigned int ways;
	bool swap_to_front; /* else round-robin */
	size_t bucket_size; /* bytes, with its padding */
	/*
	 * Counts samples until an overflow buffer is full, but at most nr.
	 * Adds to result[r] how often r was the outcome; returns how many.
	 */
	size_t (*replay)(struct cpi_table *t, const struct trace_sample *s, size_t nr,
			 uint64_t result[SIM_NR_RESULTS]);
};

extern const struct sim_variant *const sim_variants[];
extern const size_t sim_nr_variants;

struct sim_config {
	const struct sim_variant *variant;
	uint32_t nr_buckets; /* of each CPU; a power of two */
	uint64_t sweep_ns;   /* between sweeps, which empty the table */
};

struct sim_counts {
	uint64_t samples, hits, evictions;
	uint64_t handed_out; /* entries: evicted, or left when a sweep came */
	uint64_t cpu_ns;     /* in replay() */
};

/*
 * Runs each CPU's samples through a table of its own. Returns 0, -ENOMEM, or
 * -CPI_ECORRUPT when what was handed out is not what went in, key by key.
 */
int sim_run(const struct sim_config *cfg, const struct trace *t,
	    struct sim_counts *out);

#endif
