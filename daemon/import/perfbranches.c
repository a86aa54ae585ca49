/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfbranches.c - turns a sample's branch stack into edges
 */
#include "config.h"

#include "daemon/import/perfbranches.h"

#define BRANCHES_MAX (65536 / 24) /* of a record */

int perfbranches_add(struct attribution *a, const struct perfdata *pd,
		     const struct perf_record *r, int event, uint64_t when_ns)
{
	struct branch branch[BRANCHES_MAX];
	struct branch_stack s = {
		.time_ns = when_ns,
		.tgid = r->pid <= CPI_MAX_TGID ? r->pid : CPI_MAX_TGID,
		.event = event,
		.branch = branch,
	};

	for (; s.nr < r->sample.nr_branches && s.nr < BRANCHES_MAX; s.nr++) {
		const struct perf_branch b = perfdata_branch(pd, &r->sample, s.nr);

		branch[s.nr] =
			(struct branch){ b.from, b.to, b.cycles, b.mispredicted };
	}
	return attribute_branches(a, &s);
}
