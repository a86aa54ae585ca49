/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfimport_store.c - from banks of streams to flushes of an epoch
 *
 * An entry and a tally have room for CPI_MAX_EVENTS streams. A recording may have more;
 * then there are several tallies, with consecutive streams, and each is a flush of its
 * own. The stacks of each stream are a flush of their own, too, because each tree of
 * stacks numbers its images itself.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/times.h"
#include "daemon/import/perfimport_private.h"
#include "daemon/import/perfrecords.h"

#define ASSUMED_HZ 1000000000ull
#define MAX_HZ     20000000000ull

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

/*
 * Real times come from the clock times in the header. If it has none, the last sample
 * is assumed to be as old as the file.
 */
static int find_real_time(struct import *im)
{
	const struct perfdata_info *info = perfdata_info(im->pd);
	uint64_t end_ns = im->last_ns - im->first_ns; /* nothing is before 1970 */
	uint64_t file_ns;
	struct stat st;

	if (fstat(im->fd, &st))
		return -errno;
	file_ns = st.st_mtim.tv_sec > 0 ? time_to_ns(&st.st_mtim) : 0;
	if (file_ns > end_ns)
		end_ns = file_ns;
	im->to_real = (int64_t)(end_ns - im->last_ns);
	if (info->wall_ns)
		im->to_real = (int64_t)(info->wall_ns - info->clock_ns);
	im->flushed_ns = im->first_ns;
	return 0;
}

static uint64_t real_ns(const struct import *im, uint64_t ns)
{
	return ns + (uint64_t)im->to_real;
}

/*
 * The clock rate in the processor's name, or that of its time stamp counter. On Arm,
 * the counter's rate is not that of the processor.
 */
static uint64_t find_clock(const struct import *im)
{
	const struct perfdata_info *info = perfdata_info(im->pd);
	uint64_t hz = perfevents_clock(info->cpu);

	if (!hz && info->arch && strncmp(info->arch, "aarch64", 7) != 0)
		hz = im->tsc_hz;
	return hz && hz <= MAX_HZ ? hz : ASSUMED_HZ;
}

int perfimport_begin(struct import *im, struct db *db, const char *id)
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
	uint64_t now;
	int err = make_banks(im);

	if (!err)
		err = find_real_time(im);
	now = real_ns(im, im->first_ns);
	if (!err)
		err = store_begin(db, &platform, now, &im->store);
	return err ? err : store_epoch(im->store, now, 0, im->cfg->label);
}

static struct flush_stream describe(const struct import *im, size_t i)
{
	const struct perfstream *s = perfstreams_get(im->streams, i);
	const struct bank *b = &im->bank[i / CPI_MAX_EVENTS];
	const struct bank_stream *of = &b->stream[i % CPI_MAX_EVENTS];
	const struct perfdata_event *e = &perfdata_info(im->pd)->event[s->event];
	const char *name = im->name[s->event];
	const char *pmu = perfdata_pmu_name(im->pd, s->event);

	return (struct flush_stream){
		.desc = { .event = name,
			  .source = "import",
			  .cpu_type = strncmp(pmu, "cpu_", 4) ? "" : pmu,
			  .unit = event_unit_str(perfevents_unit(name)),
			  .mean_period = s->period,
			  .landing = e->precise_ip ||
						     perfrecords_is_ibs(im->pd,
									s->event) ||
						     perfaux_is_spe(im->pd, s->event)
					     ? LANDING_PRECISE
					     : LANDING_AFTER_GROUP },
		.received = of->samples.received,
		.throttled = of->throttled,
	};
}

/*
 * Adds a flush with the tally and the other members of f; replaces the tally by an
 * empty one.
 */
static int post(struct import *im, struct tally **tally, struct outbox_flush *f)
{
	struct tally *next = tally_new();
	int err = next ? 0 : -ENOMEM;

	f->tally = *tally;
	f->kernel = im->kernel;
	f->capture_bytes = SIZE_MAX;
	f->from_ns = real_ns(im, im->flushed_ns);
	f->to_ns = real_ns(im, im->now_ns);
	f->duration_ns = im->now_ns - im->flushed_ns;
	if (!err)
		err = outbox_add_flush(im->outbox, f);
	if (err) {
		tally_free(next);
		return err;
	}
	*tally = next;
	im->flushed_ns = im->now_ns;
	return 0;
}

