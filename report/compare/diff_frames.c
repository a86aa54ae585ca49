/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_frames.c - gives each frame of call stacks the change of its procedure
 *
 * cpi diff compares the flat profiles, and its rows are matched to frames by name and
 * image. If there are too few epochs, only the sampling error is known, and equal
 * epochs would seem to differ. A change is then found only if it is well beyond that
 * error.
 */
#include "config.h"

#include "report/compare/diff_frames.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"

static struct frame_change change_of_row(const struct diff *d, const struct diff_row *r)
{
	const struct compare_row *c = r->compared;
	const bool sampling = d->c.basis == COMPARE_SAMPLING;

	return (struct frame_change){
		.judged = sampling || c->tested,
		.found = sampling ? diff_is_beyond_sampling(d, r) : c->found,
		.change = c->change,
		.low = c->low,
		.high = c->high,
		.verdict = *diff_status(r) ? diff_status(r) : diff_verdict_text(r),
	};
}

static bool is_same_procedure(const struct frame *f, const struct matrix_row *row)
{
	return f->image && row->image && row->procedure && !f->inlined &&
	       f->image_hash == row->image_hash && !strcmp(f->name, row->procedure) &&
	       !strcmp(f->image, row->image);
}

/* If a row was matched by its code, it has a different name on each side. */
static bool is_of_row(const struct frame *f, const struct diff_row *r)
{
	return is_same_procedure(f, r->row) ||
	       (r->other && is_same_procedure(f, r->other));
}

static void fill_changes(const struct diff *d, const struct frames *frames,
			 struct frame_change *out)
{
	for (size_t i = 0; i < d->nr_rows; i++) {
		const struct diff_row *r = &d->row[i];
		const struct frame_change change = change_of_row(d, r);

		if (!change.judged)
			continue;
		for (size_t k = 0; k < frames->nr; k++) {
			if (is_of_row(frames->frame[k], r))
				out[k] = change;
		}
	}
}

/* Finds the changed procedure whose share grew most. Returns 0 or -ENOMEM. */
static int find_grown(const struct diff *d, struct diff_frames *out)
{
	const struct diff_row *most = NULL;
	double by = 0;

	for (size_t i = 0; i < d->nr_rows; i++) {
		const struct diff_row *r = &d->row[i];
		const double more = diff_percent(d, r, 1) - diff_percent(d, r, 0);

		if (r->row->procedure && more > by && change_of_row(d, r).found) {
			most = r;
			by = more;
		}
	}
	if (!most)
		return 0;
	out->grown = strdup(most->row->procedure);
	for (int side = 0; side < 2; side++)
		out->grown_percent[side] = diff_percent(d, most, side);
	return out->grown ? 0 : -ENOMEM;
}

/* Whether the flat profiles of spec have the event of the stacks. */
static bool has_event(const struct select_request *req, const char *spec)
{
	struct query_streams streams = { 0 };
	struct selection sel;
	bool has;

	if (select_open_epochs(req, spec, SELECT_EPOCHS, &sel))
		return false;
	has = !query_streams(sel.db, &sel.epochs, req->event, &streams) && streams.nr;
	query_streams_fini(&streams);
	select_close(&sel);
	return has;
}

int diff_frames_open(const struct diff_request *req, const char *a, const char *b,
		     const struct frames *frames, struct diff_frames *d)
{
	const struct select_request *select = &req->select;
	struct diff_request plain = *req;
	struct diff diff;
	int err;

	memset(d, 0, sizeof(*d));
	/* Stacks may be stored by command where flat profiles are not. */
	plain.select.context[CONTEXT_COMM] = NULL;
	if (select->event && (!has_event(select, a) || !has_event(select, b)))
		plain.select.event = NULL;
	err = diff_open(&plain, a, b, &diff);
	if (err)
		return err;
	d->basis = diff.c.basis;
	d->change = calloc(frames->nr + 1, sizeof(*d->change));
	err = d->change ? find_grown(&diff, d) : -ENOMEM;
	if (!err)
		fill_changes(&diff, frames, d->change);
	diff_close(&diff);
	if (err) {
		log_err("diff: %s", err_str(err));
		diff_frames_close(d);
	}
	return err;
}

void diff_frames_close(struct diff_frames *d)
{
	free(d->change);
	free(d->grown);
	memset(d, 0, sizeof(*d));
}
