/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trace.h - a recorded trace of single samples, in memory
 *
 * I1  samples[first[c]] .. samples[first[c + 1] - 1] are CPU c's, by time.
 */
#ifndef CPI_T_BENCH_TRACE_H
#define CPI_T_BENCH_TRACE_H

#include <stddef.h>
#include <stdint.h>

#define TRACE_MAX_BYTES ((size_t)512 << 20)

struct trace_sample {
	uint64_t time_ns;
	uint64_t word0; /* the two halves of a table's key: abi/entry.h */
	uint64_t who;
};

struct trace {
	struct trace_sample *samples;
	size_t nr;
	size_t *first; /* nr_cpus + 1 of them */
	unsigned int nr_cpus;
	uint64_t begin_ns, end_ns;
	uint64_t key_sum; /* trace_key() of each sample, added up */
};

/* What a key contributes to a sum that tells whether each was counted right. */
uint64_t trace_key(uint64_t word0, uint64_t who);

/*
 * Reads what daemon/collect/raw.h describes. Returns 0, -errno, -EFBIG above
 * TRACE_MAX_BYTES, -CPI_EFORMAT for another kind of file, -CPI_EVERSION,
 * -CPI_ETRUNCATED, -CPI_ECORRUPT for impossible records (a CPU's times that go
 * backwards among them), -CPI_EEMPTY without samples.
 */
int trace_load(const char *path, struct trace *out);
void trace_fini(struct trace *t);

#endif
