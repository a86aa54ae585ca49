/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One variant of the table, named SIM_NAME. The file is compiled once for each
 * (t/bench/local.mk), so that its loop has the parameters as constants, as the
 * interrupt handler has.
 */
#include "config.h"

#include "t/bench/sim.h"

#include "kmod/table.h"

extern const struct sim_variant SIM_NAME;

_Static_assert(CPI_TABLE_DROPPED == SIM_NR_RESULTS - 1, "each result has its count");

static size_t replay(struct cpi_table *t, const struct trace_sample *s, size_t nr,
		     uint64_t result[SIM_NR_RESULTS])
{
	for (size_t i = 0; i < nr; i++) {
		enum cpi_table_result r = cpi_table_add(t, s[i].word0, s[i].who);

		result[r]++;
		if (r == CPI_TABLE_FILLED)
			return i + 1;
	}
	return nr;
}

const struct sim_variant SIM_NAME = {
	.ways = CPI_TABLE_WAYS,
	.swap_to_front = CPI_TABLE_SWAP_TO_FRONT,
	.bucket_size = sizeof(struct cpi_bucket),
	.replay = replay,
};
