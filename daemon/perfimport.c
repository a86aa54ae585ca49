/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfimport.c - two readings of a recording, and what comes between
 *
 * An entry has room for CPI_MAX_EVENTS streams, and so has a tally. A recording may
 * have more: then there are several tallies, each with the streams behind those of the
 * one before, and each is a flush of its own.
 */
#include "config.h"

#include "daemon/perfimport.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/attribute.h"
#include "daemon/outbox.h"
#include "daemon/perfbranches.h"
#include "daemon/perfdata.h"
#include "daemon/perfevents.h"
#include "daemon/perfmaps.h"
#include "daemon/perfrecords.h"
#include "daemon/perfstreams.h"

#define ASSUMED_HZ   1000000000ull
#define MAX_HZ       20000000000ull
#define FORGET_AFTER (64u << 10) /* records, until the process map is tidied up */
#define FORGET_NS    (10 * NSEC_PER_SEC)

/* CPI_MAX_EVENTS streams of all. */
struct bank {
	struct attribution attribution; /* its tally is the bank's own */
	uint64_t received[CPI_MAX_EVENTS], throttled[CPI_MAX_EVENTS];
	int nr_streams;
};

struct import {
	const struct perfimport_config *cfg;
	struct perfdata *pd;
	struct perfstreams *streams;
	struct perfmaps maps;
	struct bank *bank;
	size_t nr_banks;
	struct outbox *outbox;
	struct store *store;
	uint64_t now_ns;            /* the newest time of a record */
	uint64_t first_ns, last_ns; /* of samples; first_ns 0: they have none */
	int64_t to_real;            /* real time less the recording's */
	uint64_t flushed_ns;
	uint64_t tsc_hz; /* 0: not known */
	uint64_t nr_records;
	char (*name)[PERFEVENTS_NAME_SIZE]; /* by event */
	struct perfimport_result result;
};

int perfimport_id(int fd, char out[PERFIMPORT_ID_SIZE])
{
	uint8_t digest[SHA256_DIGEST_SIZE], bytes[65536];
	struct sha256_ctx hash;
	off_t at = 0;
	ssize_t n;
	int used;

	sha256_init(&hash);
	while ((n = pread(fd, bytes, sizeof(bytes), at)) > 0) {
		sha256_update(&hash, (size_t)n, bytes);
		at += n;
	}
	if (n < 0)
		return -errno;
	sha256_digest(&hash, sizeof(digest), digest);
	used = sprintf(out, "perf.data:");
	for (size_t i = 0; used + 2 < PERFIMPORT_ID_SIZE && i < 30; i++)
		used += sprintf(out + used, "%02x", digest[i]);
	return 0;
}

/* ---- the first reading ---- */

static int note_sample(struct import *im, const struct perf_record *r)
{
	int err;

	if (r->event < 0) {
		im->result.nr_strange++;
		return 0;
	}
	if (r->time != UINT64_MAX) {
		if (!im->first_ns)
			im->first_ns = r->time;
		if (r->time > im->last_ns)
			im->last_ns = r->time;
	}
	err = perfstreams_note(im->streams, r->event, r->sample.period);
	if (err)
		log_err("%s: at offset %#llx: a period that is too long: %s",
			im->cfg->name, (unsigned long long)r->offset, err_str(err));
	return err;
}

/* x86 has the time stamp counter's rate: time = (TSC * mult) >> shift, in ns. */
static void note_clock(struct import *im, const struct perf_record *r)
{
	uint64_t conv[2]; /* shift, mult */

	if (r->size < sizeof(conv))
		return;
	memcpy(conv, r->body, sizeof(conv));
	if (le64toh(conv[0]) < 64 && conv[1])
		im->tsc_hz = (uint64_t)(ldexp(1e9, (int)le64toh(conv[0])) /
					(double)le64toh(conv[1]));
}

static int note_record(void *ctx, const struct perf_record *r)
{
	if (r->type == PERFDATA_TIME_CONV)
		note_clock(ctx, r);
	return r->type == PERF_RECORD_SAMPLE ? note_sample(ctx, r) : 0;
}

