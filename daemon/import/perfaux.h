/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfaux.h - Arm's SPE in a recording: samples out of AUX buffers
 *
 * Buffers are written to a recording piece by piece, of each CPU or of each thread, and
 * PERF_RECORD_AUX tells when how much of one was there. The first reading notes where
 * the pieces are (and what else decoding needs); in the second one each piece is
 * decoded when its moment has come, so that its samples are the process map's at their
 * own times.
 *
 * I1  Each byte is decoded once: what no record tells of comes with what the next one
 *     tells of, or at the end.
 * I2  No sample is newer than the record that told of it, nor older than the one
 * before.
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
	uint32_t pid; /* its process; UINT32_MAX: not known */
	const struct hw_record *hw;
};

/* Takes a sample. 0, or a negative error that ends it all. */
typedef int (*perfaux_fn)(void *ctx, const struct perfaux_sample *s);

struct perfaux;

struct perfaux *perfaux_new(int fd);    /* the recording; NULL when out of memory */
void perfaux_free(struct perfaux *aux); /* accepts NULL */

/* Whether an event's samples are in AUX buffers of SPE's. */
bool perfaux_is_spe(const struct perfdata *pd, int event);

/* The first reading: any record. 0, -ENOMEM or -CPI_ELIMIT. */
int perfaux_note(struct perfaux *aux, const struct perfdata *pd,
		 const struct perf_record *r);

/*
 * What was noted is all. Hands out every sample, at time 0, of no process. Else as
 * perfaux_take().
 */
int perfaux_each(struct perfaux *aux, perfaux_fn fn, void *ctx);

/*
 * The second reading: any record, in the order of times; now is of the newest. Hands
 * out what was sampled up to it. 0, -ENOMEM, an error of reading the file, or fn's.
 */
int perfaux_take(struct perfaux *aux, const struct perf_record *r, uint64_t now_ns,
		 perfaux_fn fn, void *ctx);

/* The end of the second reading: hands out what is left. The same. */
int perfaux_end(struct perfaux *aux, perfaux_fn fn, void *ctx);

/* Nothing that is handed out later is older; UINT64_MAX: nothing will be. */
uint64_t perfaux_horizon(const struct perfaux *aux);

/* Since the last call: records that were damaged, and left out. */
uint64_t perfaux_take_damaged(struct perfaux *aux);

/* The first event of SPE's; -1: there is none. */
int perfaux_event(const struct perfaux *aux);

/* Bytes of AUX data that are of another kind than SPE's, and left alone. */
uint64_t perfaux_foreign(const struct perfaux *aux);

#endif
