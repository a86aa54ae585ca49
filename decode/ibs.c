/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ibs.c - IBS's registers as a record
 *
 * Some bits are valid only if other bits are set. Only this file checks that, and it
 * leaves invalid bits out of the record.
 */
#include "config.h"

#include "decode/ibs.h"

#include <errno.h>
#include <string.h>

#include "decode/ibs_fields.h"

/* Registers that every processor with IBS has. */
#define NR_FETCH_MIN 3 /* all but the extended control */
#define NR_OP_MIN    7 /* all but the branch target */

static const struct {
	uint8_t reg, low, bits;
} fields[] = {
#define IBS_FIELD_PLACE(name, in, low, bits) { IBS_##in, low, bits },
	IBS_FIELDS(IBS_FIELD_PLACE)
#undef IBS_FIELD_PLACE
};

unsigned int ibs_get(const struct ibs_sample *s, enum ibs_field field)
{
	const uint64_t mask = (1ULL << fields[field].bits) - 1;

	return s->reg[fields[field].reg] >> fields[field].low & mask;
}

unsigned int ibs_source(const struct ibs_sample *s, const struct ibs_machine *machine)
{
	unsigned int low = ibs_get(s, IBS_F_SOURCE_LOW);

	if (!ibs_has(machine, IBS_CAP_ZEN4))
		return low;
	return ibs_get(s, IBS_F_SOURCE_HIGH) << 3 | low;
}

bool ibs_has_fetch_errata(const struct ibs_machine *machine)
{
	return machine->family == 0x19 && machine->model < 0x10;
}

bool ibs_has_miss_erratum(const struct ibs_sample *s, const struct ibs_machine *machine)
{
	return machine->family == 0x19 && machine->model < 0x10 &&
	       (ibs_get(s, IBS_F_MISS_WITHOUT_BUFFER) || ibs_get(s, IBS_F_PREFETCH));
}

/* ---- reading ---- */

static bool is_valid(const struct ibs_sample *s)
{
	if (s->kind == IBS_FETCH)
		return ibs_get(s, IBS_F_FETCH_ENABLE) && ibs_get(s, IBS_F_FETCH_VALID);
	return ibs_get(s, IBS_F_OP_ENABLE) && ibs_get(s, IBS_F_OP_VALID);
}

/* The number of registers that we know; registers of newer capabilities may follow. */
static size_t nr_regs(enum ibs_kind kind, uint32_t caps)
{
	if (kind == IBS_FETCH)
		return NR_FETCH_MIN + !!(caps & IBS_CAP_FETCH_EXTENDED);
	return NR_OP_MIN + !!(caps & IBS_CAP_BRANCH_TARGET);
}

int ibs_read(enum ibs_kind kind, const void *raw, size_t size, struct ibs_sample *out)
{
	struct ibs_sample s = { .kind = kind };
	size_t nr;

	if (size < sizeof(s.caps))
		return -EBADMSG;
	memcpy(&s.caps, raw, sizeof(s.caps));
	nr = (size - sizeof(s.caps)) / sizeof(s.reg[0]);
	if (nr < nr_regs(kind, 0))
		return -EBADMSG;
	if (nr > nr_regs(kind, s.caps))
		nr = nr_regs(kind, s.caps);
	memcpy(s.reg, (const char *)raw + sizeof(s.caps), nr * sizeof(s.reg[0]));
	if (!is_valid(&s))
		return -EBADMSG;
	*out = s;
	return 0;
}

/* ---- fetches ---- */

static void record_fetch(const struct ibs_sample *s, const struct ibs_machine *machine,
			 struct hw_record *r)
{
	bool complete = ibs_get(s, IBS_F_FETCH_COMPLETE);

	hw_set(r, HW_PC, s->reg[IBS_FETCH_LINEAR]);
	hw_tell(r, HW_FETCHED, complete);
	hw_set(r, HW_FETCH, ibs_get(s, IBS_F_FETCH_LATENCY));
	if (!ibs_has_fetch_errata(machine))
		hw_tell(r, HW_L1I_MISS, ibs_get(s, IBS_F_IC_MISS));
	hw_tell(r, HW_ITLB_MISS, ibs_get(s, IBS_F_FETCH_L1TLB_MISS));
	hw_tell(r, HW_ITLB_WALK, ibs_get(s, IBS_F_FETCH_L2TLB_MISS));
	if (complete)
		hw_tell(r, HW_L2_MISS, ibs_get(s, IBS_F_FETCH_L2_MISS));
	if (ibs_has(machine, IBS_CAP_ZEN4)) {
		hw_tell(r, HW_OP_CACHE_MISS, ibs_get(s, IBS_F_OP_CACHE_MISS));
		hw_tell(r, HW_LLC_MISS, ibs_get(s, IBS_F_FETCH_L3_MISS));
	}
	if (s->caps & IBS_CAP_FETCH_EXTENDED)
		hw_set(r, HW_FETCH_TRANSLATION, ibs_get(s, IBS_F_ITLB_REFILL_LATENCY));
}