/* Reads the whole file, from its begin on. With keep_partial, an error is noted. */
static int read_file(struct import *im, int fd, perfdata_fn fn)
{
	int err;

	perfdata_close(im->pd);
	im->pd = NULL;
	err = perfdata_open(fd, im->cfg->name, &im->pd);
	if (err)
		return err;
	im->maps.info = perfdata_info(im->pd);
	err = perfdata_read(im->pd, fn, im);
	if (err <= -(int)CPI_EFIRST && im->cfg->keep_partial) {
		im->result.err = err;
		err = 0;
	}
	return err;
}

/* ---- what comes between ---- */

static int make_banks(struct import *im)
{
	const size_t nr = perfstreams_nr(im->streams);

	im->nr_banks = (nr + CPI_MAX_EVENTS - 1) / CPI_MAX_EVENTS;
	im->bank = calloc(im->nr_banks, sizeof(*im->bank));
	if (!im->bank)
		return -ENOMEM;
	for (size_t i = 0; i < im->nr_banks; i++) {
		struct bank *b = &im->bank[i];
		size_t left = nr - i * CPI_MAX_EVENTS;

		b->nr_streams = (int)(left < CPI_MAX_EVENTS ? left : CPI_MAX_EVENTS);
		b->attribution = (struct attribution){ .images = im->maps.images,
						       .procmap = im->maps.procmap,
						       .recorded = &im->maps.kernel,
						       .tally = tally_new() };
		if (!b->attribution.tally)
			return -ENOMEM;
	}
	return 0;
}

