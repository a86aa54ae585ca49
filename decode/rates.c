/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates.c - rates, latencies and addresses of a row, and the conversion of records
 */
#include "config.h"

#include "decode/rates.h"

#include <errno.h>
#include <stdlib.h>

#include "base/loglin.h"

bool rates_event(const struct records_row *row, enum record_event event, double period,
		 struct rates_event *out)
{
	const uint64_t known = records_cell(row, RECORDS_KNOWN, event);
	const uint64_t seen = records_cell(row, RECORDS_SEEN, event);

	if (!known)
		return false;
	*out = (struct rates_event){ known, seen, interval_count(seen, period),
				     interval_share(seen, known) };
	return true;
}

/* The latency of the record that has rank others before it: the middle of its bin. */
static double nth(const struct records_cell *cell, uint32_t nr, uint64_t rank)
{
	uint32_t i = 0;

	while (i + 1 < nr && rank >= cell[i].n)
		rank -= cell[i++].n;
	return loglin_middle(cell[i].value);
}

bool rates_latency(const struct records_row *row, enum record_latency latency,
		   struct rates_latency *out)
{
	const struct records_cell *cell = NULL;
	uint64_t n = 0;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < row->nr; i++) {
		if (row->cell[i].series != RECORDS_LATENCY + (uint32_t)latency)
			continue;
		if (!cell)
			cell = &row->cell[i];
		n += row->cell[i].n;
		nr++;
	}
	if (!n)
		return false;
	*out = (struct rates_latency){
		.n = n,
		.min = loglin_middle(cell[0].value),
		.median = nth(cell, nr, (n - 1) / 2),
		.p99 = nth(cell, nr, n - 1 - n / 100),
		.max = loglin_middle(cell[nr - 1].value),
	};
	return true;
}

static int by_use(const void *va, const void *vb)
{
	const struct rates_address *a = va, *b = vb;

	if (a->least != b->least)
		return a->least < b->least ? 1 : -1;
	return (a->address > b->address) - (a->address < b->address);
}

int rates_addresses(const struct records_row *row,
		    struct rates_address out[RECORDS_ADDRESSES])
{
	uint64_t left = records_cell(row, RECORDS_KNOWN, RECORD_DATA_ADDRESS);
	int nr = 0;

	for (uint32_t i = 0; i < row->nr; i++) {
		const struct records_cell *c = &row->cell[i];

		if (c->series != RECORDS_ADDRESS || nr == RECORDS_ADDRESSES)
			continue;
		out[nr++] = (struct rates_address){ c->value, c->n, c->n };
		left -= c->n;
	}
	for (int i = 0; i < nr; i++)
		out[i].most += left / (RECORDS_ADDRESSES + 1);
	qsort(out, nr, sizeof(*out), by_use);
	return nr;
}

/* hwrecord.h's flags and db/profile/records.h's events have the same names. */
static const struct {
	enum hw_flag flag;
	enum record_event event;
} events[] = {
#define SAME(name)                        \
	{                                 \
		HW_##name, RECORD_##name, \
	}
	SAME(RETIRED),  SAME(EXCEPTION),    SAME(LOAD),       SAME(STORE),
	SAME(PREFETCH), SAME(LOCKED),       SAME(MISALIGNED), SAME(UNCACHED),
	SAME(BRANCH),   SAME(CONDITIONAL),  SAME(INDIRECT),   SAME(RETURN),
	SAME(TAKEN),    SAME(MISPREDICTED), SAME(FETCHED),    SAME(OP_CACHE_MISS),
	SAME(L1I_MISS), SAME(ITLB_MISS),    SAME(ITLB_WALK),  SAME(L1D_MISS),
	SAME(L2_MISS),  SAME(LLC_MISS),     SAME(DTLB_MISS),  SAME(DTLB_WALK),
	SAME(REMOTE),   SAME(MODIFIED),
#undef SAME
};

static const struct {
	enum hw_value value;
	enum record_latency latency;
} latencies[] = {
#define SAME(name)                             \
	{                                      \
		HW_##name, RECORD_TIME_##name, \
	}
	SAME(FETCH),
	SAME(FETCH_TRANSLATION),
	SAME(DISPATCH_TO_ISSUE),
	SAME(TRANSLATION),
	SAME(MEMORY),
	SAME(DISPATCH_TO_COMPLETE),
	SAME(COMPLETE_TO_RETIRE),
	SAME(DISPATCH_TO_RETIRE),
	SAME(RETIRE_TO_RETIRE),
#undef SAME
};

_Static_assert(sizeof(events) / sizeof(events[0]) == HW_NR_FLAGS,
	       "each flag is an event");
_Static_assert(sizeof(latencies) / sizeof(latencies[0]) ==
		       HW_NR_VALUES - HW_FIRST_LATENCY,
	       "each latency is kept");

void rates_record(const struct hw_record *hw, struct record *out)
{
	*out = (struct record){ .known = 1u << RECORD_ANY };
	for (int i = 0; i < HW_NR_FLAGS; i++) {
		const uint32_t bit = 1u << events[i].event;

		out->known |= hw_knows(hw, events[i].flag) ? bit : 0;
		out->seen |= hw_is(hw, events[i].flag) ? bit & out->known : 0;
	}
	if (hw_has(hw, HW_DATA_ADDRESS)) {
		out->known |= 1u << RECORD_DATA_ADDRESS;
		out->address = hw->value[HW_DATA_ADDRESS];
	}
	for (size_t i = 0; i < sizeof(latencies) / sizeof(latencies[0]); i++) {
		if (!hw_has(hw, latencies[i].value))
			continue;
		out->timed |= 1u << latencies[i].latency;
		out->cycles[latencies[i].latency] = hw->value[latencies[i].value];
	}
}

int rates_add(struct profile *p, uint64_t offset, const struct hw_record *hw)
{
	struct records *r = profile_make_records(p);
	struct record one;

	if (!r)
		return -ENOMEM;
	rates_record(hw, &one);
	return records_add(r, offset, &one);
}
