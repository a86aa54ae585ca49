/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * flame_diff.c - the judgement of flat profiles, for the boxes of stacks
 *
 * Flat profiles have more samples than stacks, and cpi diff knows what epochs differ
 * by. With so few of them that it does not, no change is proven; then a colour wants a
 * change well beyond the error of sampling, and beyond what equal runs differ by.
 */
#include "config.h"

#include "tools/flame_diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "tools/diff.h"

/* Without knowledge of runs: a quarter more or less, and so many standard errors. */
#define LEAST_RATIO  1.25
#define LEAST_ERRORS 4.0
#define LEAST_SHARE  0.5        /* percent, of either side */
#define INTERVAL     (2 * 1.96) /* standard errors, of 95% */

static bool is_beyond_sampling(const struct diff *d, const struct diff_row *r)
{
	const struct compare_row *c = r->compared;
	const double error = (c->high - c->low) / INTERVAL;

	return fabs(c->change) > log(LEAST_RATIO) + LEAST_ERRORS * error &&
	       fmax(diff_percent(d, r, 0), diff_percent(d, r, 1)) >= LEAST_SHARE;
}

static struct flame_change judge(const struct diff *d, const struct diff_row *r)
{
	const struct compare_row *c = r->compared;
	const bool sampling = d->c.basis == COMPARE_SAMPLING;

	return (struct flame_change){
		.judged = sampling || c->tested,
		.found = sampling ? is_beyond_sampling(d, r) : c->found,
		.change = c->change,
		.low = c->low,
		.high = c->high,
		.verdict = *diff_status(r) ? diff_status(r) : diff_verdict(r),
	};
}

static bool is_of(const struct frame *f, const struct matrix_row *row)
{
	return f->image && row->image && row->procedure && !f->inlined &&
	       f->image_hash == row->image_hash && !strcmp(f->name, row->procedure) &&
	       !strcmp(f->image, row->image);
}

/* A row of builds that were matched by their code has a name on each side. */
static void spread(const struct frames *frames, const struct diff *d,
		   struct flame_change *out)
{
	for (size_t i = 0; i < d->nr_rows; i++) {
		const struct diff_row *r = &d->row[i];
		const struct flame_change change = judge(d, r);

		if (!change.judged)
			continue;
		for (size_t k = 0; k < frames->nr; k++) {
			const struct frame *f = frames->frame[k];

			if (is_of(f, r->row) || (r->other && is_of(f, r->other)))
				out[k] = change;
		}
	}
}

static void put_basis(const struct diff *d, struct buf *note)
{
	if (d->c.basis == COMPARE_SAMPLING)
		buf_printf(note,
			   "Too few epochs to tell what epochs differ by: coloured is "
			   "what changed by %.0f%% and %.0f errors of sampling.",
			   100 * (LEAST_RATIO - 1), LEAST_ERRORS);
	else
		buf_printf(note, "Coloured is what cpi diff finds significant%s.",
			   d->c.basis == COMPARE_HISTORY ? ", against earlier epochs"
							 : "");
}

static void put_most(const struct diff *d, struct buf *note)
{
	const struct diff_row *most = NULL;
	double by = 0;

	for (size_t i = 0; i < d->nr_rows; i++) {
		const struct diff_row *r = &d->row[i];
		const double more = diff_percent(d, r, 1) - diff_percent(d, r, 0);

		if (r->row->procedure && more > by && judge(d, r).found) {
			most = r;
			by = more;
		}
	}
	if (most)
		buf_printf(note, " Most more: %s, %.1f%% to %.1f%%.",
			   most->row->procedure, diff_percent(d, most, 0),
			   diff_percent(d, most, 1));
}

/* Whether flat profiles of what spec names are of --event, which stacks are of. */
static bool has_event(const struct cmd_context *ctx, const char *spec)
{
	struct query_streams streams = { 0 };
	struct selection sel;
	bool has;

	if (select_open_epochs(ctx, spec, SELECT_EPOCHS, &sel))
		return false;
	has = !query_streams(sel.db, &sel.epochs, ctx->opt.event, &streams) &&
	      streams.nr;
	query_streams_fini(&streams);
	select_close(&sel);
	return has;
}

int flame_judge(const struct cmd_context *ctx, const struct frames *frames,
		struct flame_change **out, struct buf *note)
{
	struct cmd_context plain = *ctx;
	struct flame_change *change;
	struct diff d;
	int err;

	plain.opt.threshold = 0; /* is that of the picture */
	plain.opt.context[CONTEXT_COMM] =
		NULL; /* stacks have it where profiles have not */
	if (ctx->opt.event &&
	    (!has_event(ctx, ctx->args[0]) || !has_event(ctx, ctx->args[1])))
		plain.opt.event = NULL;
	err = diff_open(&plain, ctx->args[0], ctx->args[1], &d);
	if (err)
		return err;
	change = calloc(frames->nr + 1, sizeof(*change));
	if (!change) {
		err = -ENOMEM;
		log_err("flame: %s", err_str(err));
		goto out;
	}
	spread(frames, &d, change);
	put_basis(&d, note);
	put_most(&d, note);
	*out = change;
out:
	diff_close(&d);
	return err;
}
