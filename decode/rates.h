/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates.h - how often something happened to an instruction, from hardware's records
 *
 * ProfileMe (MICRO'97) section 5.1. Intervals hold the true value in 95 of 100 cases.
 * None of this is time: an instruction's latency overlaps with others'.
 */
#ifndef CPI_ANALYSIS_RATES_H
#define CPI_ANALYSIS_RATES_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/math/interval.h"
#include "db/profile/profile.h"
#include "db/profile/records.h"
#include "decode/hwrecord.h"

/* What a row tells of an event: false where nothing does. */
struct rates_event {
	uint64_t known, seen;  /* records */
	struct interval count; /* instructions to which it happened */
	struct interval share; /* of those of which it is known */
};

bool rates_event(const struct records_row *row, enum record_event event, double period,
		 struct rates_event *out);

/* Cycles, each within 1/32 of the true one; false where no record has this latency. */
struct rates_latency {
	uint64_t n;
	double min, median, p99, max;
};

bool rates_latency(const struct records_row *row, enum record_latency latency,
		   struct rates_latency *out);

/* Data addresses by how often they were used, those used most first. */
struct rates_address {
	uint64_t address;
	uint64_t least, most; /* records that used it */
};

int rates_addresses(const struct records_row *row,
		    struct rates_address out[RECORDS_ADDRESSES]);

/* A decoded record as it is added to a profile's records. */
void rates_record(const struct hw_record *hw, struct record *out);

/*
 * Adds a decoded record at an image offset. The sample itself is profile_add()'s. 0,
 * -EOVERFLOW or -ENOMEM; on failure p is unchanged.
 */
int rates_add(struct profile *p, uint64_t offset, const struct hw_record *hw);

#endif
