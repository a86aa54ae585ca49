/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfchains.c - chains of the kernel, of call records, and of copied stacks
 *
 * Call records (--call-graph lbr) are branches to procedures that have not returned. As
 * in perf, they replace the user part of the chain. The newest target is the leaf.
 */
#include "config.h"

#include "daemon/import/perfchains.h"

#include "daemon/stacks/stacksampler.h"

#define DEFAULT_LIMIT 127                     /* of kernel.perf_event_max_stack */
#define CHAIN_MAX     (STACK_MAX_FRAMES + 16) /* with contexts between */

struct import_chain {
	uint64_t address[CHAIN_MAX];
	size_t nr;
};

static const struct perfdata_event *event_of(const struct perfdata *pd,
					     const struct perf_record *r)
{
	return &perfdata_info(pd)->event[r->event];
}

bool perfchains_has(const struct perfdata *pd, const struct perf_record *r)
{
	return event_of(pd, r)->sample_type & PERF_SAMPLE_CALLCHAIN;
}

bool perfchains_are_calls(const struct perfdata_event *e)
{
	return e->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

static void put_address(struct import_chain *c, uint64_t address)
{
	if (c->nr < CHAIN_MAX)
		c->address[c->nr++] = address;
}

static bool is_in_user(const struct perf_record *r)
{
	return (r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER;
}

/* The return address is not recorded; the address of the call + 1 stands for it. */
static void put_calls(struct import_chain *c, const struct perfdata *pd,
		      const struct perf_sample *s)
{
	for (size_t i = 0; i < s->nr_branches; i++) {
		struct perf_branch b = perfdata_branch(pd, s, i);

		if (!i)
			put_address(c, b.to);
		put_address(c, b.from + 1);
	}
}

/* Copies the chain up to the user part. Returns whether there is a user part. */
static bool put_kernel_part(struct import_chain *c, const struct perf_sample *s)
{
	for (size_t i = 0; i < s->nr_callchain; i++) {
		put_address(c, s->callchain[i]);
		if (s->callchain[i] == PERF_CONTEXT_USER)
			return true;
	}
	return false;
}

void perfchains_add(struct attribution *a, const struct perfdata *pd,
		    const struct perf_record *r, uint64_t when_ns)
{
	const struct perfdata_event *e = event_of(pd, r);
	const struct perf_sample *s = &r->sample;
	struct import_chain c = { .nr = 0 };
	struct chain_sample sample = {
		.time_ns = when_ns,
		.tgid = r->pid <= CPI_MAX_TGID ? r->pid : CPI_MAX_TGID,
		.chain = s->callchain,
		.nr = s->nr_callchain,
		.limit = e->max_stack ? e->max_stack : DEFAULT_LIMIT,
	};

	if (perfchains_are_calls(e) && s->nr_branches) {
		if (put_kernel_part(&c, s))
			put_calls(&c, pd, s);
		sample.chain = c.address;
		sample.nr = c.nr;
	} else if (e->sample_type & PERF_SAMPLE_STACK_USER && s->stack_size) {
		sample.is_copied = true;
		if (!put_kernel_part(&c, s) && is_in_user(r)) {
			put_address(&c, PERF_CONTEXT_USER);
			put_address(&c, s->ip);
			sample.chain = c.address;
			sample.nr = c.nr;
		}
	}
	attribute_chain(a, &sample);
}
