/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_flame.c - draws call stacks
 *
 * It is a command of its own because people look for it by this name, and because its
 * two arguments are those of cpi diff.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "report/compare/diff_frames.h"
#include "tools/commands.h"
#include "tools/tree.h"
#include "tools/ui/picture.h"
#include "tools/write/calls.h"
#include "tools/write/flame.h"
#include "tools/write/report.h"

#define DEFAULT_THRESHOLD 0.1 /* percent */
#define MAX_BOXES         20000
#define MAX_NOTES         (2 * CALLTREE_NR_SIDES + 2)

struct options {
	struct tree_options tree;
	const char *output, *history;
	bool icicle;
	double fdr;
	int format;
};

enum { FORMAT_SVG, FORMAT_JSON };

struct sheet {
	struct tree tree;
	struct buf title, note[MAX_NOTES];
	size_t nr_notes;
	double part[NR_FRAME_KINDS];
	struct diff_frames diff; /* with two sides */
};

/* Appends "Epoch 1: FROM to TO", or the first and the last of several epochs. */
static void put_epochs(const struct selection *sel, struct buf *out)
{
	const struct query_epoch *first = &sel->epochs.epoch[0];
	const struct query_epoch *last = select_newest(sel);
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE], id[SELECT_ID_SIZE];

	buf_printf(out, "Epoch %s", select_epoch_id(sel, first, id));
	if (sel->epochs.nr > 1)
		buf_printf(out, " to %s", select_epoch_id(sel, last, id));
	else if (*first->label)
		buf_printf(out, " \"%s\"", first->label);
	buf_printf(out, ": %s to %s", time_format(first->from_ns, from),
		   time_format(last->to_ns, to));
}

static void put_streams(const struct calls *c, struct buf *out)
{
	char period[REPORT_PERIOD_SIZE];

	for (size_t i = 0; i < c->sel.streams.nr; i++) {
		const struct stream_desc *s = &c->sel.streams.stream[i].desc;

		if (c->ev.of[i] == 0)
			buf_printf(out, "%s%s from %s, a stack per %s",
				   out->len ? "; " : "", s->event, s->source,
				   report_period(s, period));
	}
	buf_printf(out, ": %" PRIu64 " samples", c->busy.n);
	if (c->ev.event[0].is_time)
		buf_printf(out, ", %.3f s", c->busy.weight / 1e9);
	if (c->idle.n)
		buf_printf(out, "; %" PRIu64 " of idle CPUs%s", c->idle.n,
			   c->req->idle ? " among them" : " are left out");
}

static struct buf *next_note(struct sheet *s)
{
	return &s->note[s->nr_notes++];
}

static void put_side(struct sheet *s, int side)
{
	static const char *const sides[] = { "Before: ", "After: " };
	const struct calls *c = &s->tree.calls[side];
	struct buf *epochs = next_note(s), *streams = next_note(s);

	if (s->tree.nr_sides > 1)
		buf_puts(epochs, sides[side]);
	put_epochs(&c->sel, epochs);
	put_streams(c, streams);
}

static void put_title(struct sheet *s)
{
	const struct calls *c = &s->tree.calls[0];
	struct buf hosts = { 0 };

	select_hosts(&c->sel, &hosts);
	buf_printf(&s->title, "%s of %s", c->ev.event[0].name, buf_str(&hosts));
	buf_fini(&hosts);
	if (s->tree.nr_sides > 1)
		buf_puts(&s->title, ": what changed");
	else
		buf_puts(&s->title, s->tree.tree.inverted ? ", from the leaves" : "");
}

/* Notes that explain the colours and name the procedure that grew most. */
static void put_changes(const struct diff_frames *d, struct buf *note)
{
	if (d->basis == COMPARE_SAMPLING)
		buf_printf(
			note,
			"Too few epochs to tell how much epochs vary: coloured boxes "
			"changed by more than %.0f%% plus %.0f sampling errors.",
			100 * (DIFF_LEAST_RATIO - 1), DIFF_LEAST_ERRORS);
	else
		buf_printf(
			note,
			"Coloured boxes changed significantly, as cpi diff judges%s.",
			d->basis == COMPARE_HISTORY ? ", against earlier epochs" : "");
	if (d->grown)
		buf_printf(note, " Grew most: %s, %.1f%% to %.1f%%.", d->grown,
			   d->grown_percent[0], d->grown_percent[1]);
}

/* Compares the sides. Returns 0, or an error, which is logged. */
static int add_changes(struct sheet *s, const struct diff_request *req,
		       char *const *specs)
{
	int err = diff_frames_open(req, specs[0], specs[1], &s->tree.frames, &s->diff);

	if (!err)
		put_changes(&s->diff, next_note(s));
	return err;
}

/* Weighs the sides equally, however long they lasted. */
static void weigh_sides(struct tree *t)
{
	for (int side = 0; side < t->nr_sides; side++) {
		const double all = t->tree.root->total[side].weight;

		t->tree.scale[side] = all > 0 ? 1 / all : 0;
	}
}