/* ---- ops ---- */

static void record_branch(const struct ibs_sample *s, struct hw_record *r)
{
	bool branch = ibs_get(s, IBS_F_BRANCH_RETIRED);

	hw_tell(r, HW_BRANCH, branch);
	if (!branch)
		return;
	hw_tell(r, HW_RETURN, ibs_get(s, IBS_F_RETURN));
	hw_tell(r, HW_TAKEN, ibs_get(s, IBS_F_BRANCH_TAKEN));
	hw_tell(r, HW_MISPREDICTED, ibs_get(s, IBS_F_BRANCH_MISPREDICTED));
	if (s->reg[IBS_OP_TARGET])
		hw_set(r, HW_TARGET, s->reg[IBS_OP_TARGET]);
}

static void record_latencies(const struct ibs_sample *s, struct hw_record *r)
{
	unsigned int all = ibs_get(s, IBS_F_TAG_TO_RETIRE);
	unsigned int last = ibs_get(s, IBS_F_COMPLETE_TO_RETIRE);

	hw_set(r, HW_DISPATCH_TO_RETIRE, all);
	hw_set(r, HW_COMPLETE_TO_RETIRE, last);
	if (all >= last)
		hw_set(r, HW_DISPATCH_TO_COMPLETE, all - last);
}

/* What the code of a data source means; llc: whether the last-level cache had it. */
struct source {
	bool known;
	enum hw_data_source source;
	enum { LLC_HIT, LLC_MISSED, LLC_UNKNOWN } llc;
};

static const struct source sources[] = {
	[2] = { true, HW_FROM_LOCAL_CACHE, LLC_UNKNOWN },
	[3] = { true, HW_FROM_RAM, LLC_MISSED },
	[4] = { true, HW_FROM_FAR_CACHE, LLC_MISSED },
	[7] = { true, HW_FROM_IO, LLC_MISSED },
};

static const struct source sources_zen4[] = {
	[1] = { true, HW_FROM_LOCAL_CACHE, LLC_HIT },
	[2] = { true, HW_FROM_NEAR_CACHE, LLC_MISSED },
	[3] = { true, HW_FROM_RAM, LLC_MISSED },
	[5] = { true, HW_FROM_FAR_CACHE, LLC_MISSED },
	[6] = { true, HW_FROM_SLOW_RAM, LLC_MISSED },
	[7] = { true, HW_FROM_IO, LLC_MISSED },
	[8] = { true, HW_FROM_SLOW_RAM, LLC_MISSED },
	[12] = { true, HW_FROM_PEER, LLC_MISSED },
};

static struct source find_source(unsigned int number, const struct ibs_machine *machine)
{
	const struct source none = { .known = false };

	if (ibs_has(machine, IBS_CAP_ZEN4))
		return number < sizeof(sources_zen4) / sizeof(sources_zen4[0])
			       ? sources_zen4[number]
			       : none;
	return number < sizeof(sources) / sizeof(sources[0]) ? sources[number] : none;
}

/* Records the data source of a load that missed all caches of its core. */
static void record_beyond_l2(const struct ibs_sample *s,
			     const struct ibs_machine *machine, struct hw_record *r)
{
	struct source from = find_source(ibs_source(s, machine), machine);
	bool remote = ibs_get(s, IBS_F_REMOTE_NODE);

	if (!from.known) {
		if (ibs_get(s, IBS_F_MISS_WITHOUT_BUFFER))
			hw_set(r, HW_DATA_SOURCE, HW_FROM_FILL_BUFFER);
		return;
	}
	if (from.source == HW_FROM_RAM && remote)
		from.source = HW_FROM_FAR_RAM;
	hw_set(r, HW_DATA_SOURCE, from.source);
	hw_tell(r, HW_REMOTE, remote);
	if (from.llc != LLC_UNKNOWN)
		hw_tell(r, HW_LLC_MISS, from.llc == LLC_MISSED);
	if (from.source == HW_FROM_NEAR_CACHE || from.source == HW_FROM_FAR_CACHE)
		hw_tell(r, HW_MODIFIED, !ibs_get(s, IBS_F_CACHE_HIT_STATE));
}

