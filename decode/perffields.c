/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perffields.c - perf's data sources and weights
 *
 * A data source names the level in two ways: by a number (newer) and by bits (older).
 * If both are set, the number is used.
 */
#include "config.h"

#include "decode/perffields.h"

#include <linux/perf_event.h>
#include <stddef.h>

#include "decode/data_src_fields.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/*
 * The three weights of PERF_SAMPLE_WEIGHT_STRUCT; PERF_SAMPLE_WEIGHT has only the
 * first one.
 */
struct weights {
	uint32_t memory; /* cycles of a load's access */
	uint16_t issue;  /* from its dispatch to its completion */
	uint16_t retire; /* since what retired before it */
};

static struct weights split_weights(uint64_t word, bool is_struct)
{
	struct weights w = { .memory = word > UINT32_MAX ? UINT32_MAX : word };

	if (is_struct) {
		w.memory = word & UINT32_MAX;
		w.issue = word >> 32 & UINT16_MAX;
		w.retire = word >> 48;
	}
	return w;
}

static void record_weights(const struct perf_fields *f, struct hw_record *r)
{
	const bool is_struct = f->has & PERF_SAMPLE_WEIGHT_STRUCT;
	const struct weights w = split_weights(f->weight, is_struct);

	if (w.memory)
		hw_set(r, HW_MEMORY, w.memory);
	if (w.issue)
		hw_set(r, HW_DISPATCH_TO_COMPLETE, w.issue);
	if (w.retire || (is_struct && f->tells_retire))
		hw_set(r, HW_RETIRE_TO_RETIRE, w.retire);
}

/* What we know about data that was found at a level. */
struct level {
	bool known;
	enum hw_data_source source;
	enum { IN_L1, IN_L2, IN_LLC, BEHIND_LLC } depth;
};

static struct level find_by_number(unsigned int number, bool remote)
{
	static const struct level levels[16] = {
		[PERF_MEM_LVLNUM_L1] = { true, HW_FROM_L1, IN_L1 },
		[PERF_MEM_LVLNUM_L2] = { true, HW_FROM_L2, IN_L2 },
		[PERF_MEM_LVLNUM_L3] = { true, HW_FROM_LOCAL_CACHE, IN_LLC },
		[PERF_MEM_LVLNUM_L4] = { true, HW_FROM_LOCAL_CACHE, IN_LLC },
		[PERF_MEM_LVLNUM_CXL] = { true, HW_FROM_SLOW_RAM, BEHIND_LLC },
		[PERF_MEM_LVLNUM_IO] = { true, HW_FROM_IO, BEHIND_LLC },
		[PERF_MEM_LVLNUM_RAM] = { true, HW_FROM_RAM, BEHIND_LLC },
		[PERF_MEM_LVLNUM_PMEM] = { true, HW_FROM_SLOW_RAM, BEHIND_LLC },
	};
	static const struct level far_cache = { true, HW_FROM_FAR_CACHE, BEHIND_LLC };
	static const struct level far_ram = { true, HW_FROM_FAR_RAM, BEHIND_LLC };

	if (remote && number == PERF_MEM_LVLNUM_RAM)
		return far_ram;
	if (remote && (number == PERF_MEM_LVLNUM_ANY_CACHE ||
		       (levels[number].known && levels[number].depth < BEHIND_LLC)))
		return far_cache;
	return levels[number];
}

static struct level find_by_bits(unsigned int bits)
{
	static const struct {
		unsigned int bits;
		struct level level;
	} levels[] = {
		{ PERF_MEM_LVL_L1, { true, HW_FROM_L1, IN_L1 } },
		{ PERF_MEM_LVL_L2, { true, HW_FROM_L2, IN_L2 } },
		{ PERF_MEM_LVL_L3, { true, HW_FROM_LOCAL_CACHE, IN_LLC } },
		{ PERF_MEM_LVL_LOC_RAM, { true, HW_FROM_RAM, BEHIND_LLC } },
		{ PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2,
		  { true, HW_FROM_FAR_RAM, BEHIND_LLC } },
		{ PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2,
		  { true, HW_FROM_FAR_CACHE, BEHIND_LLC } },
		{ PERF_MEM_LVL_IO, { true, HW_FROM_IO, BEHIND_LLC } },
	};
	const struct level none = { .known = false };

	for (size_t i = 0; i < NR(levels); i++) {
		if (bits & levels[i].bits)
			return levels[i].level;
	}
	return none;
}

