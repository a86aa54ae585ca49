/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_sample.c - the kernel's layout of samples
 *
 * A sample is a sequence of fields in the order of perf_output_sample(), one for each
 * bit of sample_type. An unknown bit means a field of unknown size, so later fields
 * cannot be found. Such a file is refused.
 */
#include "config.h"

#include "base/err.h"
#include "daemon/import/perfdata_private.h"

#define SAMPLE_TYPES_KNOWN (2 * PERF_SAMPLE_WEIGHT_STRUCT - 1)

static void decode_read(struct perfdata_cursor *c, uint64_t format,
			struct perf_sample *s)
{
	uint64_t nr = 1, words = 1;

	s->read_format = format;
	if (format & PERF_FORMAT_GROUP)
		nr = perfdata_u64(c);
	else
		s->reads = perfdata_words(c, 1);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		perfdata_u64(c);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		perfdata_u64(c);
	words += !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
	if (format & PERF_FORMAT_GROUP) {
		if (nr > PERFDATA_RECORD_MAX)
			c->bad = true;
		else
			s->reads = perfdata_words(c, nr * words);
	} else {
		perfdata_words(c, words - 1);
	}
	s->nr_reads = c->bad ? 0 : nr;
}

struct perf_read perfdata_read_value(const struct perf_sample *s, size_t i)
{
	bool group = s->read_format & PERF_FORMAT_GROUP;
	bool has_id = s->read_format & PERF_FORMAT_ID;
	bool has_lost = s->read_format & PERFDATA_FORMAT_LOST;
	/* Without a group, the times are between value and id. */
	size_t times =
		group ? 0
		      : !!(s->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
				!!(s->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	const uint64_t *at = s->reads + i * (1 + has_id + has_lost);
	struct perf_read r = { .value = at[0] };

	if (has_id)
		r.id = at[times + 1];
	return r;
}

/* A 32-bit size, and so many bytes; together they are a multiple of 8 bytes. */
static void decode_raw(struct perfdata_cursor *c, struct perf_sample *s)
{
	s->raw_size = perfdata_u32(c);
	if ((s->raw_size + 4) & 7)
		c->bad = true;
	s->raw = perfdata_take(c, s->raw_size);
}

static void decode_branches(struct perfdata_cursor *c, const struct perfdata_event *e,
			    struct perf_sample *s)
{
	uint64_t nr = perfdata_u64(c);

	if (nr > PERFDATA_RECORD_MAX / (3 * 8)) {
		c->bad = true;
		return;
	}
	if (e->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
		perfdata_u64(c);
	s->branches = perfdata_words(c, 3 * nr);
	if (e->branch_sample_type & PERFDATA_BRANCH_COUNTERS)
		perfdata_words(c, nr);
	s->nr_branches = c->bad ? 0 : nr;
}

struct perf_branch perfdata_branch(const struct perfdata *pd,
				   const struct perf_sample *s, size_t i)
{
	const uint64_t *at = s->branches + 3 * i;
	bool big = pd->info.is_big;

	return (struct perf_branch){
		.from = at[0],
		.to = at[1],
		.mispredicted = perfdata_bits(at[2], big, 0, 1),
		.predicted = perfdata_bits(at[2], big, 1, 1),
		.in_transaction = perfdata_bits(at[2], big, 2, 1),
		.abort = perfdata_bits(at[2], big, 3, 1),
		.cycles = perfdata_bits(at[2], big, 4, 16),
	};
}

static void skip_regs(struct perfdata_cursor *c, uint64_t mask)
{
	const uint64_t abi = perfdata_u64(c);

	if (abi)
		perfdata_words(c, __builtin_popcountll(mask));
}

static void decode_stack(struct perfdata_cursor *c, struct perf_sample *s)
{
	uint64_t size = perfdata_u64(c), used = 0;

	if (size & 7)
		c->bad = true;
	perfdata_take(c, size);
	if (size)
		used = perfdata_u64(c);
	s->stack_size = used < size ? used : size;
}

/* The fields before the counts, which all have a fixed size. */
static void decode_head(struct perfdata_cursor *c, const struct perfdata_event *e,
			struct perf_record *r)
{
	const uint64_t type = e->sample_type;
	struct perf_sample *s = &r->sample;

	if (type & PERF_SAMPLE_IDENTIFIER)
		r->id = perfdata_u64(c);
	if (type & PERF_SAMPLE_IP)
		s->ip = perfdata_u64(c);
	if (type & PERF_SAMPLE_TID) {
		r->pid = perfdata_u32(c);
		r->tid = perfdata_u32(c);
	}
	if (type & PERF_SAMPLE_TIME)
		r->time = perfdata_u64(c);
	if (type & PERF_SAMPLE_ADDR)
		s->addr = perfdata_u64(c);
	if (type & PERF_SAMPLE_ID)
		r->id = perfdata_u64(c);
	if (type & PERF_SAMPLE_STREAM_ID)
		perfdata_u64(c);
	if (type & PERF_SAMPLE_CPU)
		perfdata_u64(c);
	s->period = type & PERF_SAMPLE_PERIOD ? perfdata_u64(c) : e->sample_period;
}

static void decode_middle(struct perfdata_cursor *c, const struct perfdata_event *e,
			  struct perf_sample *s)
{
	const uint64_t type = e->sample_type;

	if (type & PERF_SAMPLE_READ)
		decode_read(c, e->read_format, s);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		s->nr_callchain = perfdata_u64(c);
		s->callchain = perfdata_words(c, s->nr_callchain);
	}
	if (type & PERF_SAMPLE_RAW)
		decode_raw(c, s);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		decode_branches(c, e, s);
	if (type & PERF_SAMPLE_REGS_USER)
		skip_regs(c, e->regs_user);
	if (type & PERF_SAMPLE_STACK_USER)
		decode_stack(c, s);
}

static void decode_tail(struct perfdata_cursor *c, const struct perfdata_event *e,
			struct perf_sample *s)
{
	const uint64_t type = e->sample_type;

	if (type & PERF_SAMPLE_WEIGHT_TYPE)
		s->weight = perfdata_u64(c);
	if (type & PERF_SAMPLE_DATA_SRC)
		s->data_source = perfdata_u64(c);
	if (type & PERF_SAMPLE_TRANSACTION)
		perfdata_u64(c);
	if (type & PERF_SAMPLE_REGS_INTR)
		skip_regs(c, e->regs_intr);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		s->phys_addr = perfdata_u64(c);
	if (type & PERF_SAMPLE_CGROUP)
		perfdata_u64(c);
	if (type & PERF_SAMPLE_DATA_PAGE_SIZE)
		perfdata_u64(c);
	if (type & PERF_SAMPLE_CODE_PAGE_SIZE)
		perfdata_u64(c);
	if (type & PERF_SAMPLE_AUX)
		perfdata_take(c, perfdata_u64(c));
}

/* The kernel's addresses, where the kernel was one of 32 bits: see perfdata.h. */
static void raise_kernel(struct perf_record *r)
{
	struct perf_sample *s = &r->sample;
	bool kernel = false;

	if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL)
		s->ip = perfdata_kernel_address(s->ip);
	for (size_t i = 0; i < s->nr_callchain; i++) {
		if (s->callchain[i] >= (uint64_t)PERF_CONTEXT_MAX)
			kernel = s->callchain[i] == (uint64_t)PERF_CONTEXT_KERNEL;
		else if (kernel)
			s->callchain[i] = perfdata_kernel_address(s->callchain[i]);
	}
}

int perfdata_decode_sample(const struct perfdata *pd, struct perfdata_cursor *c,
			   struct perf_record *r)
{
	const struct perfdata_event *e;

	r->time = UINT64_MAX;
	r->pid = r->tid = UINT32_MAX;
	r->event = perfdata_sample_event(pd, *c, &r->id);
	if (r->event < 0)
		return 0;
	e = &pd->info.event[r->event];
	if (e->sample_type & ~(uint64_t)SAMPLE_TYPES_KNOWN)
		return perfdata_fail(pd, r->offset, -CPI_EVERSION,
				     "samples of %s have fields that are not known "
				     "(sample_type %#llx)",
				     e->name[0] ? e->name : "an event",
				     (unsigned long long)e->sample_type);
	decode_head(c, e, r);
	decode_middle(c, e, &r->sample);
	if (!c->bad)
		raise_kernel(r);
	decode_tail(c, e, &r->sample);
	if (c->bad)
		return perfdata_fail(pd, r->offset, -CPI_ECORRUPT,
				     "a sample that is shorter than its fields "
				     "(sample_type %#llx)",
				     (unsigned long long)e->sample_type);
	return 0;
}
