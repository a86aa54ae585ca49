/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perffields.c - perf's data sources and weights
 *
 * Of a data source's two ways to name the level, the newer number goes before the older
 * bits. Bits are taken out by hand: compilers lay bit-fields out by byte order.
 */
#include "config.h"

#include "analysis/perffields.h"

#include <linux/perf_event.h>

/* name, lowest bit, number of bits */
#define DATA_SRC_FIELDS(X)   \
	X(OP, 0, 5)          \
	X(LEVEL, 5, 14)      \
	X(SNOOP, 19, 5)      \
	X(LOCK, 24, 2)       \
	X(TLB, 26, 7)        \
	X(NUMBER, 33, 4)     \
	X(REMOTE, 37, 1)     \
	X(SNOOP_MORE, 38, 2) \
	X(BLOCKED, 40, 3)    \
	X(HOPS, 43, 3)

enum data_src_field {
#define FIELD_ENUM(name, low, bits) SRC_##name,
	DATA_SRC_FIELDS(FIELD_ENUM)
#undef FIELD_ENUM
};

static unsigned int get(uint64_t data_src, enum data_src_field field)
{
	static const struct {
		uint8_t low, bits;
	} place[] = {
#define FIELD_PLACE(name, low, bits) { low, bits },
		DATA_SRC_FIELDS(FIELD_PLACE)
#undef FIELD_PLACE
	};

	return data_src >> place[field].low & ((1u << place[field].bits) - 1);
}

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* ---- text ---- */

/* The names of the bits that are set, "or" between them; returns how many. */
static unsigned int put_bits(const char *const *name, size_t nr, unsigned int bits,
			     unsigned int before, struct buf *out)
{
	for (size_t i = 0; i < nr; i++) {
		if (bits >> i & 1)
			buf_printf(out, "%s%s", before++ ? " or " : "", name[i]);
	}
	return before;
}

static void put_first(const char *const *name, size_t nr, unsigned int bits,
		      struct buf *out)
{
	size_t i = 0;

	while (i + 1 < nr && !(bits >> i & 1))
		i++;
	buf_puts(out, name[i]);
}

/* Hits and misses are said behind what was hit or missed. */
static void put_hit_miss(unsigned int bits, struct buf *out)
{
	if (bits & PERF_MEM_LVL_HIT)
		buf_puts(out, " hit");
	if (bits & PERF_MEM_LVL_MISS)
		buf_puts(out, " miss");
}

static const char *const level_number[16] = {
	[PERF_MEM_LVLNUM_CXL] = "CXL",
	[PERF_MEM_LVLNUM_IO] = "I/O",
	[PERF_MEM_LVLNUM_ANY_CACHE] = "Any cache",
	[PERF_MEM_LVLNUM_LFB] = "LFB/MAB",
	[PERF_MEM_LVLNUM_RAM] = "RAM",
	[PERF_MEM_LVLNUM_PMEM] = "PMEM",
	[PERF_MEM_LVLNUM_NA] = "N/A",
};

static void put_level(uint64_t data_src, struct buf *out)
{
	static const char *const name[] = { "N/A",
					    "HIT",
					    "MISS",
					    "L1",
					    "LFB/MAB",
					    "L2",
					    "L3",
					    "Local RAM",
					    "Remote RAM (1 hop)",
					    "Remote RAM (2 hops)",
					    "Remote Cache (1 hop)",
					    "Remote Cache (2 hops)",
					    "I/O",
					    "Uncached" };
	static const char *const hops[8] = { "",
					     "core, same node ",
					     "node, same socket ",
					     "socket, same board ",
					     "board ",
					     "",
					     "",
					     "" };
	const unsigned int level = get(data_src, SRC_LEVEL);
	const unsigned int number = get(data_src, SRC_NUMBER);
	const unsigned int hop = get(data_src, SRC_HOPS);
	const size_t begin = out->len;
	unsigned int nr = 0;

	if (get(data_src, SRC_REMOTE))
		buf_puts(out, "Remote ");
	if (hop)
		buf_puts(out, hops[hop]);
	else
		nr = put_bits(name, NR(name),
			      level & ~(PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS), 0, out);
	if (number && nr)
		buf_puts(out, " or ");
	if (number && level_number[number])
		buf_puts(out, level_number[number]);
	else if (number)
		buf_printf(out, "L%u", number);
	if (out->len == begin)
		buf_puts(out, "N/A");
	put_hit_miss(level, out);
}

static void put_snoop(uint64_t data_src, struct buf *out)
{
	static const char *const name[] = { "N/A", "None", "Hit", "Miss", "HitM" };
	static const char *const more[] = { "Fwd", "Peer" };
	unsigned int nr = put_bits(name, NR(name), get(data_src, SRC_SNOOP), 0, out);

	if (!put_bits(more, NR(more), get(data_src, SRC_SNOOP_MORE), nr, out))
		buf_puts(out, "N/A");
}

static void put_tlb(uint64_t data_src, struct buf *out)
{
	static const char *const name[] = { "N/A", "HIT",    "MISS", "L1",
					    "L2",  "Walker", "Fault" };
	const unsigned int tlb = get(data_src, SRC_TLB);

	if (!put_bits(name, NR(name), tlb & ~(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS), 0,
		      out))
		buf_puts(out, "N/A");
	put_hit_miss(tlb, out); /* the same bits as a level's */
}

static void put_blocked(uint64_t data_src, struct buf *out)
{
	const unsigned int blocked = get(data_src, SRC_BLOCKED);

	if (!blocked || blocked & PERF_MEM_BLK_NA) {
		buf_puts(out, " N/A");
		return;
	}
	if (blocked & PERF_MEM_BLK_DATA)
		buf_puts(out, " Data");
	if (blocked & PERF_MEM_BLK_ADDR)
		buf_puts(out, " Addr");
}

void perf_data_src_text(uint64_t data_src, struct buf *out)
{
	static const char *const op[] = {
		"N/A", "LOAD", "STORE", "PFETCH", "EXEC", "No"
	};
	static const char *const lock[] = { "N/A", "Yes", "No" };

	buf_puts(out, "|OP ");
	put_first(op, NR(op), get(data_src, SRC_OP), out);
	buf_puts(out, "|LVL ");
	put_level(data_src, out);
	buf_puts(out, "|SNP ");
	put_snoop(data_src, out);
	buf_puts(out, "|TLB ");
	put_tlb(data_src, out);
	buf_puts(out, "|LCK ");
	put_first(lock, NR(lock), get(data_src, SRC_LOCK), out);
	buf_puts(out, "|BLK ");
	put_blocked(data_src, out);
}

/* ---- records ---- */

/* What PERF_SAMPLE_WEIGHT_STRUCT has three of, and PERF_SAMPLE_WEIGHT one. */
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

/* What a level says of data that was found there: of the old bits, and of the number.
 */
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
	const unsigned int bits = get(data_src, SRC_LEVEL);
	const unsigned int number = get(data_src, SRC_NUMBER);
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
	at = find_by_number(number, get(data_src, SRC_REMOTE));
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
		hw_tell(r, HW_DTLB_WALK,
			false); /* L1 or L2: the first may have missed */
	} else {
		hw_tell(r, HW_DTLB_MISS, true);
		hw_tell(r, HW_DTLB_WALK, true);
	}
}

static void record_data_src(uint64_t data_src, struct hw_record *r)
{
	const unsigned int op = get(data_src, SRC_OP), lock = get(data_src, SRC_LOCK);
	const unsigned int snoop = get(data_src, SRC_SNOOP);

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
	record_tlb(get(data_src, SRC_TLB), r);
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