/* A miss in the named level, without saying where the data was. */
static void record_miss(unsigned int level, struct hw_record *r)
{
	if (level & PERF_MEM_LVL_L1)
		hw_tell(r, HW_L1D_MISS, true);
	if (level & PERF_MEM_LVL_L2)
		hw_tell(r, HW_L2_MISS, true);
	if (level & PERF_MEM_LVL_L3)
		hw_tell(r, HW_LLC_MISS, true);
}

static void record_level(uint64_t data_src, struct hw_record *r)
{
	const unsigned int bits = data_src_get(data_src, SRC_LEVEL);
	const unsigned int number = data_src_get(data_src, SRC_NUMBER);
	struct level at;

	if (bits & PERF_MEM_LVL_UNC)
		hw_tell(r, HW_UNCACHED, true);
	if (bits & PERF_MEM_LVL_MISS) {
		record_miss(bits, r);
		return;
	}
	if (number == PERF_MEM_LVLNUM_LFB || bits & PERF_MEM_LVL_LFB) {
		hw_set(r, HW_DATA_SOURCE, HW_FROM_FILL_BUFFER);
		hw_tell(r, HW_L1D_MISS, true);
		return;
	}
	at = find_by_number(number, data_src_get(data_src, SRC_REMOTE));
	if (!at.known)
		at = find_by_bits(bits);
	if (!at.known)
		return;
	hw_set(r, HW_DATA_SOURCE, at.source);
	hw_tell(r, HW_L1D_MISS, at.depth > IN_L1);
	hw_tell(r, HW_L2_MISS, at.depth > IN_L2);
	hw_tell(r, HW_LLC_MISS, at.depth > IN_LLC);
	hw_tell(r, HW_REMOTE,
		at.source == HW_FROM_FAR_CACHE || at.source == HW_FROM_FAR_RAM);
}

static void record_tlb(unsigned int tlb, struct hw_record *r)
{
	const bool walked = tlb & (PERF_MEM_TLB_WK | PERF_MEM_TLB_OS);

	if (tlb & PERF_MEM_TLB_NA || !(tlb & (PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS)))
		return;
	if (tlb & PERF_MEM_TLB_HIT && tlb & PERF_MEM_TLB_L1 &&
	    !(tlb & PERF_MEM_TLB_L2) && !walked) {
		hw_tell(r, HW_DTLB_MISS, false);
		hw_tell(r, HW_DTLB_WALK, false);
	} else if (tlb & PERF_MEM_TLB_HIT && !walked) {
		/* a hit in the first or second level: the first may have missed */
		hw_tell(r, HW_DTLB_WALK, false);
	} else {
		hw_tell(r, HW_DTLB_MISS, true);
		hw_tell(r, HW_DTLB_WALK, true);
	}
}

static void record_data_src(uint64_t data_src, struct hw_record *r)
{
	const unsigned int op = data_src_get(data_src, SRC_OP),
			   lock = data_src_get(data_src, SRC_LOCK);
	const unsigned int snoop = data_src_get(data_src, SRC_SNOOP);

	if (op && !(op & PERF_MEM_OP_NA)) {
		hw_tell(r, HW_LOAD, op & PERF_MEM_OP_LOAD);
		hw_tell(r, HW_STORE, op & PERF_MEM_OP_STORE);
		hw_tell(r, HW_PREFETCH, op & PERF_MEM_OP_PFETCH);
	}
	if (lock && !(lock & PERF_MEM_LOCK_NA))
		hw_tell(r, HW_LOCKED, lock & PERF_MEM_LOCK_LOCKED);
	if (snoop && !(snoop & PERF_MEM_SNOOP_NA))
		hw_tell(r, HW_MODIFIED, snoop & PERF_MEM_SNOOP_HITM);
	record_level(data_src, r);
	record_tlb(data_src_get(data_src, SRC_TLB), r);
}

void perf_fields_record(const struct perf_fields *f, struct hw_record *out)
{
	struct hw_record r = { 0 };

	if (f->exact_ip)
		hw_tell(&r, HW_RETIRED, true);
	if (f->has & PERF_SAMPLE_IP && f->exact_ip)
		hw_set(&r, HW_PC, f->ip);
	if (f->has & PERF_SAMPLE_ADDR && f->addr)
		hw_set(&r, HW_DATA_ADDRESS, f->addr);
	if (f->has & PERF_SAMPLE_PHYS_ADDR && f->phys_addr)
		hw_set(&r, HW_DATA_PHYSICAL, f->phys_addr);
	if (f->has & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		record_weights(f, &r);
	if (f->has & PERF_SAMPLE_DATA_SRC)
		record_data_src(f->data_src, &r);
	*out = r;
}
