/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_record.c - the layout of records that are no samples
 */
#include "config.h"

#include <sys/mman.h>

#include "base/err.h"
#include "daemon/import/perfdata_private.h"

uint64_t *perfdata_words(struct perfdata_cursor *c, uint64_t nr)
{
	uint8_t *at;

	if (nr > PERFDATA_RECORD_MAX)
		c->bad = true;
	at = perfdata_take(c, nr * 8);
	if (!at || !nr)
		return NULL;
	for (uint64_t i = 0; c->swap && i < nr; i++) {
		uint64_t v;

		memcpy(&v, at + 8 * i, 8);
		v = __builtin_bswap64(v);
		memcpy(at + 8 * i, &v, 8);
	}
	return (uint64_t *)at;
}

const char *perfdata_text(struct perfdata_cursor *c)
{
	const char *text = (const char *)c->at;

	if (c->bad || !memchr(text, '\0', (size_t)(c->end - c->at))) {
		c->bad = true;
		return "";
	}
	return text;
}

/*
 * Linux 3.12 to 3.15 write the name where later kernels write protection and flags. A
 * name begins with "/" or "[", and a mapping's protection never has the bits of these
 * characters, so the first byte tells which it is.
 */
static bool is_without_protection(const struct perfdata_cursor *c)
{
	return c->at < c->end && (*c->at == '/' || *c->at == '[');
}

static void decode_protection(struct perfdata_cursor *c, struct perf_mmap *m)
{
	uint32_t prot = perfdata_u32(c);

	perfdata_u32(c); /* flags */
	if (prot)        /* some kernels do not say */
		m->executable = prot & PROT_EXEC;
}

static void decode_mmap(struct perfdata_cursor *c, struct perf_record *r)
{
	struct perf_mmap *m = &r->mmap;
	uint8_t *id;

	r->pid = perfdata_u32(c);
	r->tid = perfdata_u32(c);
	m->address = perfdata_u64(c);
	m->size = perfdata_u64(c);
	m->page_offset = perfdata_u64(c);
	m->executable = !(r->misc & PERF_RECORD_MISC_MMAP_DATA);
	if (r->type == PERF_RECORD_MMAP2) {
		if (r->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
			id = perfdata_take(c, 24);
			if (id && id[0] <= sizeof(m->build_id)) {
				m->build_id_size = id[0];
				memcpy(m->build_id, id + 4, id[0]);
			}
		} else {
			m->major = perfdata_u32(c);
			m->minor = perfdata_u32(c);
			m->inode = perfdata_u64(c);
			m->inode_generation = perfdata_u64(c);
		}
		if (!is_without_protection(c))
			decode_protection(c, m);
	}
	m->name = perfdata_text(c);
	if ((r->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL) {
		m->address = perfdata_kernel_address(m->address);
		if (m->page_offset)
			m->page_offset = perfdata_kernel_address(m->page_offset);
	}
}

static void decode_task(struct perfdata_cursor *c, struct perf_record *r)
{
	r->pid = perfdata_u32(c);
	r->task.ppid = perfdata_u32(c);
	r->tid = perfdata_u32(c);
	r->task.ptid = perfdata_u32(c);
}

static void decode_lost(struct perfdata_cursor *c, const struct perfdata *pd,
			struct perf_record *r)
{
	if (r->type == PERF_RECORD_LOST) {
		r->id = perfdata_u64(c);
		r->event = pd->info.nr_events == 1 ? 0 : perfdata_find_id(pd, r->id);
	}
	r->lost = perfdata_u64(c);
}

static void decode_body(struct perfdata_cursor *c, const struct perfdata *pd,
			struct perf_record *r)
{
	switch (r->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		decode_mmap(c, r);
		break;
	case PERF_RECORD_COMM:
		r->pid = perfdata_u32(c);
		r->tid = perfdata_u32(c);
		r->comm = perfdata_text(c);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		decode_task(c, r);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		decode_lost(c, pd, r);
		break;
	case PERF_RECORD_CGROUP:
		r->cgroup.id = perfdata_u64(c);
		r->cgroup.path = perfdata_text(c);
		break;
	case PERF_RECORD_ITRACE_START:
		r->pid = perfdata_u32(c);
		r->tid = perfdata_u32(c);
		break;
	case PERF_RECORD_AUX:
		r->aux_part.offset = perfdata_u64(c);
		r->aux_part.size = perfdata_u64(c);
		r->aux_part.flags = perfdata_u64(c);
		break;
	}
}

int perfdata_decode_record(const struct perfdata *pd, struct perfdata_cursor *c,
			   struct perf_record *r)
{
	perfdata_decode_trailer(pd, c, r);
	decode_body(c, pd, r);
	if (c->bad)
		return perfdata_fail(pd, r->offset, -CPI_ECORRUPT,
				     "a record of type %u that is shorter than its "
				     "fields",
				     r->type);
	return 0;
}

/* Since Linux 5.9 it also says how to extend a counter that has few bits. */
static void decode_time_conv(struct perfdata_cursor *c, struct perf_time_conv *t)
{
	const uint8_t *flags;

	t->shift = perfdata_u64(c);
	t->mult = perfdata_u64(c);
	t->zero = perfdata_u64(c);
	if (c->end - c->at < 18)
		return;
	t->cycles = perfdata_u64(c);
	t->mask = perfdata_u64(c);
	flags = perfdata_take(c, 2);
	t->is_short = flags[1];
}

int perfdata_decode_own(const struct perfdata *pd, struct perfdata_cursor *c,
			struct perf_record *r)
{
	switch (r->type) {
	case PERFDATA_TIME_CONV:
		decode_time_conv(c, &r->time_conv);
		break;
	case PERFDATA_AUXTRACE_INFO:
		r->aux_info.type = perfdata_u32(c);
		perfdata_u32(c);
		r->aux_info.nr = (size_t)(c->end - c->at) / 8;
		r->aux_info.word = perfdata_words(c, r->aux_info.nr);
		break;
	}
	if (c->bad)
		return perfdata_fail(pd, r->offset, -CPI_ECORRUPT,
				     "a record of type %u that is shorter than its "
				     "fields",
				     r->type);
	return 0;
}

uint64_t perfdata_time(const struct perfdata *pd, uint8_t *record, size_t size)
{
	const struct perf_event_header *h = (const void *)record;
	struct perfdata_cursor c = { record + sizeof(*h), record + size, pd->swap,
				     false };
	struct perf_record r = { .type = pd->swap ? __builtin_bswap32(h->type)
						  : h->type };
	uint64_t type;

	if (r.type != PERF_RECORD_SAMPLE) {
		perfdata_decode_trailer(pd, &c, &r);
		return r.time;
	}
	r.event = perfdata_sample_event(pd, c, &r.id);
	type = r.event < 0 ? 0 : pd->info.event[r.event].sample_type;
	if (!(type & PERF_SAMPLE_TIME))
		return UINT64_MAX;
	perfdata_take(&c, 8 * __builtin_popcountll(type &
						   (PERF_SAMPLE_IDENTIFIER |
						    PERF_SAMPLE_IP | PERF_SAMPLE_TID)));
	return perfdata_u64(&c);
}
