/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfimport.c - reads a recording twice, and prepares the database in between
 */
#include "config.h"

#include "daemon/import/perfimport.h"

#include <errno.h>
#include <math.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/import/perfimport_private.h"

#define FORGET_AFTER (64u << 10) /* records, until the process map is tidied up */
#define FORGET_NS    (10 * NSEC_PER_SEC)
#define MAX_LOST     (1ull << 56) /* samples of a recording; more is corrupt */

/* Of PERF_RECORD_LOST_SAMPLES, set by perf: a BPF filter dropped these samples. */
#define MISC_DROPPED_BY_FILTER (1u << 15)

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

/* Notes the time of a sample, or of a record about AUX data, which contains samples. */
static void note_time(struct import *im, uint64_t ns)
{
	if (ns == UINT64_MAX)
		return;
	if (!im->first_ns)
		im->first_ns = ns;
	if (ns > im->last_ns)
		im->last_ns = ns;
}

static int note_sample(struct import *im, const struct perf_record *r)
{
	int err;

	if (r->event < 0) {
		im->result.nr_strange++;
		return 0;
	}
	err = perfstreams_note(im->streams, r->event, r->sample.period);
	if (err)
		log_err("%s: at offset %#llx: a period that is too long: %s",
			im->cfg->name, (unsigned long long)r->offset, err_str(err));
	return err;
}

/* On x86 this is the rate of the time stamp counter: ns = (TSC * mult) >> shift. */
static void note_clock(struct import *im, const struct perf_time_conv *t)
{
	double hz;

	if (t->shift >= 64 || !t->mult)
		return;
	hz = ldexp(1e9, (int)t->shift) / (double)t->mult;
	im->tsc_hz = hz < 1e12 ? (uint64_t)hz : 0;
}

static int note_record(void *ctx, const struct perf_record *r)
{
	struct import *im = ctx;

	if (r->type == PERFDATA_TIME_CONV)
		note_clock(im, &r->time_conv);
	if ((r->type == PERF_RECORD_SAMPLE && r->event >= 0) ||
	    r->type == PERF_RECORD_AUX)
		note_time(im, r->time);
	return r->type == PERF_RECORD_SAMPLE ? note_sample(im, r)
					     : perfimport_note_aux(im, r);
}

/* Reads the whole file, from its begin on. With keep_partial, an error is noted. */
static int read_file(struct import *im, perfdata_fn fn)
{
	int err;

	perfdata_close(im->pd);
	im->pd = NULL;
	err = perfdata_open(im->fd, im->cfg->name, &im->pd);
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

/* ---- the second reading ---- */

static bool is_gone(uint32_t tgid)
{
	return false;
}

/* Later look-ups in the process map are not older than the horizon. */
static void tidy_up(struct import *im)
{
	uint64_t horizon = perfaux_horizon(im->aux);

	if (im->now_ns < FORGET_NS)
		return;
	if (horizon > im->now_ns - FORGET_NS)
		horizon = im->now_ns - FORGET_NS;
	procmap_forget(im->maps.procmap, horizon, is_gone);
}

static uint64_t nr_ring_lost(const struct import *im)
{
	return im->lost_told > im->lost_total ? im->lost_told : im->lost_total;
}

/*
 * Newer recordings report what a ring lost twice: PERF_RECORD_LOST counts losses as
 * they happen, and at the end of the recording perf adds each event's total, without a
 * time. So only the larger sum is counted. Samples that a filter of perf dropped were
 * not lost.
 */
static int take_lost(struct import *im, const struct perf_record *r)
{
	const bool is_of_samples = r->type == PERF_RECORD_LOST_SAMPLES;
	const uint64_t before = nr_ring_lost(im);
	uint64_t n = r->lost;

	if (is_of_samples && r->misc & MISC_DROPPED_BY_FILTER)
		return 0;
	if (n > MAX_LOST - im->lost_told || n > MAX_LOST - im->lost_total ||
	    n > MAX_LOST - im->result.nr_lost) {
		log_err("%s: at offset %#llx: a record of %llu lost samples: %s",
			im->cfg->name, (unsigned long long)r->offset,
			(unsigned long long)n, err_str(-CPI_ECORRUPT));
		return -CPI_ECORRUPT;
	}
	if (!is_of_samples)
		im->lost_told += n;
	else if (!r->time || r->time == UINT64_MAX)
		im->lost_total += n;
	if (!is_of_samples || !r->time || r->time == UINT64_MAX)
		n = nr_ring_lost(im) - before;
	if (n)
		perfimport_lose(im, r->event, SAMPLE_RING_LOST, n);
	return 0;
}

static int take_record(void *ctx, const struct perf_record *r)
{
	struct import *im = ctx;

	if (r->time != UINT64_MAX && r->time > im->now_ns && r->time <= im->last_ns)
		im->now_ns = r->time;
	if (++im->nr_records % FORGET_AFTER == 0)
		tidy_up(im);
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return perfimport_take_sample(im, r);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return take_lost(im, r);
	case PERF_RECORD_THROTTLE:
		perfimport_take_throttle(im, r);
		return 0;
	}
	perfmaps_apply(&im->maps, r, r->time == UINT64_MAX ? im->now_ns : r->time);
	return perfimport_take_aux(im, r);
}

