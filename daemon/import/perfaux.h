/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfaux.h - decodes the samples of Arm's SPE from the AUX buffers of a recording
 *
 * A recording contains pieces of the AUX buffer of each CPU or thread. A
 * PERF_RECORD_AUX says when and how much data was added to a buffer. The first reading
 * notes where the pieces are, and what else decoding needs. The second reading decodes
 * each piece at its time in the order of records, so that the process map of that time
 * attributes its samples.
 *
 * I1  Each byte is decoded once. Bytes that no record mentions are decoded with those
 *     of the next record, or at the end.
 * I2  A sample is not newer than the record that mentions it, and not older than the
 *     record before.
 */
#ifndef CPI_DAEMON_PERFAUX_H
#define CPI_DAEMON_PERFAUX_H

#include "decode/hwrecord.h"
#include "daemon/import/perfdata.h"

#define PERFAUX_MAX_BUFFERS 16384
#define PERFAUX_MAX_PIECES  (4u << 20)

struct perfaux_sample {
	int event;
	uint64_t time_ns;
	uint32_t pid; /* process of the sample; UINT32_MAX: not known */
	const struct hw_record *hw;
};

/* Receives a sample. Returns 0, or a negative error, which ends the reading. */
typedef int (*perfaux_fn)(void *ctx, const struct perfaux_sample *s);

struct perfaux;

struct perfaux *perfaux_new(int fd);    /* the recording; NULL when out of memory */
void perfaux_free(struct perfaux *aux); /* accepts NULL */

/* Whether the samples of an event are in AUX buffers, written by SPE. */
bool perfaux_is_spe(const struct perfdata *pd, int event);

/* The first reading; takes every record. Returns 0, -ENOMEM or -CPI_ELIMIT. */
int perfaux_note(struct perfaux *aux, const struct perfdata *pd,
		 const struct perf_record *r);

/*
 * After the first reading: calls fn for every sample, with time 0 and without a
 * process. Otherwise like perfaux_take().
 */
int perfaux_each(struct perfaux *aux, perfaux_fn fn, void *ctx);

/*
 * The second reading; takes every record, in the order of times. now_ns is the time of
 * the newest record. Calls fn for each sample up to this time. Returns 0, -ENOMEM, an
 * error of reading the file, or that of fn.
 */
int perfaux_take(struct perfaux *aux, const struct perf_record *r, uint64_t now_ns,
		 perfaux_fn fn, void *ctx);

/*
 * The end of the second reading: calls fn for the remaining samples. Returns the same
 * errors.
 */
int perfaux_end(struct perfaux *aux, perfaux_fn fn, void *ctx);

/*
 * No later sample will be older than this; UINT64_MAX: there will be no more samples.
 */
uint64_t perfaux_horizon(const struct perfaux *aux);

/* The number of damaged records, which were left out, since the last call. */
uint64_t perfaux_take_damaged(struct perfaux *aux);

/* The first event of SPE; -1: there is none. */
int perfaux_event(const struct perfaux *aux);

/* Bytes of AUX data of other kinds, which are not decoded. */
uint64_t perfaux_foreign(const struct perfaux *aux);

#endif