/* Real time of the recording: by its clock, or it ended when the file was written. */
static int find_real_time(struct import *im, int fd)
{
	const struct perfdata_info *info = perfdata_info(im->pd);
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	im->to_real = (int64_t)((uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC +
				(uint64_t)st.st_mtim.tv_nsec - im->last_ns);
	if (info->wall_ns)
		im->to_real = (int64_t)(info->wall_ns - info->clock_ns);
	im->flushed_ns = im->first_ns;
	return 0;
}

static uint64_t real_ns(const struct import *im, uint64_t ns)
{
	return ns + (uint64_t)im->to_real;
}

/* By the processor's name, or its time stamp counter. */
static uint64_t find_clock(const struct import *im)
{
	uint64_t hz = perfevents_clock(perfdata_info(im->pd)->cpu);

	if (!hz)
		hz = im->tsc_hz;
	return hz && hz <= MAX_HZ ? hz : ASSUMED_HZ;
}

static int begin_store(struct import *im, struct db *db, const char *id)
{
	const struct perfdata_info *info = perfdata_info(im->pd);
	const struct platform_desc platform = {
		.host = info->host ? info->host : "",
		.arch = info->arch ? info->arch : "",
		.cpu = info->cpu ? info->cpu : "",
		.release = info->release ? info->release : "",
		.boot_id = id,
		.clock_hz = find_clock(im),
		.nr_cpus = info->nr_cpus,
	};
	uint64_t now = real_ns(im, im->first_ns);
	int err = store_begin(db, &platform, now, &im->store);

	return err ? err : store_epoch(im->store, now, 0, im->cfg->label);
}

/* ---- the second reading ---- */

static struct flush_stream describe(const struct import *im, size_t i)
{
	const struct perfstream *s = perfstreams_get(im->streams, i);
	const struct bank *b = &im->bank[i / CPI_MAX_EVENTS];
	const struct perfdata_event *e = &perfdata_info(im->pd)->event[s->event];
	const char *name = im->name[s->event];
	const char *pmu = perfdata_pmu_name(im->pd, s->event);

	return (struct flush_stream){
		.desc = { .event = name,
			  .source = "import",
			  .cpu_type = strncmp(pmu, "cpu_", 4) ? "" : pmu,
			  .unit = event_unit_str(perfevents_unit(name)),
			  .mean_period = s->period,
			  .landing =
				  e->precise_ip || perfrecords_is_ibs(im->pd, s->event)
					  ? LANDING_PRECISE
					  : LANDING_AFTER_GROUP },
		.received = b->received[i % CPI_MAX_EVENTS],
		.throttled = b->throttled[i % CPI_MAX_EVENTS],
	};
}

static int post_bank(struct import *im, size_t nr, uint64_t from_ns)
{
	struct bank *b = &im->bank[nr];
	struct flush_stream streams[CPI_MAX_EVENTS];
	struct outbox_flush f = { .tally = b->attribution.tally,
				  .streams = streams,
				  .nr_streams = b->nr_streams,
				  .from_ns = real_ns(im, from_ns),
				  .to_ns = real_ns(im, im->now_ns),
				  .duration_ns = im->now_ns - from_ns };
	struct tally *next = tally_new();
	int err;

	if (!next)
		return -ENOMEM;
	for (int i = 0; i < b->nr_streams; i++) {
		streams[i] = describe(im, nr * CPI_MAX_EVENTS + (size_t)i);
		for (int l = 0; l < NR_LOSSES; l++)
			if (loss_class_of(l) == LOSS_UNKNOWN)
				im->result.nr_unknown += f.tally->loss[i][l];
	}
	err = outbox_add_flush(im->outbox, &f);
	if (err) {
		tally_free(next);
		return err;
	}
	b->attribution.tally = next;
	memset(b->received, 0, sizeof(b->received));
	memset(b->throttled, 0, sizeof(b->throttled));
	return 0;
}

/* Stores what has been attributed. Of several flushes the last ones have no length. */
static int flush(struct import *im)
{
	int err = 0;

	if (im->now_ns < im->flushed_ns)
		im->now_ns = im->flushed_ns;
	for (size_t i = 0; !err && i < im->nr_banks; i++) {
		err = post_bank(im, i, im->flushed_ns);
		im->flushed_ns = im->now_ns;
	}
	return err ? err : outbox_store(im->outbox, im->store);
}

static bool is_full(const struct import *im)
{
	size_t used = 0;

	for (size_t i = 0; i < im->nr_banks; i++)
		used += tally_memory(im->bank[i].attribution.tally);
	return used > im->cfg->max_memory;
}

static bool is_guest(uint16_t misc)
{
	switch (misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_HYPERVISOR:
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER:
		return true;
	}
	return false;
}

/* The stream that stands for an event in records about it; -1 is any. */
static struct bank *bank_of(struct import *im, int event, int *stream)
{
	int main = perfstreams_main(im->streams, event);

	if (main < 0)
		main = perfstreams_main(im->streams, -1);
	*stream = main % (int)CPI_MAX_EVENTS;
	return &im->bank[main / (int)CPI_MAX_EVENTS];
}

/* Edges are of the event's main stream: they are counts, whatever the period. */
static int take_branches(struct import *im, const struct perf_record *r)
{
	int stream, err;
	struct bank *b = bank_of(im, r->event, &stream);

	err = perfbranches_add(&b->attribution, im->pd, r, stream, im->now_ns);
	if (err)
		log_err("%s: at offset %#llx: branches: %s", im->cfg->name,
			(unsigned long long)r->offset, err_str(err));
	return err;
}

static int take_sample(struct import *im, const struct perf_record *r)
{
	int err = is_full(im) ? flush(im) : 0;
	const uint32_t tgid = r->pid <= CPI_MAX_TGID ? r->pid : CPI_MAX_TGID;
	int stream = r->event < 0 ? -1
				  : perfstreams_take(im->streams, r->event,
						     r->sample.period);
	struct bank *b;
	struct cpi_entry entry;
	struct batch_record record = { 0 };
	struct batch batch = { .from_ns = im->now_ns,
			       .to_ns = im->now_ns,
			       .entries = &entry,
			       .nr = 1,
			       .records = &record };

	if (err || r->event < 0)
		return err;
	if (stream < 0) {
		log_err("%s: at offset %#llx: the file has changed while it was read",
			im->cfg->name, (unsigned long long)r->offset);
		return -ESTALE;
	}
	b = &im->bank[stream / CPI_MAX_EVENTS];
	stream %= CPI_MAX_EVENTS;
	im->result.nr_samples++;
	b->received[stream]++;
	entry.word0 = cpi_entry_word0(r->sample.ip, stream, CPI_OUTCOME_NONE);
	entry.word1 = cpi_entry_who(tgid, 0);
	record.entry = entry;
	entry.word1 |= 1ull << CPI_COUNT_SHIFT;
	batch.nr_records = perfrecords_read(im->pd, r, &record.hw);
	if (is_guest(r->misc))
		tally_lose(b->attribution.tally, stream, SAMPLE_GUEST, 1, NULL);
	else
		attribute_batch(&b->attribution, &batch);
	return r->sample.nr_branches && !is_guest(r->misc) ? take_branches(im, r) : 0;
}

static void take_lost(struct import *im, const struct perf_record *r)
{
	int stream;
	struct bank *b = bank_of(im, r->event, &stream);

	b->received[stream] += r->lost;
	im->result.nr_samples += r->lost;
	im->result.nr_lost += r->lost;
	tally_lose(b->attribution.tally, stream, SAMPLE_RING_LOST, r->lost, NULL);
}

static void take_throttle(struct import *im, const struct perf_record *r)
{
	int stream;
	struct bank *b = bank_of(im, r->event, &stream);

	b->throttled[stream]++;
}

static bool is_gone(uint32_t tgid)
{
	return false;
}

static int take_record(void *ctx, const struct perf_record *r)
{
	struct import *im = ctx;

	if (r->time != UINT64_MAX && r->time > im->now_ns && r->time <= im->last_ns)
		im->now_ns = r->time;
	if (++im->nr_records % FORGET_AFTER == 0 && im->now_ns > FORGET_NS)
		procmap_forget(im->maps.procmap, im->now_ns - FORGET_NS, is_gone);
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return take_sample(im, r);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		take_lost(im, r);
		break;
	case PERF_RECORD_THROTTLE:
		take_throttle(im, r);
		break;
	default:
		perfmaps_apply(&im->maps, r,
			       r->time == UINT64_MAX ? im->now_ns : r->time);
	}
	return 0;
}

