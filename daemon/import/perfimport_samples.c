/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfimport_samples.c - counts the samples and losses of a recording by stream
 *
 * Each sample is attributed as a batch with one entry, whose interval is the sample's
 * time. Its branches and its chain have the same time.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "daemon/import/perfbranches.h"
#include "daemon/import/perfchains.h"
#include "daemon/import/perfimport_private.h"
#include "daemon/import/perfrecords.h"

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

/* The stream for records about an event (-1: any), which have no period. */
static struct bank *bank_of(struct import *im, int event, int *stream)
{
	int main = perfstreams_main(im->streams, event);

	if (main < 0)
		main = perfstreams_main(im->streams, -1);
	*stream = main % (int)CPI_MAX_EVENTS;
	return &im->bank[main / (int)CPI_MAX_EVENTS];
}

/* Edges belong to the main stream of the event: they have counts, but no period. */
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

/* A chain belongs to the stream of its sample, so it stands for the same time. */
static int take_chain(struct import *im, const struct perf_record *r, struct bank *b,
		      int stream)
{
	struct bank_stream *of = &b->stream[stream];

	if (!of->tally)
		of->tally = stacktally_new();
	if (!of->tally)
		return -ENOMEM;
	of->stacks.received++;
	b->attribution.stacks = of->tally;
	perfchains_add(&b->attribution, im->pd, r, im->now_ns);
	return 0;
}

static void count_sample(struct import *im, const struct import_sample *s,
			 struct bank *b, int stream)
{
	const uint32_t tgid = s->pid <= CPI_MAX_TGID ? s->pid : CPI_MAX_TGID;
	struct cpi_entry entry = {
		cpi_entry_word0(s->pc, stream, CPI_OUTCOME_NONE),
		cpi_entry_who(tgid, 0),
	};
	struct batch_record record = { .entry = entry };
	const struct batch batch = { .from_ns = s->time_ns,
				     .to_ns = s->time_ns,
				     .entries = &entry,
				     .nr = 1,
				     .records = &record,
				     .nr_records = s->hw != NULL };

	entry.word1 |= 1ull << CPI_COUNT_SHIFT;
	if (s->hw)
		record.hw = *s->hw;
	im->result.nr_samples++;
	b->stream[stream].samples.received++;
	if (s->is_guest)
		tally_lose(b->attribution.tally, stream, SAMPLE_GUEST, 1, NULL);
	else
		attribute_batch(&b->attribution, &batch);
}

int perfimport_count(struct import *im, const struct import_sample *s,
		     struct bank **bank, int *stream)
{
	const int all = perfstreams_take(im->streams, s->event, s->period);
	int err = perfimport_is_full(im) ? perfimport_flush(im) : 0;

	if (err)
		return err;
	if (all < 0) {
		log_err("%s: at offset %#llx: the file has changed while it was read",
			im->cfg->name, (unsigned long long)s->offset);
		return -ESTALE;
	}
	*bank = &im->bank[all / (int)CPI_MAX_EVENTS];
	*stream = all % (int)CPI_MAX_EVENTS;
	count_sample(im, s, *bank, *stream);
	return 0;
}

int perfimport_take_sample(struct import *im, const struct perf_record *r)
{
	struct hw_record hw = { 0 };
	struct import_sample s = { .offset = r->offset,
				   .event = r->event,
				   .time_ns = im->now_ns,
				   .period = r->sample.period,
				   .pc = r->sample.ip,
				   .pid = r->pid,
				   .is_guest = is_guest(r->misc) };
	struct bank *b;
	int stream, err;

	if (r->event < 0)
		return 0;
	if (perfrecords_read(im->pd, r, &hw))
		s.hw = &hw;
	err = perfimport_count(im, &s, &b, &stream);
	if (!err && perfchains_has(im->pd, r))
		err = take_chain(im, r, b, stream);
	if (!err && !s.is_guest && r->sample.nr_branches &&
	    !perfchains_are_calls(&perfdata_info(im->pd)->event[r->event]))
		err = take_branches(im, r);
	return err;
}

static bool has_chains(const struct import *im, int event)
{
	return event >= 0 &&
	       perfdata_info(im->pd)->event[event].sample_type & PERF_SAMPLE_CALLCHAIN;
}

/* A sample that is lost would have had a chain, too. */
void perfimport_lose(struct import *im, int event, enum loss loss, uint64_t n)
{
	int stream;
	struct bank *b = bank_of(im, event, &stream);
	struct bank_stream *of = &b->stream[stream];

	of->samples.received += n;
	im->result.nr_samples += n;
	im->result.nr_lost += n;
	tally_lose(b->attribution.tally, stream, loss, n, NULL);
	if (has_chains(im, event)) {
		of->stacks.received += n;
		of->stacks.lost[loss] += n;
	}
}

void perfimport_take_throttle(struct import *im, const struct perf_record *r)
{
	int stream;
	struct bank *b = bank_of(im, r->event, &stream);

	b->stream[stream].throttled++;
}
