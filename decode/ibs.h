/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ibs.h - decodes AMD's Instruction-Based Sampling: records of a fetch or an op
 *
 * The kernel puts the registers into a sample's raw data: 32 bits of capabilities
 * (CPUID 8000001BH EAX), then registers of 64 bits, in host byte order.
 */
#ifndef CPI_DECODE_IBS_H
#define CPI_DECODE_IBS_H

#include <stddef.h>
#include <stdint.h>

#include "decode/hwrecord.h"

enum ibs_kind { IBS_FETCH, IBS_OP };

/* Capability bits on which the registers or their meaning depend. */
enum ibs_cap {
	IBS_CAP_BRANCH_TARGET = 1 << 5,
	IBS_CAP_FETCH_EXTENDED = 1 << 9,
	IBS_CAP_ZEN4 =
		1 << 11, /* misses of the L3 and the op cache, more data sources */
	IBS_CAP_LOAD_LATENCY = 1 << 12, /* a filter by latency, since Zen 5 */
};

/* The processor. Errata depend on family and model; 0 if not known. */
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
	uint32_t caps;             /* from the raw data */
	uint64_t reg[IBS_NR_REGS]; /* 0 if the processor lacks the register */
};

/*
 * Reads the registers from a sample's raw data; raw does not include the length field.
 * Returns 0, or -EBADMSG if the data is too short, or its valid bit is not set.
 */
int ibs_read(enum ibs_kind kind, const void *raw, size_t size, struct ibs_sample *out);

void ibs_record(const struct ibs_sample *s, const struct ibs_machine *machine,
		struct hw_record *out);

/* Both steps, with the capabilities of the raw data in place of the machine's. */
int ibs_read_record(enum ibs_kind kind, const void *raw, size_t size,
		    const struct ibs_machine *machine, struct hw_record *out);

#endif
