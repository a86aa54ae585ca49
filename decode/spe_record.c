/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spe_record.c - makes one record of the SPE packets of a sample
 *
 * The meaning of an event depends on the operation, whose packet may come later. So all
 * packets of a record are gathered first, and interpreted when the record ends.
 *
 * I1  No record mixes packets from before and after a damaged place: all packets up to
 *     the next end of a record are skipped. A second PC shows that an end is missing.
 */
#include "config.h"

#include "decode/spe.h"
#include "decode/spe_bits.h"

struct gathered {
	struct hw_record record; /* facts that do not depend on the operation */
	bool has_operation, has_events, has_source;
	struct spe_packet operation, events, source;
};

/*
 * A packet has the lower 56 bits. The exception level tells the upper ones: all ones
 * in the kernel.
 */
static uint64_t code_address(uint64_t payload)
{
	const uint64_t address = payload & SPE_ADDRESS_MASK;
	const unsigned int level = spe_level(payload);

	return level == 1 || level == 2 ? address | ~SPE_ADDRESS_MASK : address;
}

/* The top byte may be a tag. */
static uint64_t data_address(uint64_t payload)
{
	const uint64_t address = payload & SPE_ADDRESS_MASK;

	return address >> 52 == 0xf ? address | ~SPE_ADDRESS_MASK : address;
}

static void gather_address(struct hw_record *r, const struct spe_packet *p)
{
	switch (p->index) {
	case SPE_PC:
		hw_set(r, HW_PC, code_address(p->payload));
		break;
	case SPE_TARGET:
		hw_set(r, HW_TARGET, code_address(p->payload));
		break;
	case SPE_VIRTUAL:
		hw_set(r, HW_DATA_ADDRESS, data_address(p->payload));
		break;
	case SPE_PHYSICAL:
		hw_set(r, HW_DATA_PHYSICAL, p->payload & SPE_ADDRESS_MASK);
		break;
	}
}

static void gather_counter(struct hw_record *r, const struct spe_packet *p)
{
	static const enum hw_value latency[] = {
		[SPE_TOTAL] = HW_DISPATCH_TO_COMPLETE,
		[SPE_ISSUE] = HW_DISPATCH_TO_ISSUE,
		[SPE_TRANSLATION] = HW_TRANSLATION,
	};

	if (p->index < sizeof(latency) / sizeof(latency[0]))
		hw_set(r, latency[p->index], p->payload & 0xffff);
}

/* Whether the packet ends the record. */
static bool gather(struct gathered *g, const struct spe_packet *p)
{
	switch (p->type) {
	case SPE_PAD:
		return false;
	case SPE_END:
		return true;
	case SPE_TIMESTAMP:
		hw_set(&g->record, HW_TIMESTAMP, p->payload);
		return true;
	case SPE_EVENTS:
		g->events = *p;
		g->has_events = true;
		return false;
	case SPE_DATA_SOURCE:
		g->source = *p;
		g->has_source = true;
		return false;
	case SPE_CONTEXT:
		hw_set(&g->record, HW_CONTEXT, p->payload);
		return false;
	case SPE_OPERATION:
		g->operation = *p;
		g->has_operation = true;
		return false;
	case SPE_ADDRESS:
		gather_address(&g->record, p);
		return false;
	case SPE_COUNTER:
		gather_counter(&g->record, p);
		return false;
	}
	return false;
}

/* ---- interpreting the gathered packets ---- */

static void tell_operation(const struct spe_packet *operation, struct hw_record *r)
{
	const uint64_t word = operation->payload;
	const bool accesses = operation->index == SPE_LOAD_STORE;
	const bool branches = operation->index == SPE_BRANCH;
	const unsigned int class = word >> 3 & 3;

	hw_tell(r, HW_LOAD, accesses && !SPE_BIT(word, 0));
	hw_tell(r, HW_STORE, accesses && SPE_BIT(word, 0));
	if (accesses)
		hw_tell(r, HW_LOCKED, spe_is_extended_access(word) && (word & 0x0c));
	hw_tell(r, HW_BRANCH, branches);
	if (!branches)
		return;
	hw_tell(r, HW_CONDITIONAL, SPE_BIT(word, 0));
	hw_tell(r, HW_INDIRECT, SPE_BIT(word, 1));
	if (class)
		hw_tell(r, HW_RETURN, class == 2);
}

/* Whether a cache was missed is known only if it was accessed. */
static void tell_miss(uint64_t events, unsigned int access, unsigned int miss,
		      enum hw_flag flag, struct hw_record *r)
{
	if (SPE_BIT(events, access))
		hw_tell(r, flag, SPE_BIT(events, miss));
}

