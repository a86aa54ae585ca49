/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * attribute_outcome.c - finds out whether a sampled branch is taken
 *
 * Only the collector perf uses this; the others decide in the kernel. It needs the
 * instruction, which is in the image's file. So each sample is handled twice: first
 * its code is noted, and attribute_resolve() reads the code; then the sample is
 * classified from the cached code.
 */
#include "config.h"

#include "daemon/attribute/attribute.h"
#include "daemon/os/arch.h"

/* Finds the mapping of a sample in user mode. Returns false if there is none. */
static bool find_mapping(const struct attribution *a, struct process *p,
			 const struct raw_sample *s, struct procmap_hit *hit)
{
	return !kernel_address(s->pc) &&
	       procmap_lookup_in(a->procmap, p, s->pc, s->time_ns, hit) ==
		       PROCMAP_FOUND &&
	       hit->image->unknown == SAMPLE_KEPT;
}

void attribute_prepare(void *ctx, const struct raw_sample *s)
{
	struct attribution *a = ctx;
	struct process *p = procmap_find(a->procmap, s->tgid, 0, s->time_ns);
	struct procmap_hit hit = { 0 };
	struct known_image *image;

	if (!find_mapping(a, p, s, &hit))
		return;
	image = images_find(a->images, hit.image, (pid_t)s->tgid, hit.since_ns);
	codecache_note(a->codecache, image, hit.since_ns, s->pc + hit.bias);
}

void attribute_classify(void *ctx, const struct raw_sample *s, unsigned int *generation,
			enum cpi_outcome *outcome)
{
	struct attribution *a = ctx;
	struct process *p = procmap_find(a->procmap, s->tgid, 0, s->time_ns);
	struct procmap_hit hit = { 0 };
	struct cpi_branch branch;

	*generation = p ? p->generation : 0;
	*outcome = CPI_OUTCOME_UNREADABLE;
	if (!find_mapping(a, p, s, &hit))
		return;
	branch = codecache_branch(a->codecache, images_known(hit.image, hit.since_ns),
				  s->pc + hit.bias);
	if (branch.kind == CPI_BRANCH_NOT)
		*outcome = CPI_OUTCOME_NONE;
	else if (branch.kind != CPI_BRANCH_UNKNOWN && s->regs)
		*outcome = arch_native.outcome(branch, s->regs);
}
