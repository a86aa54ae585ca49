/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SOSP'97 section 6.1.3: F = ΣS / ΣM over the instructions of a class. Where we differ:
 * there are no clusters of ratios S / M. On out-of-order CPUs instructions in the
 * shadow of a long stall have no samples at all. So all instructions of a class count.
 * M is ESTIMATE_ISSUE for each of them: the schedule's cycles were no better
 * (ACCURACY.md).
 */
#include "config.h"

#include "analysis/freq/estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define SD_SUM 1.0 /* the uncertainty of a class's stalls, as a deviation of log F */

static void take_sum(struct estimate *e)
{
	e->rule = ESTIMATE_SUM;
	e->at_most = !e->samples;
	e->unseen = e->samples ? 0 : e->cycles;
	e->frequency = (e->samples + 0.3) / e->cycles;
	e->sd = sqrt(SD_SUM * SD_SUM + 1 / (e->samples + 0.5));
}

void estimate_retired(double samples, double worth, struct estimate *e)
{
	e->samples = samples;
	e->cycles = e->insns;
	take_sum(e);
	e->rule = ESTIMATE_RETIRED;
	e->samples *= worth;
	e->frequency *= worth;
}

int estimate_classes(const struct freq_input *in, const struct equiv *eq,
		     struct arena *arena, struct estimate **out)
{
	const struct cfg *cfg = in->cfg;
	struct estimate *est = arena_array(arena, eq->nr, sizeof(*est));

	if (!est)
		return -ENOMEM;
	for (int b = 0; b < cfg->nr_blocks; b++) {
		const struct cfg_block *block = &cfg->block[b];
		struct estimate *e = &est[eq->block[b]];

		e->insns += block->nr_insns;
		for (int i = 0; i < block->nr_insns; i++)
			e->samples += in->samples[block->first_insn + i];
	}
	for (int c = 0; c < eq->nr; c++) {
		est[c].cycles = ESTIMATE_ISSUE * est[c].insns;
		if (est[c].insns)
			take_sum(&est[c]);
	}
	*out = est;
	return 0;
}

void estimate_dump(const struct estimate *est, int nr, struct buf *out)
{
	static const char *const rule[] = {
		[ESTIMATE_NONE] = "none",
		[ESTIMATE_SUM] = "sum",
		[ESTIMATE_WINDOWS] = "fused",
		[ESTIMATE_RETIRED] = "retired",
	};

	for (int c = 0; c < nr; c++)
		buf_printf(
			out,
			"estimate: class %d samples %.6g cycles %.6g %s %.6g ± %.2g\n",
			c, est[c].samples, est[c].cycles, rule[est[c].rule],
			est[c].frequency, est[c].sd);
}
