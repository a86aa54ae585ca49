/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_attr.c - events, and the event of each record
 *
 * struct perf_event_attr had 64 bytes at first, and still grows. Missing members are 0.
 * Unknown members at the end are ignored: whatever changes the layout of samples has a
 * bit in sample_type.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "daemon/import/perfdata_private.h"

#define ATTR_SIZE 112 /* up to what is read here */

/* Bits of the attribute's flags: where they begin, and how many. */
enum attr_flag {
	ATTR_INHERIT = 1,
	ATTR_EXCLUDE_USER = 4,
	ATTR_EXCLUDE_KERNEL = 5,
	ATTR_EXCLUDE_HV = 6,
	ATTR_FREQ = 10,
	ATTR_PRECISE_IP = 15,
	ATTR_SAMPLE_ID_ALL = 18,
	ATTR_USE_CLOCKID = 25,
};

static bool flag(uint64_t flags, bool is_big, enum attr_flag at)
{
	return perfdata_bits(flags, is_big, at, 1);
}

static void decode_attr(struct perfdata_cursor *c, bool is_big,
			struct perfdata_event *e)
{
	uint64_t flags;

	e->type = perfdata_u32(c);
	perfdata_u32(c); /* size */
	e->config = perfdata_u64(c);
	e->sample_period = perfdata_u64(c);
	e->sample_type = perfdata_u64(c);
	e->read_format = perfdata_u64(c);
	flags = perfdata_u64(c);
	perfdata_u32(c); /* when to wake up */
	perfdata_u32(c); /* kind of breakpoint */
	e->config1 = perfdata_u64(c);
	e->config2 = perfdata_u64(c);
	e->branch_sample_type = perfdata_u64(c);
	e->regs_user = perfdata_u64(c);
	perfdata_u32(c); /* bytes of the stack that were asked for */
	perfdata_u32(c); /* clock */
	e->regs_intr = perfdata_u64(c);
	perfdata_u32(c); /* when to wake up for AUX data */
	e->max_stack = perfdata_u16(c);

	e->is_freq = flag(flags, is_big, ATTR_FREQ);
	e->sample_id_all = flag(flags, is_big, ATTR_SAMPLE_ID_ALL);
	e->inherits = flag(flags, is_big, ATTR_INHERIT);
	e->use_clockid = flag(flags, is_big, ATTR_USE_CLOCKID);
	e->exclude_user = flag(flags, is_big, ATTR_EXCLUDE_USER);
	e->exclude_kernel = flag(flags, is_big, ATTR_EXCLUDE_KERNEL);
	e->exclude_hv = flag(flags, is_big, ATTR_EXCLUDE_HV);
	e->precise_ip = perfdata_bits(flags, is_big, ATTR_PRECISE_IP, 2);
}

int perfdata_add_attr(struct perfdata *pd, uint8_t *attr, size_t size)
{
	uint8_t whole[ATTR_SIZE] = { 0 };
	struct perfdata_cursor c = { whole, whole + sizeof(whole), pd->swap, false };
	struct perfdata_info *info = &pd->info;
	struct perfdata_event e = { 0 };

	if (info->nr_events == PERFDATA_MAX_EVENTS)
		return -CPI_ELIMIT;
	memcpy(whole, attr, size < sizeof(whole) ? size : sizeof(whole));
	decode_attr(&c, info->is_big, &e);
	e.name = strdup("");
	if (!e.name || GROW(info->event, info->nr_events)) {
		free(e.name);
		return -ENOMEM;
	}
	info->event[info->nr_events++] = e;
	return 0;
}

struct perfdata_id *perfdata_get_id(const struct perfdata *pd, uint64_t id)
{
	for (struct hnode *n = hmap_first(&pd->ids, hash_u64(id)); n;
	     n = hmap_next(n)) {
		struct perfdata_id *i = container_of(n, struct perfdata_id, node);

		if (i->id == id)
			return i;
	}
	return NULL;
}

int perfdata_find_id(const struct perfdata *pd, uint64_t id)
{
	const struct perfdata_id *i = perfdata_get_id(pd, id);

	return i ? i->event : -1;
}

int perfdata_add_id(struct perfdata *pd, uint64_t id, int event)
{
	struct perfdata_id *i;

	if (perfdata_find_id(pd, id) >= 0)
		return 0;
	if (pd->ids.nr == PERFDATA_MAX_IDS)
		return -CPI_ELIMIT;
	i = calloc(1, sizeof(*i));
	if (!i)
		return -ENOMEM;
	i->id = id;
	i->event = event;
	if (hmap_insert(&pd->ids, &i->node, hash_u64(id))) {
		free(i);
		return -ENOMEM;
	}
	return 0;
}

