/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfimport_private.h - shared by the files that implement perfimport.h
 *
 *	perfimport.c		reads the recording twice
 *	perfimport_samples.c	counts samples and losses
 *	perfimport_aux.c	samples that are in AUX buffers
 *	perfimport_store.c	streams and flushes
 */
#ifndef CPI_DAEMON_PERFIMPORT_PRIVATE_H
#define CPI_DAEMON_PERFIMPORT_PRIVATE_H

#include "daemon/attribute/attribute.h"
#include "daemon/store/outbox.h"
#include "daemon/import/perfaux.h"
#include "daemon/import/perfdata.h"
#include "daemon/import/perfevents.h"
#include "daemon/import/perfimport.h"
#include "daemon/import/perfmaps.h"
#include "daemon/import/perfstreams.h"
#include "db/profile/stream_account.h"

/* One stream, since its last flush. */
struct bank_stream {
	struct stream_account samples, stacks;
	uint64_t throttled;
	struct stacktally *tally; /* call stacks; NULL: there were none */
};

/* A bank has CPI_MAX_EVENTS of the streams. */
struct bank {
	struct attribution attribution; /* its tally belongs to the bank */
	struct bank_stream stream[CPI_MAX_EVENTS];
	int nr_streams;
};

struct import {
	const struct perfimport_config *cfg;
	int fd;
	struct perfdata *pd;
	struct perfstreams *streams;
	struct perfmaps maps;
	struct kernel *kernel; /* names of the recorded kernel; NULL if another kernel
				  is running now */
	struct perfaux *aux;
	struct bank *bank;
	size_t nr_banks;
	struct outbox *outbox;
	struct store *store;
	uint64_t now_ns; /* the newest time of a record */
	uint64_t first_ns,
		last_ns; /* times of samples; first_ns 0: samples have no times */
	int64_t to_real; /* real time minus the recording's clock */
	uint64_t flushed_ns;
	uint64_t tsc_hz; /* 0: not known */
	uint64_t nr_records;
	uint64_t lost_told;  /* lost samples, from PERF_RECORD_LOST */
	uint64_t lost_total; /* from the totals that perf writes at the end */
	char (*name)[PERFEVENTS_NAME_SIZE]; /* by event */
	struct perfimport_result result;
};

/* A sample, from a record or from AUX data. */
struct import_sample {
	uint64_t offset; /* in the file, for messages */
	int event;
	uint64_t time_ns, period, pc;
	uint32_t pid;
	bool is_guest;
	const struct hw_record *hw; /* NULL: there is no hardware record */
};

/* ---- perfimport_samples.c ---- */

/* Counts a sample in the stream of its bank. Returns 0 or an error, logged. */
int perfimport_count(struct import *im, const struct import_sample *s,
		     struct bank **bank, int *stream);

/* Counts the sample of a record. 0 or an error, logged. */
int perfimport_take_sample(struct import *im, const struct perf_record *r);

/* Counts n lost samples of an event (-1: of the main event). */
void perfimport_lose(struct import *im, int event, enum loss loss, uint64_t n);
void perfimport_take_throttle(struct import *im, const struct perf_record *r);

/* ---- perfimport_aux.c ---- */

/* For both readings: take every record, and the end. Return 0 or an error, logged. */
int perfimport_note_aux(struct import *im, const struct perf_record *r);
int perfimport_end_note_aux(struct import *im);
int perfimport_take_aux(struct import *im, const struct perf_record *r);
int perfimport_end_take_aux(struct import *im);

/* ---- perfimport_store.c ---- */

/* Begins the epoch, after the streams were made. Returns 0 or an error. */
int perfimport_begin(struct import *im, struct db *db, const char *id);

/* Whether the attributed samples exceed the memory limit. */
bool perfimport_is_full(const struct import *im);

/* Stores all samples that have been attributed. */
int perfimport_flush(struct import *im);

int perfimport_end(struct import *im);
void perfimport_free_banks(struct import *im);

#endif
