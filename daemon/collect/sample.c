/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sample.c - reads fields in the order in which perf_output_sample() writes them
 */
#include "config.h"

#include "daemon/collect/sample.h"

#include <errno.h>
#include <string.h>

#include "decode/ibs.h"
#include "decode/perffields.h"
#include "daemon/os/arch.h"
#include "daemon/collect/hwevent.h"

/* The unread words of a record. is_short: more words were requested than there are. */
struct cursor {
	const uint64_t *at, *end;
	bool is_short;
};

static const uint64_t *take_words(struct cursor *c, size_t nr)
{
	static const uint64_t none;
	const uint64_t *at = c->at;

	if ((size_t)(c->end - c->at) < nr) {
		c->is_short = true;
		return nr == 1 ? &none : NULL;
	}
	c->at += nr;
	return at;
}

uint64_t sample_type(const struct event *e)
{
	uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			hwevent_sample_type(e);

	return sample_regs(e) ? type | PERF_SAMPLE_REGS_INTR : type;
}

/*
 * Samples of IBS and SPE have no registers: IBS interrupts after the sampled op, and
 * SPE does not interrupt.
 */
uint64_t sample_regs(const struct event *e)
{
	if (hwevent_sample_type(e) & PERF_SAMPLE_RAW || e->record == EVENT_RECORDS_SPE)
		return 0;
	return arch_native.regs_mask;
}

/* Reads PERF_SAMPLE_RAW: a length and that many bytes, padded to a word. */
static void read_raw(struct cursor *c, const struct event *e, struct sample *s)
{
	const uint64_t *first = take_words(c, 1);
	uint32_t size;

	memcpy(&size, first, sizeof(size));
	if (c->is_short || !take_words(c, ((uint64_t)size + sizeof(size) + 7) / 8 - 1))
		return;
	s->has_hw =
		!ibs_read_record(e->record == EVENT_RECORDS_IBS_OP ? IBS_OP : IBS_FETCH,
				 (const char *)first + sizeof(size), size, &e->ibs,
				 &s->hw);
}

static void read_regs(struct cursor *c, uint64_t mask, struct sample *s)
{
	uint64_t abi = *take_words(c, 1);

	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return;
	s->regs = take_words(c, __builtin_popcountll(mask));
	if (abi != PERF_SAMPLE_REGS_ABI_64)
		s->regs = NULL;
}

static void read_branches(struct cursor *c, struct sample *s)
{
	const uint64_t nr = *take_words(c, 1);
	const size_t words = sizeof(*s->branches) / sizeof(nr);

	if (nr > (uint64_t)(c->end - c->at) / words) {
		c->is_short = true;
		return;
	}
	s->branches = (const void *)take_words(c, nr * words);
	s->nr_branches = nr;
}

int sample_read(const struct event *e, bool with_id, const struct perf_event_header *h,
		struct sample *out)
{
	const uint64_t type = sample_type(e);
	const uint64_t *begin = (const uint64_t *)(h + 1);
	struct cursor c = { begin, begin + (h->size - sizeof(*h)) / 8, false };
	struct perf_fields fields = { .has = type,
				      .exact_ip = h->misc & PERF_RECORD_MISC_EXACT_IP };
	struct sample s = { .has_hw = false };
	const uint64_t *who;

	if (with_id)
		take_words(&c, 1);
	fields.ip = s.pc = *take_words(&c, 1);
	who = take_words(&c, 1);
	memcpy(&s.pid, who, sizeof(s.pid));
	memcpy(&s.tid, (const char *)who + sizeof(s.pid), sizeof(s.tid));
	s.time_ns = *take_words(&c, 1);
	if (type & PERF_SAMPLE_ADDR)
		fields.addr = *take_words(&c, 1);
	if (type & PERF_SAMPLE_RAW)
		read_raw(&c, e, &s);
	if (type & PERF_SAMPLE_BRANCH_STACK)
		read_branches(&c, &s);
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		fields.weight = *take_words(&c, 1);
	if (type & PERF_SAMPLE_DATA_SRC)
		fields.data_src = *take_words(&c, 1);
	if (type & PERF_SAMPLE_REGS_INTR)
		read_regs(&c, sample_regs(e), &s);
	if (c.is_short)
		return -EBADMSG;
	if (e->record == EVENT_RECORDS_PEBS && fields.exact_ip) {
		perf_fields_record(&fields, &s.hw);
		s.has_hw = true;
	}
	if (s.has_hw && hw_has(&s.hw, HW_PC))
		s.pc = s.hw.value[HW_PC];
	*out = s;
	return 0;
}
