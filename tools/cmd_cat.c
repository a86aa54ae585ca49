/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_cat.c - prints the contents of a database (dcpicat)
 *
 * Profiles are printed one by one as they are read, because a selection may be larger
 * than memory.
 */
#include "config.h"

#include <errno.h>

#include "base/log.h"
#include "report/select/select.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"
#include "tools/cat/cat.h"
#include "tools/write/report.h"

/* The columns that put_place() fills. */
#define PLACE_COLUMNS                                                     \
	{ "", "image", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },                 \
		{ "", "kind", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },          \
		{ "", "build_id", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },      \
		{ "", "event", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },         \
		{ "", "source", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },        \
		{ "", "mean_period", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT }, \
		{ "", "unit", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },          \
	{                                                                 \
		"offset", "offset", COLUMN_NUMBER, COLUMN_EVERYWHERE      \
	}

static const struct column count_columns[] = {
	PLACE_COLUMNS,
	{ "samples", "n", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "taken", "taken", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "not taken", "not_taken", COLUMN_NUMBER, COLUMN_EVERYWHERE },
};

static const struct column weight_columns[] = {
	PLACE_COLUMNS,
	{ "execution", "execution", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "stall", "stall", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "front end", "front_end", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "mispredict", "mispredict", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "flush", "flush", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "exception", "exception", COLUMN_NUMBER, COLUMN_EVERYWHERE },
};

struct options {
	struct view_options view;
	bool intervals, weights, edges, windows, stacks, check;
};

struct profile_dump {
	int format;
	bool weights;
	const struct selection *sel;
	struct table *t;
	struct json json;
	bool any;
};

/* Fills the first columns, which all rows of a profile have. */
static void put_place(struct table *t, const struct query_profile *q,
		      const struct stream_desc *s, uint64_t offset)
{
	char build_id[REPORT_BUILD_ID_SIZE];

	table_text(t, q->image.desc.name);
	table_text(t, image_kind_str(q->image.desc.kind));
	table_text(t, report_build_id(&q->image.desc, build_id));
	table_text(t, s->event);
	table_text(t, s->source);
	table_number(t, s->mean_period);
	table_text(t, s->unit);
	table_hex(t, offset);
}

static void put_count(struct table *t, const struct query_profile *q,
		      const struct stream_desc *s, const struct count *c)
{
	put_place(t, q, s, c->offset);
	table_number(t, c->n);
	table_number(t, c->taken);
	table_number(t, c->not_taken);
}

static int print_profile(struct profile_dump *d, const struct query_profile *q,
			 const struct stream_desc *s)
{
	char build_id[REPORT_BUILD_ID_SIZE], period[REPORT_PERIOD_SIZE];

	switch (d->format) {
	case OUT_JSON:
		return table_print_json(d->t, &d->json);
	case OUT_CSV:
		return table_print_csv(d->t, !d->any);
	}
	report_build_id(&q->image.desc, build_id);
	out_line("%s (%s%s%s), %s from %s, a sample per %s: %llu samples",
		 q->image.desc.name, image_kind_str(q->image.desc.kind),
		 *build_id ? ", build id " : "", build_id, s->event, s->source,
		 report_period(s, period),
		 (unsigned long long)profile_total(q->profile));
	return table_print_text(d->t, false, true);
}

/*
 * Fills a row for each offset with weights of any kind; *nr becomes the number of rows.
 * Returns 0 or a negative error.
 */
static int put_weights(struct table *t, const struct query_profile *q,
		       const struct stream_desc *s, size_t *nr)
{
	struct profile *all = profile_new();
	const struct count *c;
	int err = all ? 0 : -ENOMEM;

	for (int w = 0; w < NR_WEIGHTS && !err; w++) {
		if (profile_weights(q->profile, w))
			err = profile_merge(all, profile_weights(q->profile, w));
	}
	c = err ? NULL : profile_sorted(all, nr);
	for (size_t i = 0; !err && i < *nr; i++) {
		put_place(t, q, s, c[i].offset);
		for (int w = 0; w < NR_WEIGHTS; w++) {
			const struct profile *p = profile_weights(q->profile, w);

			table_number(t, p ? profile_at(p, c[i].offset).n : 0);
		}
	}
	profile_free(all);
	return err;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct profile_dump *d = ctx;
	const struct query_stream *stream =
		query_stream_by_id(&d->sel->streams, q->stream);
	const struct count *c = NULL;
	size_t nr;
	int err = 0;

	if (!stream)
		return 0;
	table_clear(d->t);
	if (d->weights)
		err = put_weights(d->t, q, &stream->desc, &nr);
	else
		c = profile_sorted(q->profile, &nr);
	if (err || !nr)
		return err;
	for (size_t i = 0; i < nr && !d->weights; i++)
		put_count(d->t, q, &stream->desc, &c[i]);
	err = print_profile(d, q, &stream->desc);
	d->any = true;
	return err;
}