/* Copies the losses that the tally counted; the other samples are stored. */
static void count_losses(struct import *im, struct bank *b, int stream)
{
	struct stream_account *a = &b->stream[stream].samples;

	for (int l = 0; l < NR_LOSSES; l++) {
		a->lost[l] = b->attribution.tally->loss[stream][l];
		if (loss_class_of(l) == LOSS_UNKNOWN)
			im->result.nr_unknown += a->lost[l];
	}
	a->stored = a->received - account_nr_lost(a);
}

static int post_counts(struct import *im, size_t nr)
{
	struct bank *b = &im->bank[nr];
	struct flush_stream streams[CPI_MAX_EVENTS];
	struct outbox_flush f = { .streams = streams, .nr_streams = b->nr_streams };
	int err;

	for (int i = 0; i < b->nr_streams; i++) {
		streams[i] = describe(im, nr * CPI_MAX_EVENTS + (size_t)i);
		count_losses(im, b, i);
	}
	err = post(im, &b->attribution.tally, &f);
	if (err)
		return err;
	for (int i = 0; i < b->nr_streams; i++) {
		b->stream[i].samples = (struct stream_account){ 0 };
		b->stream[i].throttled = 0;
	}
	return 0;
}

/* The stacks of one stream, after the counts: the tally is empty. */
static int post_stacks(struct import *im, struct bank *b, int stream)
{
	struct bank_stream *s = &b->stream[stream];
	struct outbox_stacks stacks = {
		.tally = s->tally,
		.stream = describe(im, (size_t)(b - im->bank) * CPI_MAX_EVENTS +
					       (size_t)stream),
	};
	struct outbox_flush f = { .stacks = &stacks };
	int err;

	if (!s->stacks.received)
		return 0;
	if (!s->tally) /* all were lost */
		stacks.tally = s->tally = stacktally_new();
	if (!s->tally)
		return -ENOMEM;
	s->stacks.lost[SAMPLE_NO_SPACE] = s->tally->no_space;
	memcpy(stacks.lost, s->stacks.lost, sizeof(stacks.lost));
	stacks.stream.received = s->stacks.received;
	stacks.stream.throttled = 0; /* is reported with the samples */
	err = post(im, &b->attribution.tally, &f);
	if (err)
		return err;
	im->result.nr_stacks += s->tally->kept;
	s->tally = NULL; /* the outbox's now */
	s->stacks = (struct stream_account){ 0 };
	return 0;
}

static int post_bank(struct import *im, size_t nr)
{
	struct bank *b = &im->bank[nr];
	int err = post_counts(im, nr);

	for (int i = 0; !err && i < b->nr_streams; i++)
		err = post_stacks(im, b, i);
	return err;
}

/* Of several flushes, the first has the interval; the others have length 0. */
int perfimport_flush(struct import *im)
{
	int err = 0;

	if (im->now_ns < im->flushed_ns)
		im->now_ns = im->flushed_ns;
	for (size_t i = 0; !err && i < im->nr_banks; i++)
		err = post_bank(im, i);
	return err ? err : outbox_store(im->outbox, im->store);
}

/* Whether to flush soon: beyond STACKTALLY_MAX_BYTES, trees take no new frames. */
static bool is_crowded(const struct stacktally *t)
{
	return t && stacktally_memory(t) > STACKTALLY_MAX_BYTES / 2;
}

bool perfimport_is_full(const struct import *im)
{
	size_t used = 0;

	for (size_t i = 0; i < im->nr_banks; i++) {
		const struct bank *b = &im->bank[i];

		used += tally_memory(b->attribution.tally);
		for (int s = 0; s < b->nr_streams; s++) {
			if (is_crowded(b->stream[s].tally))
				return true;
		}
	}
	return used > im->cfg->max_memory;
}

int perfimport_end(struct import *im)
{
	int err = store_end(im->store, real_ns(im, im->now_ns));

	im->store = NULL;
	return err;
}

static void free_bank(struct bank *b)
{
	tally_free(b->attribution.tally);
	for (int i = 0; i < b->nr_streams; i++)
		stacktally_free(b->stream[i].tally);
}

void perfimport_free_banks(struct import *im)
{
	for (size_t i = 0; im->bank && i < im->nr_banks; i++)
		free_bank(&im->bank[i]);
	free(im->bank);
}
