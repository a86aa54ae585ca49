/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rates.h - how often an event happened to an instruction, from hardware records
 *
 * ProfileMe (MICRO'97) section 5.1. Intervals hold the true value in 95 of 100 cases.
 * None of this is time, because latencies of instructions overlap.
 */
#ifndef CPI_DECODE_RATES_H
#define CPI_DECODE_RATES_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/math/interval.h"
#include "db/profile/profile.h"
#include "db/profile/records.h"
#include "decode/hwrecord.h"

/* The rate of an event in a row of records. Returns false if no record knows it. */
struct rates_event {
	uint64_t known, seen;  /* records */
	struct interval count; /* instructions to which it happened */
	struct interval share; /* of the instructions for which it is known */
};

bool rates_event(const struct records_row *row, enum record_event event, double period,
		 struct rates_event *out);

/*
 * Latencies in cycles, each within 1/32 of the true one. Returns false if no record has
 * this latency.
 */
struct rates_latency {
	uint64_t n;
	double min, median, p99, max;
};

bool rates_latency(const struct records_row *row, enum record_latency latency,
		   struct rates_latency *out);

/* Data addresses by how often they were used, those used most first. */
struct rates_address {
	uint64_t address;
	uint64_t least, most; /* bounds of the number of records that used it */
};

/* Returns the number of addresses. */
int rates_addresses(const struct records_row *row,
		    struct rates_address out[RECORDS_ADDRESSES]);

/* Converts a decoded record to the form in which profiles store it. */
void rates_record(const struct hw_record *hw, struct record *out);

/*
 * Adds a decoded record at an image offset. Does not add the sample itself;
 * profile_add() does. Returns 0, -EOVERFLOW or -ENOMEM; on failure p is unchanged.
 */
int rates_add(struct profile *p, uint64_t offset, const struct hw_record *hw);

#endif
