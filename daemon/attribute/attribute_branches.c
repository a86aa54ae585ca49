/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute_branches.c - turns branches into edges, and pairs of branches into runs
 *
 * AutoFDO (CGO'16, section 3.2): no branch was taken between two successive branches of
 * a stack. So the code from the older branch's target to the newer branch was executed
 * once, in the cycles that the newer branch's entry has. This is wrong if the hardware
 * left out a branch, because of a filter or an interrupt. A pair gives no run if the
 * newer branch is before the older one's target, in another image, or more than RUN_MAX
 * bytes after it.
 */
#include "config.h"

#include "daemon/attribute/attribute_private.h"

#define RUN_MAX (64u << 10) /* bytes of code without a taken branch */

struct site {
	struct known_image *image;
	uint64_t offset;
};

struct taken {
	struct site from, to;
	uint64_t cycles;
};

static struct site find_site(struct attribution *a, const struct branch_stack *s,
			     uint64_t pc)
{
	struct site site = { 0 };

	site.image = attribute_address(a, s->tgid, pc, s->time_ns, &site.offset);
	return site;
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

void attribute_look_at_branches(struct attribution *a, const struct branch_stack *s)
{
	a->lacking = false;
	for (size_t i = 0; i < s->nr; i++) {
		find_site(a, s, s->branch[i].from);
		find_site(a, s, s->branch[i].to);
	}
}

int attribute_branches(struct attribution *a, const struct branch_stack *s)
{
	struct taken older = { 0 };
	int err = 0;

	for (size_t i = s->nr; !err && i-- > 0;) {
		const struct branch *b = &s->branch[i];
		struct taken taken = { .from = find_site(a, s, b->from),
				       .to = find_site(a, s, b->to),
				       .cycles = b->cycles };
		struct edge e = { .from = taken.from.offset,
				  .to = taken.to.offset,
				  .n = 1,
				  .cycles = b->cycles,
				  .nr_timed = b->cycles != 0,
				  .mispredicted = b->mispredicted };

		err = tally_add_edge(a->tally, s->event, EDGES_BRANCH, taken.from.image,
				     taken.to.image, &e);
		if (!err)
			err = add_run(a->tally, s->event, &older, &taken);
		older = taken;
	}
	return err;
}
