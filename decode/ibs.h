/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ibs.h - what AMD's Instruction-Based Sampling says of a fetch or an op
 *
 * The kernel hands the registers out as a sample's raw data: 32 bits of capabilities
 * (CPUID 8000001BH EAX), then 64 bits each, in host byte order.
 */
#ifndef CPI_ANALYSIS_IBS_H
#define CPI_ANALYSIS_IBS_H

#include <stddef.h>
#include <stdint.h>

#include "decode/hwrecord.h"

enum ibs_kind { IBS_FETCH, IBS_OP };

/* Bits of the capabilities that change what registers there are, or mean. */
enum ibs_cap {
	IBS_CAP_BRANCH_TARGET = 1 << 5,
	IBS_CAP_FETCH_EXTENDED = 1 << 9,
	IBS_CAP_ZEN4 = 1 << 11, /* misses of the L3 and the op cache, finer sources */
	IBS_CAP_LOAD_LATENCY = 1 << 12, /* a filter by it, since Zen 5 */
};

/* The processor: errata go by its family and model; 0 where they are not known. */
struct ibs_machine {
	uint32_t caps;
	unsigned int family, model;
};

enum { IBS_FETCH_CTL, IBS_FETCH_LINEAR, IBS_FETCH_PHYSICAL, IBS_FETCH_EXTENDED };

enum {
	IBS_OP_CTL,
	IBS_OP_RIP,
	IBS_OP_DATA,
	IBS_OP_DATA2,
	IBS_OP_DATA3,
	IBS_OP_LINEAR,
	IBS_OP_PHYSICAL,
	IBS_OP_TARGET,
	IBS_NR_REGS
};

struct ibs_sample {
	enum ibs_kind kind;
	uint32_t caps;             /* as the raw data has them */
	uint64_t reg[IBS_NR_REGS]; /* 0 where the processor has none */
};

/*
 * Takes the registers out of a sample's raw data, without the length before it. 0, or
 * -EBADMSG when it is too short, or says itself that it is no valid sample.
 */
int ibs_read(enum ibs_kind kind, const void *raw, size_t size, struct ibs_sample *out);

void ibs_record(const struct ibs_sample *s, const struct ibs_machine *machine,
		struct hw_record *out);

/* Both, with the capabilities that the raw data has instead of the machine's. */
int ibs_read_record(enum ibs_kind kind, const void *raw, size_t size,
		    const struct ibs_machine *machine, struct hw_record *out);

#endif
