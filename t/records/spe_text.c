/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spe_text.c - SPE's packets in the words that perf has for them
 *
 * A load or store of a general register is plain LD or ST: newer perfs add GP-REG.
 */
#include "config.h"

#include <inttypes.h>

#include "decode/spe_bits.h"
#include "t/records/text.h"

struct word {
	uint64_t mask, bits;
	const char *text;
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* Every word that fits. */
static void put_words(const struct word *words, size_t nr, uint64_t payload,
		      struct buf *out)
{
	for (size_t i = 0; i < nr; i++) {
		if ((payload & words[i].mask) == words[i].bits)
			buf_printf(out, " %s", words[i].text);
	}
}

static void put_flag(bool is, const char *text, struct buf *out)
{
	if (is)
		buf_printf(out, " %s", text);
}

static void put_events(uint64_t payload, struct buf *out)
{
	static const char *const text[] = {
		[SPE_EV_EXCEPTION] = "EXCEPTION-GEN",
		[SPE_EV_RETIRED] = "RETIRED",
		[SPE_EV_L1D_ACCESS] = "L1D-ACCESS",
		[SPE_EV_L1D_REFILL] = "L1D-REFILL",
		[SPE_EV_TLB_ACCESS] = "TLB-ACCESS",
		[SPE_EV_TLB_WALK] = "TLB-REFILL",
		[SPE_EV_NOT_TAKEN] = "NOT-TAKEN",
		[SPE_EV_MISPREDICTED] = "MISPRED",
		[SPE_EV_LLC_ACCESS] = "LLC-ACCESS",
		[SPE_EV_LLC_MISS] = "LLC-REFILL",
		[SPE_EV_REMOTE] = "REMOTE-ACCESS",
		[SPE_EV_MISALIGNED] = "ALIGNMENT",
		[SPE_EV_TRANSACTION] = "TXN",
		[SPE_EV_PARTIAL_PREDICATE] = "SVE-PARTIAL-PRED",
		[SPE_EV_EMPTY_PREDICATE] = "SVE-EMPTY-PRED",
		[SPE_EV_L2D_ACCESS] = "L2D-ACCESS",
		[SPE_EV_L2D_MISS] = "L2D-MISS",
		[SPE_EV_MODIFIED] = "HITM",
		[SPE_EV_FILL_BUFFER] = "LFB",
		[SPE_EV_SNOOPED] = "SNOOPED",
		[SPE_EV_STREAMING] = "STREAMING-SVE",
		[SPE_EV_SMCU] = "SMCU",
	};
	const char *before = " IMPDEF:";

	buf_puts(out, "EV");
	for (unsigned int i = 0; i < NR(text); i++)
		put_flag(text[i] && SPE_BIT(payload, i), text[i], out);
	for (unsigned int i = 0; i < 64; i++) {
		if (!SPE_BIT(payload, i) || (i < NR(text) && text[i]))
			continue;
		buf_printf(out, "%s%u", before, i);
		before = ",";
	}
}

static void put_other(uint64_t payload, struct buf *out)
{
	if ((payload & 0x89) == 0x08) {
		buf_printf(out, "SVE-OTHER EVLEN %u", 32u << (payload >> 4 & 7));
		put_flag(SPE_BIT(payload, 1), "FP", out);
		put_flag(SPE_BIT(payload, 2), "PRED", out);
	} else if ((payload & 0x89) == 0x88) {
		buf_printf(out, "SME-OTHER ETS %u",
			   128u << ((payload >> 4 & 7) << 1 | SPE_BIT(payload, 2)));
		put_flag(SPE_BIT(payload, 1), "FP", out);
	} else {
		buf_puts(out, "OTHER");
		if (!(payload & 0xf8)) {
			put_flag(SPE_BIT(payload, 2), "ASE", out);
			put_flag(SPE_BIT(payload, 1), "FP", out);
		}
		put_flag(true, SPE_BIT(payload, 0) ? "COND-SELECT" : "INSN-OTHER", out);
	}
}

static void put_load_store(uint64_t payload, struct buf *out)
{
	static const struct word subclass[] = {
		{ 0xfe, 0x04, "SIMD-FP" },     { 0xfe, 0x10, "UNSPEC-REG" },
		{ 0xfe, 0x30, "NV-SYSREG" },   { 0xfe, 0x14, "MTE-TAG" },
		{ 0xfe, 0x20, "MEMCPY" },      { 0xff, 0x25, "MEMSET" },
		{ 0x0a, 0x08, "SVE-SME-REG" }, { 0xfa, 0x40, "GCS" },
	};

	buf_puts(out, SPE_BIT(payload, 0) ? "ST" : "LD");
	if (spe_is_extended_access(payload)) {
		put_flag(SPE_BIT(payload, 2), "AT", out);
		put_flag(SPE_BIT(payload, 3), "EXCL", out);
		put_flag(SPE_BIT(payload, 4), "AR", out);
		return;
	}
	put_words(subclass, NR(subclass), payload, out);
	if ((payload & 0x0a) == 0x08) {
		buf_printf(out, " EVLEN %u", 32u << (payload >> 4 & 7));
		put_flag(SPE_BIT(payload, 2), "PRED", out);
		put_flag(SPE_BIT(payload, 7), "SG", out);
	} else if ((payload & 0xfa) == 0x40) {
		put_flag(SPE_BIT(payload, 2), "COMM", out);
	}
}

static void put_branch(uint64_t payload, struct buf *out)
{
	static const struct word words[] = {
		{ 0x01, 0x01, "COND" },   { 0x02, 0x02, "IND" },
		{ 0x04, 0x04, "GCS" },    { 0x18, 0x08, "CR-BL" },
		{ 0x18, 0x10, "CR-RET" }, { 0x18, 0x18, "CR-NON-BL-RET" },
	};

	buf_puts(out, "B");
	put_words(words, NR(words), payload, out);
}

static void put_unknown(const char *name, const struct spe_packet *p, struct buf *out)
{
	buf_printf(out, "%s 0x%" PRIx64 " (%u)", name, p->payload, p->index);
}

static void put_operation(const struct spe_packet *p, struct buf *out)
{
	switch (p->index) {
	case SPE_OTHER:
		put_other(p->payload, out);
		break;
	case SPE_LOAD_STORE:
		put_load_store(p->payload, out);
		break;
	case SPE_BRANCH:
		put_branch(p->payload, out);
		break;
	default:
		put_unknown("OP-TYPE", p, out);
	}
}

static void put_address(const struct spe_packet *p, struct buf *out)
{
	static const char *const name[] = { "PC", "TGT", "VA", "PA", "PBT" };
	const uint64_t address = p->payload & SPE_ADDRESS_MASK;
	const unsigned int ns = SPE_BIT(p->payload, 63);

	if (p->index >= NR(name)) {
		put_unknown("ADDR", p, out);
	} else if (p->index == SPE_VIRTUAL) {
		buf_printf(out, "VA 0x%" PRIx64, p->payload);
	} else if (p->index == SPE_PHYSICAL) {
		buf_printf(out, "PA 0x%" PRIx64 " ns=%u ch=%u pat=%x", address, ns,
			   SPE_BIT(p->payload, 62),
			   (unsigned int)(p->payload >> 56 & 0xf));
	} else {
		buf_printf(out, "%s 0x%" PRIx64 " el%u ns=%u", name[p->index], address,
			   spe_level(p->payload), ns);
	}
}

static void put_counter(const struct spe_packet *p, struct buf *out)
{
	static const char *const name[] = { " TOT", " ISSUE", " XLAT" };

	buf_printf(out, "LAT %u%s", (unsigned int)(p->payload & 0xffff),
		   p->index < NR(name) ? name[p->index] : "");
}

void spe_packet_text(const struct spe_packet *p, struct buf *out)
{
	switch (p->type) {
	case SPE_PAD:
		buf_puts(out, "PAD");
		break;
	case SPE_END:
		buf_puts(out, "END");
		break;
	case SPE_TIMESTAMP:
		buf_printf(out, "TS %" PRId64, (int64_t)p->payload);
		break;
	case SPE_EVENTS:
		put_events(p->payload, out);
		break;
	case SPE_DATA_SOURCE:
		buf_printf(out, "DATA-SOURCE %" PRIu64, p->payload);
		break;
	case SPE_CONTEXT:
		buf_printf(out, "CONTEXT 0x%" PRIx64 " el%u", p->payload,
			   p->index + 1u);
		break;
	case SPE_OPERATION:
		put_operation(p, out);
		break;
	case SPE_ADDRESS:
		put_address(p, out);
		break;
	case SPE_COUNTER:
		put_counter(p, out);
		break;
	}
}
