/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ibs_text.c - IBS's registers in the words that perf has for them
 */
#include "config.h"

#include <inttypes.h>

#include "decode/ibs_fields.h"
#include "t/records/text.h"

struct item {
	const char *format; /* takes one int */
	enum ibs_field field;
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

static void put(const struct ibs_sample *s, const char *format, enum ibs_field field,
		struct buf *out)
{
	buf_printf(out, format, (int)ibs_get(s, field));
}

static void put_items(const struct ibs_sample *s, const struct item *items, size_t nr,
		      struct buf *out)
{
	for (size_t i = 0; i < nr; i++)
		put(s, items[i].format, items[i].field, out);
}

static void put_register(const char *name, uint64_t value, struct buf *out)
{
	buf_printf(out, "%s:\t%016" PRIx64, name, value);
}

static void put_address(const char *name, uint64_t value, struct buf *out)
{
	put_register(name, value, out);
	buf_putc(out, '\n');
}

/* ---- fetches ---- */

static const char *page_size(const struct ibs_sample *s,
			     const struct ibs_machine *machine)
{
	static const char *const size[] = { "4KB", "2MB", "1GB", "RESERVED" };
	static const char *const erratum[] = { "4KB", "16KB", "2MB", "1GB" };
	unsigned int i = ibs_get(s, IBS_F_FETCH_PAGE_SIZE);

	return ibs_has_fetch_errata(machine) ? erratum[i] : size[i];
}

static void put_fetch_ctl(const struct ibs_sample *s, const struct ibs_machine *machine,
			  struct buf *out)
{
	static const struct item tlb[] = {
		{ " L1TlbMiss %d", IBS_F_FETCH_L1TLB_MISS },
		{ " L2TlbMiss %d", IBS_F_FETCH_L2TLB_MISS },
		{ " RandEn %d", IBS_F_FETCH_RANDOM },
	};
	static const struct item zen4[] = {
		{ " L3MissOnly %d", IBS_F_FETCH_L3_MISS_ONLY },
		{ " FetchOcMiss %d", IBS_F_OP_CACHE_MISS },
		{ " FetchL3Miss %d", IBS_F_FETCH_L3_MISS },
	};

	put_register("ibs_fetch_ctl", s->reg[IBS_FETCH_CTL], out);
	buf_printf(out, " MaxCnt %7u Cnt %7u", ibs_get(s, IBS_F_FETCH_MAX_COUNT) << 4,
		   ibs_get(s, IBS_F_FETCH_COUNT) << 4);
	put(s, " Lat %5d", IBS_F_FETCH_LATENCY, out);
	put(s, " En %d", IBS_F_FETCH_ENABLE, out);
	put(s, " Val %d", IBS_F_FETCH_VALID, out);
	put(s, " Comp %d", IBS_F_FETCH_COMPLETE, out);
	if (!ibs_has_fetch_errata(machine))
		put(s, " IcMiss %d", IBS_F_IC_MISS, out);
	put(s, " PhyAddrValid %d", IBS_F_FETCH_PHYSICAL_VALID, out);
	if (ibs_get(s, IBS_F_FETCH_PHYSICAL_VALID))
		buf_printf(out, " L1TlbPgSz %s", page_size(s, machine));
	put_items(s, tlb, NR(tlb), out);
	if (ibs_get(s, IBS_F_FETCH_COMPLETE))
		put(s, " L2Miss %d", IBS_F_FETCH_L2_MISS, out);
	if (ibs_has(machine, IBS_CAP_ZEN4))
		put_items(s, zen4, NR(zen4), out);
	buf_putc(out, '\n');
}

static void put_fetch(const struct ibs_sample *s, const struct ibs_machine *machine,
		      struct buf *out)
{
	put_fetch_ctl(s, machine, out);
	put_address("IbsFetchLinAd", s->reg[IBS_FETCH_LINEAR], out);
	if (ibs_get(s, IBS_F_FETCH_PHYSICAL_VALID))
		put_address("IbsFetchPhysAd", s->reg[IBS_FETCH_PHYSICAL], out);
	put_register("ic_ibs_ext_ctl", s->reg[IBS_FETCH_EXTENDED], out);
	put(s, " IbsItlbRefillLat %3d\n", IBS_F_ITLB_REFILL_LATENCY, out);
}

/* ---- ops ---- */

static void put_op_ctl(const struct ibs_sample *s, const struct ibs_machine *machine,
		       struct buf *out)
{
	unsigned int max = ibs_get(s, IBS_F_OP_MAX_COUNT_HIGH) << 16 |
			   ibs_get(s, IBS_F_OP_MAX_COUNT);

