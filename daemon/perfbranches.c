/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfbranches.c - pairs of branches are runs, as AutoFDO has it (CGO'16, section 3.2)
 *
 * Between two branches of a stack that follow each other nothing was taken: the code
 * from the older one's target to the newer one was executed once, in the cycles that
 * the newer one's entry has. Where the hardware left a branch out (a filter, an
 * interrupt) that is not so: the newer one lies before the older one's target, in
 * another image, or implausibly far behind.
 */
#include "config.h"

#include "daemon/perfbranches.h"

#define RUN_MAX (64u << 10) /* bytes of code without a taken branch */

struct site {
	struct known_image *image;
	uint64_t offset;
};

struct taken {
	struct site from, to;
	uint64_t cycles;
};

static struct site find_site(struct attribution *a, const struct perf_record *r,
			     uint64_t pc, uint64_t when_ns)
{
	const uint32_t tgid = r->pid <= CPI_MAX_TGID ? r->pid : CPI_MAX_TGID;
	struct site s = { 0 };

	s.image = attribute_address(a, tgid, pc, when_ns, &s.offset);
	return s;
}

static int add_run(struct tally *t, int event, const struct taken *older,
		   const struct taken *newer)
{
	const struct site *begin = &older->to, *end = &newer->from;
	const struct edge run = { .from = begin->offset,
				  .to = end->offset,
				  .n = 1,
				  .cycles = newer->cycles,
				  .nr_timed = newer->cycles != 0 };

	if (!begin->image || begin->image != end->image ||
	    end->offset - begin->offset > RUN_MAX)
		return 0;
	return tally_add_edge(t, event, EDGES_RUN, begin->image, end->image, &run);
}

int perfbranches_add(struct attribution *a, const struct perfdata *pd,
		     const struct perf_record *r, int event, uint64_t when_ns)
{
	struct taken older = { 0 };
	int err = 0;

	for (size_t i = r->sample.nr_branches; !err && i-- > 0;) {
		struct perf_branch b = perfdata_branch(pd, &r->sample, i);
		struct taken taken = { .from = find_site(a, r, b.from, when_ns),
				       .to = find_site(a, r, b.to, when_ns),
				       .cycles = b.cycles };
		struct edge e = { .from = taken.from.offset,
				  .to = taken.to.offset,
				  .n = 1,
				  .cycles = b.cycles,
				  .nr_timed = b.cycles != 0,
				  .mispredicted = b.mispredicted };

		err = tally_add_edge(a->tally, event, EDGES_BRANCH, taken.from.image,
				     taken.to.image, &e);
		if (!err)
			err = add_run(a->tally, event, &older, &taken);
		older = taken;
	}
	return err;
}
