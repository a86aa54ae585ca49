/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records.h - hardware's records of sampled instructions, added up by offset
 *
 * A processor that samples instructions (AMD IBS, Arm SPE, Intel PEBS) records what
 * happened to the instruction, how long its phases took, and which address it used. The
 * records of an offset are kept as cells (series, value, n), which merge by addition:
 *
 *	RECORDS_KNOWN    an event: n records tell whether it happened
 *	RECORDS_SEEN     an event: it happened in n records
 *	RECORDS_ADDRESS  a data address: n records, or more (see below)
 *	RECORDS_LATENCY + i  a bin (base/loglin.h) of latency i: n records
 *
 * Addresses are Misra and Gries's summary of RECORDS_ADDRESSES counters: of N records
 * with an address (RECORDS_KNOWN of RECORD_DATA_ADDRESS) the counters hold Σ n, and an
 * address was used by at least n and at most n + (N - Σ n) / (RECORDS_ADDRESSES + 1)
 * records. The same holds for an address without a counter (n = 0), and after merging.
 *
 * I1  Each offset has RECORDS_KNOWN of RECORD_ANY, which is the number of its records.
 * I2  No series of an offset has a larger sum than that. In RECORDS_KNOWN and
 *     RECORDS_SEEN this holds for each cell, and seen <= known for each event.
 */
#ifndef CPI_DB_RECORDS_H
#define CPI_DB_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Stored in the database: append, never renumber. Named as decode/hwrecord.h. */
#define RECORD_EVENTS(X)                  \
	X(ANY, "records")                 \
	X(DATA_ADDRESS, "data-address")   \
	X(RETIRED, "retired")             \
	X(EXCEPTION, "exception")         \
	X(LOAD, "load")                   \
	X(STORE, "store")                 \
	X(PREFETCH, "prefetch")           \
	X(LOCKED, "locked")               \
	X(MISALIGNED, "misaligned")       \
	X(UNCACHED, "uncached")           \
	X(BRANCH, "branch")               \
	X(CONDITIONAL, "conditional")     \
	X(INDIRECT, "indirect")           \
	X(RETURN, "return")               \
	X(TAKEN, "taken")                 \
	X(MISPREDICTED, "mispredicted")   \
	X(FETCHED, "fetched")             \
	X(OP_CACHE_MISS, "op-cache-miss") \
	X(L1I_MISS, "l1i-miss")           \
	X(ITLB_MISS, "itlb-miss")         \
	X(ITLB_WALK, "itlb-walk")         \
	X(L1D_MISS, "l1d-miss")           \
	X(L2_MISS, "l2-miss")             \
	X(LLC_MISS, "llc-miss")           \
	X(DTLB_MISS, "dtlb-miss")         \
	X(DTLB_WALK, "dtlb-walk")         \
	X(REMOTE, "remote")               \
	X(MODIFIED, "modified")

enum record_event {
#define RECORD_EVENT_ENUM(name, text) RECORD_##name,
	RECORD_EVENTS(RECORD_EVENT_ENUM)
#undef RECORD_EVENT_ENUM
		RECORD_NR_EVENTS
};

/* The same of latencies, in cycles. */
#define RECORD_LATENCIES(X)                             \
	X(FETCH, "fetch")                               \
	X(FETCH_TRANSLATION, "fetch-translation")       \
	X(DISPATCH_TO_ISSUE, "dispatch-to-issue")       \
	X(TRANSLATION, "translation")                   \
	X(MEMORY, "memory")                             \
	X(DISPATCH_TO_COMPLETE, "dispatch-to-complete") \
	X(COMPLETE_TO_RETIRE, "complete-to-retire")     \
	X(DISPATCH_TO_RETIRE, "dispatch-to-retire")     \
	X(RETIRE_TO_RETIRE, "retire-to-retire")

enum record_latency {
#define RECORD_LATENCY_ENUM(name, text) RECORD_TIME_##name,
	RECORD_LATENCIES(RECORD_LATENCY_ENUM)
#undef RECORD_LATENCY_ENUM
		RECORD_NR_LATENCIES
};

const char *record_event_str(enum record_event event);
const char *record_latency_str(enum record_latency latency);

enum records_series {
	RECORDS_KNOWN = 0,
	RECORDS_SEEN = 1,
	RECORDS_ADDRESS = 2,
	RECORDS_LATENCY = 3,
	RECORDS_NR_SERIES = RECORDS_LATENCY + RECORD_NR_LATENCIES
};

#define RECORDS_ADDRESSES 16

/* One sample. Bits are 1 << enum record_event; RECORD_ANY need not be set. */
struct record {
	uint32_t known, seen;                 /* what is seen is known */
	uint32_t timed;                       /* 1 << enum record_latency */
	uint64_t cycles[RECORD_NR_LATENCIES]; /* of those */
	uint64_t address;                     /* where RECORD_DATA_ADDRESS is known */
};

struct records_cell {
	uint32_t series;
	uint64_t value, n;
};

struct records_row {
	uint64_t offset;
	const struct records_cell *cell; /* ascending series, then values */
	uint32_t nr;
};

struct records;

struct records *records_new(void);    /* NULL when out of memory */
void records_free(struct records *r); /* accepts NULL */

/* Adds one record at offset. 0, -EOVERFLOW or -ENOMEM; on failure r is unchanged. */
int records_add(struct records *r, uint64_t offset, const struct record *one);

/*
 * Adds a row as records_sorted() gives it. -EINVAL if it breaks I1, I2 or the order of
 * cells, or if no record could have made it; else as records_add().
 */
int records_add_row(struct records *r, const struct records_row *row);

/* Adds all of from; on failure a part may have been added. */
int records_merge(struct records *r, const struct records *from);

size_t records_nr(const struct records *r);       /* offsets */
size_t records_nr_cells(const struct records *r); /* of all */
uint64_t records_total(const struct records *r);  /* records of all, <= INT64_MAX */
size_t records_memory(const struct records *r);

/* The row of an offset, with nr 0 where there is none. r's until its next change. */
struct records_row records_at(const struct records *r, uint64_t offset);

/* All rows by offset, in an array that the caller frees; NULL when out of memory. */
struct records_row *records_sorted(const struct records *r);

/* The n of a cell; 0 where there is none. */
uint64_t records_cell(const struct records_row *row, uint32_t series, uint64_t value);

#endif