static void record_caches(const struct ibs_sample *s, const struct ibs_machine *machine,
			  struct hw_record *r)
{
	bool load = ibs_get(s, IBS_F_LOAD), missed = ibs_get(s, IBS_F_DC_MISS);
	bool missed_l2 = missed && ibs_get(s, IBS_F_L2_MISS);

	hw_tell(r, HW_L1D_MISS, missed);
	if (missed && load)
		hw_set(r, HW_MEMORY, ibs_get(s, IBS_F_DC_MISS_LATENCY));
	if (missed && ibs_has_miss_erratum(s, machine))
		return;
	hw_tell(r, HW_L2_MISS, missed_l2);
	if (missed_l2 && load) {
		record_beyond_l2(s, machine, r);
	} else if (!missed_l2) {
		hw_tell(r, HW_LLC_MISS, false);
		hw_set(r, HW_DATA_SOURCE, missed ? HW_FROM_L2 : HW_FROM_L1);
	}
}

static void record_translation(const struct ibs_sample *s, struct hw_record *r)
{
	bool missed = ibs_get(s, IBS_F_L1TLB_MISS);

	if (!ibs_get(s, IBS_F_LINEAR_VALID))
		return;
	hw_set(r, HW_DATA_ADDRESS, s->reg[IBS_OP_LINEAR]);
	hw_tell(r, HW_DTLB_MISS, missed);
	hw_tell(r, HW_DTLB_WALK, missed && ibs_get(s, IBS_F_L2TLB_MISS));
	if (missed)
		hw_set(r, HW_TRANSLATION, ibs_get(s, IBS_F_TLB_REFILL_LATENCY));
}

static void record_access(const struct ibs_sample *s, const struct ibs_machine *machine,
			  struct hw_record *r)
{
	bool load = ibs_get(s, IBS_F_LOAD), store = ibs_get(s, IBS_F_STORE);
	unsigned int width = ibs_get(s, IBS_F_MEMORY_WIDTH);

	hw_tell(r, HW_LOAD, load);
	hw_tell(r, HW_STORE, store);
	if (!load && !store)
		return;
	hw_tell(r, HW_PREFETCH, ibs_get(s, IBS_F_PREFETCH));
	hw_tell(r, HW_LOCKED, ibs_get(s, IBS_F_LOCKED));
	hw_tell(r, HW_MISALIGNED, ibs_get(s, IBS_F_MISALIGNED));
	hw_tell(r, HW_UNCACHED, ibs_get(s, IBS_F_UNCACHEABLE));
	if (width)
		hw_set(r, HW_DATA_BYTES, 1u << (width - 1));
	record_translation(s, r);
	if (ibs_get(s, IBS_F_PHYSICAL_VALID))
		hw_set(r, HW_DATA_PHYSICAL, s->reg[IBS_OP_PHYSICAL]);
	record_caches(s, machine, r);
}

static void record_op(const struct ibs_sample *s, const struct ibs_machine *machine,
		      struct hw_record *r)
{
	if (!ibs_get(s, IBS_F_RIP_INVALID))
		hw_set(r, HW_PC, s->reg[IBS_OP_RIP]);
	hw_tell(r, HW_RETIRED, true); /* a tagged op that is flushed makes no sample */
	record_branch(s, r);
	record_latencies(s, r);
	record_access(s, machine, r);
}

void ibs_record(const struct ibs_sample *s, const struct ibs_machine *machine,
		struct hw_record *out)
{
	*out = (struct hw_record){ 0 };
	if (s->kind == IBS_FETCH)
		record_fetch(s, machine, out);
	else
		record_op(s, machine, out);
}

int ibs_read_record(enum ibs_kind kind, const void *raw, size_t size,
		    const struct ibs_machine *machine, struct hw_record *out)
{
	struct ibs_machine m = *machine;
	struct ibs_sample s;
	int err = ibs_read(kind, raw, size, &s);

	if (err)
		return err;
	m.caps = s.caps;
	ibs_record(&s, &m, out);
	return 0;
}
