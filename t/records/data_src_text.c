/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * data_src_text.c - perf's data sources in the words of perf script -F data_src
 */
#include "config.h"

#include <linux/perf_event.h>

#include "decode/data_src_fields.h"
#include "t/records/text.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

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
	const unsigned int level = data_src_get(data_src, SRC_LEVEL);
	const unsigned int number = data_src_get(data_src, SRC_NUMBER);
	const unsigned int hop = data_src_get(data_src, SRC_HOPS);
	const size_t begin = out->len;
	unsigned int nr = 0;

	if (data_src_get(data_src, SRC_REMOTE))
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
	unsigned int nr =
		put_bits(name, NR(name), data_src_get(data_src, SRC_SNOOP), 0, out);

	if (!put_bits(more, NR(more), data_src_get(data_src, SRC_SNOOP_MORE), nr, out))
		buf_puts(out, "N/A");
}

static void put_tlb(uint64_t data_src, struct buf *out)
{
	static const char *const name[] = { "N/A", "HIT",    "MISS", "L1",
					    "L2",  "Walker", "Fault" };
	const unsigned int tlb = data_src_get(data_src, SRC_TLB);

	if (!put_bits(name, NR(name), tlb & ~(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS), 0,
		      out))
		buf_puts(out, "N/A");
	put_hit_miss(tlb, out); /* the same bits as a level's */
}

static void put_blocked(uint64_t data_src, struct buf *out)
{
	const unsigned int blocked = data_src_get(data_src, SRC_BLOCKED);

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
	put_first(op, NR(op), data_src_get(data_src, SRC_OP), out);
	buf_puts(out, "|LVL ");
	put_level(data_src, out);
	buf_puts(out, "|SNP ");
	put_snoop(data_src, out);
	buf_puts(out, "|TLB ");
	put_tlb(data_src, out);
	buf_puts(out, "|LCK ");
	put_first(lock, NR(lock), data_src_get(data_src, SRC_LOCK), out);
	buf_puts(out, "|BLK ");
	put_blocked(data_src, out);
}