	put_register("ibs_op_ctl", s->reg[IBS_OP_CTL], out);
	buf_printf(out, " MaxCnt %9u", max << 4);
	if (ibs_has(machine, IBS_CAP_ZEN4))
		put(s, " L3MissOnly %d", IBS_F_OP_L3_MISS_ONLY, out);
	put(s, " En %d", IBS_F_OP_ENABLE, out);
	put(s, " Val %d", IBS_F_OP_VALID, out);
	put(s, " CntCtl %d=", IBS_F_OP_COUNTS_OPS, out);
	buf_puts(out, ibs_get(s, IBS_F_OP_COUNTS_OPS) ? "uOps" : "cycles");
	put(s, " CurCnt %9d", IBS_F_OP_COUNT, out);
	if (ibs_has(machine, IBS_CAP_LOAD_LATENCY)) {
		put(s, " LdLatThrsh %2d", IBS_F_LOAD_LATENCY_THRESHOLD, out);
		put(s, " LdLatEn %d", IBS_F_LOAD_LATENCY_ENABLE, out);
	}
	buf_putc(out, '\n');
}

static void put_op_data(const struct ibs_sample *s, struct buf *out)
{
	static const struct item latency[] = {
		{ " CompToRetCtr %5d", IBS_F_COMPLETE_TO_RETIRE },
		{ " TagToRetCtr %5d", IBS_F_TAG_TO_RETIRE },
	};
	static const struct item branch[] = {
		{ " OpReturn %d", IBS_F_RETURN },
		{ " OpBrnTaken %d", IBS_F_BRANCH_TAKEN },
		{ " OpBrnMisp %d", IBS_F_BRANCH_MISPREDICTED },
	};
	static const struct item rest[] = {
		{ " BrnRet %d ", IBS_F_BRANCH_RETIRED },
		{ " RipInvalid %d", IBS_F_RIP_INVALID },
		{ " BrnFuse %d", IBS_F_BRANCH_FUSED },
		{ " Microcode %d\n", IBS_F_MICROCODE },
	};

	put_register("ibs_op_data", s->reg[IBS_OP_DATA], out);
	put_items(s, latency, NR(latency), out);
	if (ibs_get(s, IBS_F_BRANCH_RETIRED))
		put_items(s, branch, NR(branch), out);
	put_items(s, rest, NR(rest), out);
}

static const char *const sources[] = {
	[1] = "(reserved)", [2] = "Local node cache",
	[3] = "DRAM",       [4] = "Remote node cache",
	[5] = "(reserved)", [6] = "(reserved)",
	[7] = "Other",
};

static const char *const sources_zen4[] = {
	[1] = "Local L3 or other L1/L2 in CCX",
	[2] = "Another CCX cache in the same NUMA node",
	[3] = "DRAM",
	[4] = "(reserved)",
	[5] = "Another CCX cache in a different NUMA node",
	[6] = "Long-latency DIMM",
	[7] = "MMIO/Config/PCI/APIC",
	[8] = "Extension Memory",
	[9] = "(reserved)",
	[10] = "(reserved)",
	[11] = "(reserved)",
	[12] = "Coherent Memory of a different processor type",
};

static void put_op_data2(const struct ibs_sample *s, const struct ibs_machine *machine,
			 struct buf *out)
{
	bool zen4 = ibs_has(machine, IBS_CAP_ZEN4);
	const char *const *name = zen4 ? sources_zen4 : sources;
	unsigned int nr = zen4 ? NR(sources_zen4) : NR(sources);
	unsigned int source = ibs_source(s, machine);