static int print_profiles(struct profile_dump *d)
{
	int err;

	if (d->format == OUT_JSON) {
		json_object(&d->json, NULL);
		json_array(&d->json, "counts");
	}
	err = query_profiles(d->sel->db, &d->sel->query, on_profile, d, NULL);
	if (d->format == OUT_JSON) {
		json_end(&d->json);
		json_end(&d->json);
	}
	if (!err && !d->any && d->format == OUT_CSV)
		err = table_print_csv(d->t, true);
	return err;
}

static int dump_profiles(const struct options *o, const struct selection *sel)
{
	struct profile_dump d = { .format = o->view.out.format,
				  .weights = o->weights,
				  .sel = sel };
	int err = -ENOMEM;

	d.t = o->weights ? table_new(weight_columns,
				     sizeof(weight_columns) / sizeof(weight_columns[0]))
			 : table_new(count_columns,
				     sizeof(count_columns) / sizeof(count_columns[0]));
	if (d.t)
		err = print_profiles(&d);
	table_free(d.t);
	return err;
}

static const struct column interval_columns[] = {
	{ "run", "run", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "flush", "seq", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "epoch", "epoch", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "from", "from", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "to", "to", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "seconds", "seconds", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "received", "received", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "stored", "stored", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "lost", "lost", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "flushes", "flushes", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
};

static int on_interval(void *ctx, const struct query_interval *row)
{
	struct table *t = ctx;

	table_signed(t, row->run);
	table_signed(t, row->seq);
	table_signed(t, row->epoch);
	table_time(t, row->from_ns);
	table_time(t, row->to_ns);
	table_real(t, row->duration_ns / 1e9, 3);
	table_number(t, row->received);
	table_number(t, row->stored);
	table_number(t, row->lost);
	table_signed(t, row->nr_flushes);
	return 0;
}

static int dump_intervals(const struct selection *sel, int format)
{
	struct table *t;
	int err;

	t = table_new(interval_columns,
		      sizeof(interval_columns) / sizeof(interval_columns[0]));
	if (!t)
		return -ENOMEM;
	err = query_intervals(sel->db, &sel->epochs, on_interval, t);
	if (!err)
		err = table_print(t, format, "intervals", false);
	table_free(t);
	return err;
}

static int check(const struct select_request *select)
{
	struct db *db;
	int err;

	if (select_open_db(select, DB_READ, &db))
		return EXIT_FAIL;
	err = db_check(db);
	if (!err)
		out_line("%s: every profile decodes, nothing is damaged", db_path(db));
	db_close(db);
	return err ? EXIT_FAIL : EXIT_OK;
}

static int dump(const struct options *o, const struct selection *sel)
{
	const int format = o->view.out.format;

	if (o->intervals)
		return dump_intervals(sel, format);
	if (o->stacks)
		return cat_stacks(sel, format);
	if (o->edges)
		return cat_edges(sel, format);
	if (o->windows)
		return cat_windows(sel, format);
	return dump_profiles(o, sel);
}

static int run_cat(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	struct select_request select = o->view.select;
	struct selection sel;
	int err;

	if (o->intervals + o->weights + o->edges + o->windows + o->stacks + o->check >
	    1)
		return cmd_usage_error(ctx->cmd,
				       "give only one of --intervals, --weights, "
				       "--edges, --windows, --stacks, --check");
	if (o->edges && select_asks_contexts(&select))
		return cmd_usage_error(ctx->cmd,
				       "edges are not kept by context: choose "
				       "where they begin with --image");
	if (o->check)
		return check(&select);
	if (o->intervals && select.dbs.nr > 1)
		return cmd_usage_error(ctx->cmd,
				       "--intervals lists one database: give one --db");
	select.as_stored = true; /* only what is stored: no flush */
	if (select_open(&select, &sel))
		return EXIT_FAIL;
	select_end_read(&sel); /* a reader behind a pipe may wait for long */
	err = dump(o, &sel);
	if (err)
		select_failed(&sel, err);
	select_close(&sel);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPTS_SELECTION,
	OPT("intervals", 0, NULL, "list the flushes instead of the profiles", OPT_FLAG,
	    intervals),
	OPT("weights", 0, NULL, "list weights instead of counts", OPT_FLAG, weights),
	OPT("edges", 0, NULL, "list the edges that branch stacks recorded", OPT_FLAG,
	    edges),
	OPT("windows", 0, NULL, "list the instructions that windows followed", OPT_FLAG,
	    windows),
	OPT("stacks", 0, NULL, "list the call stacks instead of the profiles", OPT_FLAG,
	    stacks),
	OPT("check", 0, NULL, "only check that the database is whole", OPT_FLAG, check),
	OPT_FORMAT,
	OPT_END,
};

const struct cmd cmd_cat = {
	.name = "cat",
	.args = "",
	.summary = "Dump all stored data of a selection",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_cat,
};