int perfdata_last_count(struct perfdata *pd, struct perfdata_id *id, uint32_t tid,
			uint64_t **out)
{
	const struct perfdata_event *e = &pd->info.event[id->event];
	const uint64_t hash = hash_u64(id->id ^ (uint64_t)tid << 32);
	struct perfdata_thread_count *c;
	struct hnode *n;

	if (!e->inherits || !(e->sample_type & PERF_SAMPLE_TID)) {
		*out = &id->count;
		return 0;
	}
	for (n = hmap_first(&pd->counts, hash); n; n = hmap_next(n)) {
		c = container_of(n, struct perfdata_thread_count, node);
		if (c->id == id->id && c->tid == tid) {
			*out = &c->count;
			return 0;
		}
	}
	if (pd->counts.nr == PERFDATA_MAX_IDS)
		return -CPI_ELIMIT;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->id = id->id;
	c->tid = tid;
	if (hmap_insert(&pd->counts, &c->node, hash)) {
		free(c);
		return -ENOMEM;
	}
	*out = &c->count;
	return 0;
}

void perfdata_free_attrs(struct perfdata *pd)
{
	struct hnode *n, *next;

	hmap_for_each (&pd->counts, n, next) {
		hmap_remove(&pd->counts, n);
		free(container_of(n, struct perfdata_thread_count, node));
	}
	hmap_fini(&pd->counts);

	hmap_for_each (&pd->ids, n, next) {
		hmap_remove(&pd->ids, n);
		free(container_of(n, struct perfdata_id, node));
	}
	hmap_fini(&pd->ids);
	for (size_t i = 0; i < pd->info.nr_events; i++)
		free(pd->info.event[i].name);
	free(pd->info.event);
}

/* The event of an id. As in perf, records without an id belong to the first event. */
static int event_of(const struct perfdata *pd, uint64_t id)
{
	const struct perfdata_info *info = &pd->info;
	int event;

	if (info->nr_events < 2 || !id)
		return info->nr_events ? 0 : -1;
	event = perfdata_find_id(pd, id);
	return event < 0 && !info->event[0].sample_id_all ? 0 : event;
}

int perfdata_sample_event(const struct perfdata *pd, struct perfdata_cursor c,
			  uint64_t *id)
{
	uint64_t type = pd->info.nr_events ? pd->info.event[0].sample_type : 0;
	size_t before = 0;

	*id = 0;
	if (!(type & PERF_SAMPLE_IDENTIFIER)) {
		if (!(type & PERF_SAMPLE_ID))
			return event_of(pd, 0);
		before = __builtin_popcountll(type &
					      (PERF_SAMPLE_IP | PERF_SAMPLE_TID |
					       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR));
	}
	perfdata_take(&c, 8 * before);
	*id = perfdata_u64(&c);
	return c.bad ? -1 : event_of(pd, *id);
}

/* The event of a record other than a sample, whose id is near the record's end. */
static int trailer_event(const struct perfdata *pd, const struct perfdata_cursor *c,
			 uint64_t *id)
{
	const struct perfdata_event *first = pd->info.event;
	struct perfdata_cursor at = *c;
	size_t behind = 8;

	*id = 0;
	if (!(first->sample_type & PERF_SAMPLE_IDENTIFIER)) {
		if (!(first->sample_type & PERF_SAMPLE_ID))
			return 0;
		behind += 8 * !!(first->sample_type & PERF_SAMPLE_CPU);
		behind += 8 * !!(first->sample_type & PERF_SAMPLE_STREAM_ID);
	}
	if (behind > (size_t)(at.end - at.at))
		return 0;
	at.at = at.end - behind;
	*id = perfdata_u64(&at);
	return event_of(pd, *id);
}

void perfdata_decode_trailer(const struct perfdata *pd, struct perfdata_cursor *c,
			     struct perf_record *r)
{
	const uint64_t in_trailer = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				    PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				    PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	struct perfdata_cursor at = *c;
	uint64_t type;
	size_t size;

	r->event = -1;
	r->time = UINT64_MAX;
	r->cpu = UINT32_MAX;
	if (!pd->info.nr_events || !pd->info.event[0].sample_id_all)
		return;
	r->event = trailer_event(pd, c, &r->id);
	if (r->event < 0)
		return;
	type = pd->info.event[r->event].sample_type;
	size = 8 * __builtin_popcountll(type & in_trailer);
	if (size > (size_t)(at.end - at.at))
		return;
	at.at = at.end - size;
	c->end = at.at;
	if (type & PERF_SAMPLE_TID) {
		r->pid = perfdata_u32(&at);
		r->tid = perfdata_u32(&at);
	}
	if (type & PERF_SAMPLE_TIME)
		r->time = perfdata_u64(&at);
	if (type & PERF_SAMPLE_ID)
		perfdata_u64(&at);
	if (type & PERF_SAMPLE_STREAM_ID)
		perfdata_u64(&at);
	if (type & PERF_SAMPLE_CPU)
		r->cpu = perfdata_u32(&at);
}