/* ---- all of it ---- */

static int open_import(struct import *im)
{
	im->streams = perfstreams_new();
	im->maps.images = images_new(NULL);
	im->maps.procmap = procmap_new();
	im->outbox = outbox_new();
	im->aux = perfaux_new(im->fd);
	return im->streams && im->maps.images && im->maps.procmap && im->outbox &&
			       im->aux
		       ? 0
		       : -ENOMEM;
}

static void close_import(struct import *im)
{
	perfimport_free_banks(im);
	free(im->name);
	perfaux_free(im->aux);
	outbox_free(im->outbox);
	store_free(im->store);
	kernel_close(im->kernel);
	rangemap_fini(&im->maps.kernel);
	procmap_free(im->maps.procmap);
	images_free(im->maps.images);
	perfstreams_free(im->streams);
	perfdata_close(im->pd);
}

static void warn_of_header(const struct import *im)
{
	const uint64_t damaged = perfdata_info(im->pd)->damaged;

	for (unsigned int f = 0; f < 64; f++) {
		if (damaged >> f & 1)
			log_warn("%s: header feature %u is damaged: it is left out",
				 im->cfg->name, f);
	}
}

static int name_events(struct import *im)
{
	const size_t nr = perfdata_info(im->pd)->nr_events;

	im->name = calloc(nr + 1, sizeof(*im->name));
	for (size_t i = 0; im->name && i < nr; i++)
		perfevents_name(im->pd, (int)i, im->name[i]);
	return im->name ? 0 : -ENOMEM;
}

/*
 * Opens the kernel's symbols if the recorded kernel still runs. After a reboot its
 * names may be nowhere.
 */
static int open_kernel(struct import *im)
{
	const struct image_source source = perfmaps_kernel_source(&im->maps);
	int err = kernel_open_recorded(im->maps.images, &source, &im->kernel);

	if (err == -EACCES)
		log_warn("%s: /proc/kallsyms hides its addresses: kernel procedures "
			 "have no names; import as root",
			 im->cfg->name);
	return err == -ENOMEM ? err : 0;
}

/* Between the readings: makes streams and names of events, and begins the epoch. */
static int prepare(struct import *im, struct db *db)
{
	char id[PERFIMPORT_ID_SIZE];
	int err = perfstreams_make(im->streams);

	warn_of_header(im);
	if (!err && !perfstreams_nr(im->streams)) {
		log_err("%s: there are no samples in it", im->cfg->name);
		return -CPI_EEMPTY;
	}
	if (!err)
		err = perfimport_id(im->fd, id);
	if (!err)
		err = name_events(im);
	if (!err)
		err = open_kernel(im);
	return err ? err : perfimport_begin(im, db, id);
}

int perfimport_file(struct db *db, int fd, const struct perfimport_config *cfg,
		    struct perfimport_result *out)
{
	struct import im = { .cfg = cfg, .fd = fd };
	int err = open_import(&im);

	if (!err)
		err = read_file(&im, note_record);
	if (!err)
		err = perfimport_end_note_aux(&im);
	if (!err)
		err = prepare(&im, db);
	if (!err)
		err = read_file(&im, take_record);
	if (!err)
		err = perfimport_end_take_aux(&im);
	if (!err)
		err = perfimport_flush(&im);
	if (!err)
		err = perfimport_end(&im);
	if (!err)
		*out = im.result;
	close_import(&im);
	return err;
}
