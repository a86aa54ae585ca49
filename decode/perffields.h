/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perffields.h - what perf itself says of a sample: PEBS's data, in the kernel's words
 */
#ifndef CPI_ANALYSIS_PERFFIELDS_H
#define CPI_ANALYSIS_PERFFIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/hwrecord.h"

/* A sample's fields; what has is not set for was not asked for. */
struct perf_fields {
	uint64_t has; /* PERF_SAMPLE_* of what follows: IP, ADDR, PHYS_ADDR, … */
	uint64_t ip, addr, phys_addr;
	uint64_t weight;   /* of WEIGHT or WEIGHT_STRUCT */
	uint64_t data_src; /* of DATA_SRC */
	bool exact_ip;     /* PERF_RECORD_MISC_EXACT_IP: ip is the instruction's own */
	bool tells_retire; /* whether 0 in the third weight is a latency */
};

/* Precise samples are of retired instructions. A weight of 0 is none, but for those. */
void perf_fields_record(const struct perf_fields *f, struct hw_record *out);

#endif