/* ---- all of it ---- */

static int open_import(struct import *im)
{
	im->streams = perfstreams_new();
	im->maps.images = images_new();
	im->maps.procmap = procmap_new();
	im->outbox = outbox_new();
	return im->streams && im->maps.images && im->maps.procmap && im->outbox
		       ? 0
		       : -ENOMEM;
}

static void close_import(struct import *im)
{
	for (size_t i = 0; im->bank && i < im->nr_banks; i++)
		tally_free(im->bank[i].attribution.tally);
	free(im->bank);
	free(im->name);
	outbox_free(im->outbox);
	store_free(im->store);
	rangemap_fini(&im->maps.kernel);
	procmap_free(im->maps.procmap);
	images_free(im->maps.images);
	perfstreams_free(im->streams);
	perfdata_close(im->pd);
}

static int name_events(struct import *im)
{
	const size_t nr = perfdata_info(im->pd)->nr_events;

	im->name = calloc(nr + 1, sizeof(*im->name));
	for (size_t i = 0; im->name && i < nr; i++)
		perfevents_name(im->pd, (int)i, im->name[i]);
	return im->name ? 0 : -ENOMEM;
}

/* Between the readings: what the recording consists of, and where it goes. */
static int prepare(struct import *im, struct db *db, int fd)
{
	char id[PERFIMPORT_ID_SIZE];
	int err = perfstreams_make(im->streams);

	if (!err && !perfstreams_nr(im->streams)) {
		log_err("%s: there are no samples in it", im->cfg->name);
		return -CPI_EEMPTY;
	}
	if (!err)
		err = perfimport_id(fd, id);
	if (!err)
		err = name_events(im);
	if (!err)
		err = make_banks(im);
	if (!err)
		err = find_real_time(im, fd);
	return err ? err : begin_store(im, db, id);
}

static int end_store(struct import *im)
{
	int err = store_end(im->store, real_ns(im, im->now_ns));

	im->store = NULL;
	return err;
}

int perfimport_file(struct db *db, int fd, const struct perfimport_config *cfg,
		    struct perfimport_result *out)
{
	struct import im = { .cfg = cfg };
	int err = open_import(&im);

	if (!err)
		err = read_file(&im, fd, note_record);
	if (!err)
		err = prepare(&im, db, fd);
	if (!err)
		err = read_file(&im, fd, take_record);
	if (!err)
		err = flush(&im);
	if (!err)
		err = end_store(&im);
	if (!err)
		*out = im.result;
	close_import(&im);
	return err;
}
