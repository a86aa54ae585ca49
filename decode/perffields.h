/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perffields.h - decodes perf's own fields of a sample, which hold the data of PEBS
 */
#ifndef CPI_DECODE_PERFFIELDS_H
#define CPI_DECODE_PERFFIELDS_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/hwrecord.h"

/* A sample's fields. A field without its bit in has was not requested. */
struct perf_fields {
	uint64_t has; /* PERF_SAMPLE_* of what follows: IP, ADDR, PHYS_ADDR, … */
	uint64_t ip, addr, phys_addr;
	uint64_t weight;   /* WEIGHT or WEIGHT_STRUCT */
	uint64_t data_src; /* of DATA_SRC */
	bool exact_ip; /* PERF_RECORD_MISC_EXACT_IP: ip is the sampled instruction */
	bool tells_retire; /* whether 0 in the third weight is a valid latency */
};

/*
 * Fills in a record. Precise samples are of retired instructions. A weight of 0 means
 * that there is none, unless tells_retire is set.
 */
void perf_fields_record(const struct perf_fields *f, struct hw_record *out);

#endif