	put_register("ibs_op_data2", s->reg[IBS_OP_DATA2], out);
	if (source == 2 || (zen4 && (source == 1 || source == 5)))
		buf_puts(out, ibs_get(s, IBS_F_CACHE_HIT_STATE)
				      ? " CacheHitSt 1=O-State"
				      : " CacheHitSt 0=M-state");
	put(s, " RmtNode %d", IBS_F_REMOTE_NODE, out);
	if (source && source < nr)
		buf_printf(out, " DataSrc %u=%s", source, name[source]);
	buf_putc(out, '\n');
}

static void put_op_data3(const struct ibs_sample *s, bool with_misses, struct buf *out)
{
	static const struct item first[] = {
		{ " LdOp %d", IBS_F_LOAD },
		{ " StOp %d", IBS_F_STORE },
		{ " DcL1TlbMiss %d", IBS_F_L1TLB_MISS },
		{ " DcL2TlbMiss %d", IBS_F_L2TLB_MISS },
		{ " DcL1TlbHit2M %d", IBS_F_L1TLB_HIT_2M },
		{ " DcL1TlbHit1G %d", IBS_F_L1TLB_HIT_1G },
		{ " DcL2TlbHit2M %d", IBS_F_L2TLB_HIT_2M },
		{ " DcMiss %d", IBS_F_DC_MISS },
		{ " DcMisAcc %d", IBS_F_MISALIGNED },
		{ " DcWcMemAcc %d", IBS_F_WRITE_COMBINING },
		{ " DcUcMemAcc %d", IBS_F_UNCACHEABLE },
		{ " DcLockedOp %d", IBS_F_LOCKED },
		{ " DcMissNoMabAlloc %d", IBS_F_MISS_WITHOUT_BUFFER },
		{ " DcLinAddrValid %d", IBS_F_LINEAR_VALID },
		{ " DcPhyAddrValid %d", IBS_F_PHYSICAL_VALID },
		{ " DcL2TlbHit1G %d", IBS_F_L2TLB_HIT_1G },
	};
	static const struct item last[] = {
		{ " DcMissLat %5d", IBS_F_DC_MISS_LATENCY },
		{ " TlbRefillLat %5d\n", IBS_F_TLB_REFILL_LATENCY },
	};
	unsigned int width = ibs_get(s, IBS_F_MEMORY_WIDTH);

	put_register("ibs_op_data3", s->reg[IBS_OP_DATA3], out);
	put_items(s, first, NR(first), out);
	if (with_misses)
		put(s, " L2Miss %d", IBS_F_L2_MISS, out);
	put(s, " SwPf %d", IBS_F_PREFETCH, out);
	if (width)
		buf_printf(out, " OpMemWidth %2u bytes", 1u << (width - 1));
	if (with_misses)
		put(s, " OpDcMissOpenMemReqs %2d", IBS_F_OPEN_REQUESTS, out);
	put_items(s, last, NR(last), out);
}

static void put_op(const struct ibs_sample *s, const struct ibs_machine *machine,
		   struct buf *out)
{
	bool with_misses = !ibs_has_miss_erratum(s, machine);

	put_op_ctl(s, machine, out);
	if (!ibs_get(s, IBS_F_RIP_INVALID))
		put_address("IbsOpRip", s->reg[IBS_OP_RIP], out);
	put_op_data(s, out);
	if (with_misses)
		put_op_data2(s, machine, out);
	put_op_data3(s, with_misses, out);
	if (ibs_get(s, IBS_F_LINEAR_VALID))
		put_address("IbsDCLinAd", s->reg[IBS_OP_LINEAR], out);
	if (ibs_get(s, IBS_F_PHYSICAL_VALID))
		put_address("IbsDCPhysAd", s->reg[IBS_OP_PHYSICAL], out);
	if (ibs_get(s, IBS_F_BRANCH_RETIRED) && s->reg[IBS_OP_TARGET])
		put_address("IbsBrTarget", s->reg[IBS_OP_TARGET], out);
}

void ibs_text(const struct ibs_sample *s, const struct ibs_machine *machine,
	      struct buf *out)
{
	if (s->kind == IBS_FETCH)
		put_fetch(s, machine, out);
	else
		put_op(s, machine, out);
}