static void tell_events(const struct spe_packet *events, struct hw_record *r)
{
	const uint64_t word = events->payload;

	hw_tell(r, HW_EXCEPTION, SPE_BIT(word, SPE_EV_EXCEPTION));
	hw_tell(r, HW_RETIRED, SPE_BIT(word, SPE_EV_RETIRED));
	tell_miss(word, SPE_EV_L1D_ACCESS, SPE_EV_L1D_REFILL, HW_L1D_MISS, r);
	tell_miss(word, SPE_EV_TLB_ACCESS, SPE_EV_TLB_WALK, HW_DTLB_WALK, r);
	tell_miss(word, SPE_EV_LLC_ACCESS, SPE_EV_LLC_MISS, HW_LLC_MISS, r);
	tell_miss(word, SPE_EV_L2D_ACCESS, SPE_EV_L2D_MISS, HW_L2_MISS, r);
	if (hw_is(r, HW_BRANCH)) {
		hw_tell(r, HW_TAKEN, !SPE_BIT(word, SPE_EV_NOT_TAKEN));
		hw_tell(r, HW_MISPREDICTED, SPE_BIT(word, SPE_EV_MISPREDICTED));
	}
	if (events->bytes > 1 && (hw_is(r, HW_LOAD) || hw_is(r, HW_STORE)))
		hw_tell(r, HW_REMOTE, SPE_BIT(word, SPE_EV_REMOTE));
	/* Not every version of SPE has these bits: 0 does not mean false. */
	if (SPE_BIT(word, SPE_EV_MISALIGNED))
		hw_tell(r, HW_MISALIGNED, true);
	if (SPE_BIT(word, SPE_EV_MODIFIED))
		hw_tell(r, HW_MODIFIED, true);
	if (SPE_BIT(word, SPE_EV_FILL_BUFFER))
		hw_set(r, HW_DATA_SOURCE, HW_FROM_FILL_BUFFER);
}

static void tell_source(uint64_t number, struct hw_record *r)
{
	static const struct {
		bool known;
		enum hw_data_source source;
	} sources[] = {
		[0x0] = { true, HW_FROM_L1 },
		[0x8] = { true, HW_FROM_L2 },
		[0x9] = { true, HW_FROM_LOCAL_CACHE }, /* of another core */
		[0xa] = { true, HW_FROM_LOCAL_CACHE }, /* the cluster's */
		[0xb] = { true, HW_FROM_LOCAL_CACHE }, /* the system's */
		[0xc] = { true, HW_FROM_NEAR_CACHE },
		[0xd] = { true, HW_FROM_FAR_CACHE },
		[0xe] = { true, HW_FROM_RAM },
	};

	if (number < sizeof(sources) / sizeof(sources[0]) && sources[number].known)
		hw_set(r, HW_DATA_SOURCE, sources[number].source);
}

static void finish(struct gathered *g, bool common_sources, struct hw_record *out)
{
	if (g->has_operation)
		tell_operation(&g->operation, &g->record);
	if (g->has_events)
		tell_events(&g->events, &g->record);
	if (g->has_source && common_sources)
		tell_source(g->source.payload, &g->record);
	*out = g->record;
}

/* Whether the packet begins another record although the current one has not ended. */
static bool is_another(const struct gathered *g, const struct spe_packet *p)
{
	return p->type == SPE_ADDRESS && p->index == SPE_PC &&
	       hw_has(&g->record, HW_PC);
}

static void skip_to(struct spe_reader *r, size_t at)
{
	r->nr_damaged++;
	r->skipped += at - r->at;
	r->at = at;
}

bool spe_next(struct spe_reader *r, struct hw_record *out)
{
	const struct gathered none = { .has_operation = false };
	struct gathered g = none;
	struct spe_packet p;
	size_t at = r->at;
	int length;

	while ((length = spe_read_packet(&r->stream, at, &p)) != 0) {
		if (length < 0) {
			r->damaged = true;
			at++;
			continue;
		}
		if (is_another(&g, &p)) {
			g = none;
			if (!r->damaged)
				skip_to(r, at);
		}
		if (p.type == SPE_PAD && at == r->at && !r->damaged)
			r->at += length;
		at += length;
		if (at - r->at > SPE_RECORD_MAX)
			r->damaged = true;
		if (!gather(&g, &p))
			continue;
		if (!r->damaged) {
			finish(&g, r->common_sources, out);
			r->at = at;
			return true;
		}
		skip_to(r, at);
		g = none;
		r->damaged = false;
	}
	if (r->damaged) { /* none of these bytes is needed any more */
		r->skipped += at - r->at;
		r->at = at;
	}
	return false;
}

bool spe_has_common_sources(uint64_t midr)
{
	enum { IMPLEMENTER_ARM = 0x41 };
	/* Cortex A720, A725, X3, X925; Neoverse N1, N2, N3, V1, V2, V3 */
	static const uint16_t parts[] = { 0xd81, 0xd87, 0xd4e, 0xd85, 0xd0c,
					  0xd49, 0xd8e, 0xd40, 0xd4f, 0xd84 };

	if ((midr >> 24 & 0xff) != IMPLEMENTER_ARM)
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if ((midr >> 4 & 0xfff) == parts[i])
			return true;
	}
	return false;
}