/* One side is what cpi tree shows. */
static int print_json(struct sheet *s, const struct flame *f, const struct options *o)
{
	struct out_options out = o->tree.out;

	out.format = OUT_JSON;
	if (s->tree.nr_sides == 1)
		return tree_print(&s->tree, &out);
	return flame_print_json(f, s->tree.calls, s->diff.basis);
}

static int draw(struct sheet *s, const struct options *o)
{
	const char *note[MAX_NOTES];
	struct flame f = { .tree = &s->tree.tree,
			   .frames = &s->tree.frames,
			   .title = buf_str(&s->title),
			   .note = note,
			   .nr_notes = s->nr_notes,
			   .icicle = o->icicle,
			   .change = s->diff.change };
	struct buf picture = { 0 };
	int err;

	memcpy(f.part, s->part, sizeof(f.part));
	for (size_t i = 0; i < s->nr_notes; i++)
		note[i] = buf_str(&s->note[i]);
	if (o->format == FORMAT_JSON) {
		err = print_json(s, &f, o);
		if (err)
			log_err("flame: %s", err_str(err));
		return err;
	}
	err = flame_put(&picture, &f);
	if (err)
		log_err("flame: %s", err_str(err));
	else if (o->output)
		err = picture_write(o->output, &picture);
	else
		fwrite(picture.data, 1, picture.len, stdout);
	buf_fini(&picture);
	return err;
}

/* The threshold that was asked for, raised until a browser can show the picture. */
static double threshold_of(const struct sheet *s, double asked)
{
	const double wanted = asked > 0 ? asked : DEFAULT_THRESHOLD;
	double threshold = wanted;

	while (tree_nr_above(&s->tree, threshold) > MAX_BOXES)
		threshold *= 2;
	if (threshold > wanted)
		log_warn("flame: more than %d boxes: what has less than %g%% is left "
			 "out",
			 MAX_BOXES, threshold);
	return threshold;
}

static int make_sheet(struct sheet *s, const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const struct tree_request *tree = &o->tree.tree;
	const struct diff_request diff = { .select = tree->calls.select,
					   .fdr = o->fdr,
					   .history = o->history };
	int err = 0;

	for (int side = 0; side < s->tree.nr_sides; side++) {
		if (s->tree.calls[side].busy.n)
			continue;
		log_err("%s: no samples match", db_path(s->tree.calls[side].sel.db));
		return -CPI_EEMPTY;
	}
	weigh_sides(&s->tree);
	put_title(s);
	for (int side = 0; side < s->tree.nr_sides; side++)
		put_side(s, side);
	if (s->tree.nr_sides > 1)
		err = add_changes(s, &diff, ctx->args);
	if (tree_has_many_unknown(&s->tree))
		tree_put_unknown(&s->tree, next_note(s));
	flame_parts(&s->tree.tree, &s->tree.frames, s->part);
	if (!err)
		err = tree_finish(&s->tree, threshold_of(s, tree->threshold));
	return err ? err : draw(s, o);
}

static int run_flame(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const char *epoch = o->tree.tree.calls.select.epoch;
	const bool two = ctx->nr_args == 2;
	const char *const spec[] = { two ? ctx->args[0] : epoch, ctx->args[two] };
	struct tree_request req = o->tree.tree;
	struct sheet s = { 0 };
	int err;

	if (ctx->nr_args == 1 || (two && epoch))
		return cmd_usage_error(ctx->cmd, "name the epochs of both sides, A and "
						 "B, or one --epoch");
	if (two && o->tree.tree.inverted)
		return cmd_usage_error(ctx->cmd,
				       "--inverted cannot compare A and B: leave "
				       "out --inverted, or name one --epoch");
	if (o->format == FORMAT_JSON && o->output)
		return cmd_usage_error(ctx->cmd, "--format=json goes to standard "
						 "output: leave out --output");
	if (o->format == FORMAT_SVG && !o->output && isatty(STDOUT_FILENO))
		return cmd_usage_error(ctx->cmd, "this is for a browser: name a file, "
						 "with --output");
	req.command = ctx->cmd->name;
	req.fold = true;
	if (tree_open(&req, CALLS_LINES, spec, two ? 2 : 1, &s.tree))
		return EXIT_FAIL;
	err = make_sheet(&s, ctx);
	tree_close(&s.tree);
	buf_fini(&s.title);
	for (size_t i = 0; i < s.nr_notes; i++)
		buf_fini(&s.note[i]);
	diff_frames_close(&s.diff);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPTS_SELECTION,
	OPT("output", 'o', "FILE", "write the picture to this file, not to stdout",
	    OPT_STRING, output),
	OPT("format", 0, "svg|json", "how to write the result", OPT_CHOICE, format),
	OPT("icicle", 0, NULL, "draw the root at the top", OPT_FLAG, icicle),
	OPT_INVERTED,
	OPTS_TREE("0.1"),
	OPT("history", 0, "SPEC", "earlier epochs that show how epochs vary, or none",
	    OPT_STRING, history),
	OPT("fdr", 0, "RATE", "accepted share of false findings (default: 0.05)",
	    OPT_REAL, fdr),
	OPT_END,
};

const struct cmd cmd_flame = {
	.name = "flame",
	.args = "[A B]",
	.summary = "A flame graph of call stacks, or of what changed in them",
	.max_args = 2,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_flame,
};
