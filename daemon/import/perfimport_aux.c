/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfimport_aux.c - samples that hardware wrote into AUX buffers
 *
 * The period of a sample is that of its event. Flags of PERF_RECORD_AUX report losses.
 * The number of lost samples is not known; each flag counts as one.
 */
#include "config.h"

#include "base/err.h"
#include "base/log.h"
#include "daemon/import/perfimport_private.h"
#include "daemon/collect/spefeed.h"

static uint64_t period_of(const struct import *im, int event)
{
	return perfdata_info(im->pd)->event[event].sample_period;
}

static int fail(const struct import *im, int err)
{
	if (err)
		log_err("%s: AUX data: %s", im->cfg->name, err_str(err));
	return err;
}

/* ---- the first reading ---- */

int perfimport_note_aux(struct import *im, const struct perf_record *r)
{
	return fail(im, perfaux_note(im->aux, im->pd, r));
}

static int note_sample(void *ctx, const struct perfaux_sample *s)
{
	struct import *im = ctx;

	return perfstreams_note(im->streams, s->event, period_of(im, s->event));
}

int perfimport_end_note_aux(struct import *im)
{
	const uint64_t foreign = perfaux_foreign(im->aux);

	if (foreign)
		log_warn("%s: %llu bytes of AUX data are not of Arm's SPE: they are "
			 "left out",
			 im->cfg->name, (unsigned long long)foreign);
	return fail(im, perfaux_each(im->aux, note_sample, im));
}

/* ---- the second reading ---- */

static int take_sample(void *ctx, const struct perfaux_sample *s)
{
	struct import *im = ctx;
	const struct import_sample sample = { .event = s->event,
					      .time_ns = s->time_ns,
					      .period = period_of(im, s->event),
					      .pc = s->hw->value[HW_PC],
					      .pid = s->pid,
					      .hw = s->hw };
	struct bank *b;
	int stream;

	if (hw_has(s->hw, HW_PC))
		return perfimport_count(im, &sample, &b, &stream);
	perfimport_lose(im, s->event, SAMPLE_AUX_DAMAGED, 1);
	return 0;
}

static void take_flags(struct import *im, const struct perf_record *r)
{
	if (r->event < 0 || !perfaux_is_spe(im->pd, r->event))
		return;
	for (size_t i = 0; i < SPEFEED_NR_LOSSES; i++) {
		if (r->aux_part.flags & spefeed_losses[i].flag)
			perfimport_lose(im, r->event, spefeed_losses[i].loss, 1);
	}
}

static void take_damaged(struct import *im)
{
	const uint64_t n = perfaux_take_damaged(im->aux);

	if (n)
		perfimport_lose(im, perfaux_event(im->aux), SAMPLE_AUX_DAMAGED, n);
}

int perfimport_take_aux(struct import *im, const struct perf_record *r)
{
	int err = perfaux_take(im->aux, r, im->now_ns, take_sample, im);

	if (r->type == PERF_RECORD_AUX)
		take_flags(im, r);
	take_damaged(im);
	return fail(im, err);
}

int perfimport_end_take_aux(struct import *im)
{
	int err = perfaux_end(im->aux, take_sample, im);

	take_damaged(im);
	return fail(im, err);
}
