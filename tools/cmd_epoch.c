/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_epoch.c - lists, begins, labels and moves the epochs of a database
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/move/export.h"
#include "db/move/import.h"
#include "db/store/store.h"
#include "report/select/content.h"
#include "report/select/select.h"
#include "tools/commands.h"
#include "tools/ctl.h"
#include "tools/options.h"
#include "tools/retain/retaining.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"
#include "tools/write/report.h"

struct options {
	struct view_options view;
	bool force;
};

/* The selection in the command's options. */
static const struct select_request *select_of(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;

	return &o->view.select;
}

static const struct column columns[] = {
	{ "id", "id", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "from", "from", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "to", "to", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "seconds", "seconds", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "samples", "samples", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "start uncertain by, ms", "uncertainty_ms", COLUMN_NUMBER,
	  COLUMN_EVERYWHERE },
	{ "state", "state", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "host", "host", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "release", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "", "boot_id", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
	{ "label", "label", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "database", "db", COLUMN_TEXT, COLUMN_EVERYWHERE }, /* of several */
};

#define MAX_ARGS 1024

#define HOUR_NS   (3600 * NSEC_PER_SEC)
#define NR_NEWEST 10 /* have a row each */

#define NR_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void put_id(struct table *t, const struct selection *sel,
		   const struct query_epoch *e, size_t nr)
{
	char id[2 * SELECT_ID_SIZE];

	if (nr > 1) {
		snprintf(id, sizeof(id), "%" PRId64 "..%" PRId64, e->id, e[nr - 1].id);
		table_text(t, id);
	} else if (sel->dbs) {
		table_text(t, select_epoch_id(sel, e, id));
	} else {
		table_signed(t, e->id);
	}
}

/* Prints a row for nr epochs that follow each other. */
static void put_epochs(struct table *t, const struct selection *sel,
		       const struct query_epoch *e, size_t nr)
{
	uint64_t length_ns = 0, samples = 0;
	char state[32];

	for (size_t i = 0; i < nr; i++) {
		samples += e[i].samples;
		length_ns += e[i].to_ns > e[i].from_ns ? e[i].to_ns - e[i].from_ns : 0;
	}
	snprintf(state, sizeof(state), "%zu epochs", nr);
	put_id(t, sel, e, nr);
	table_time(t, e->from_ns);
	table_time(t, e[nr - 1].to_ns);
	table_real(t, length_ns / 1e9, 1);
	table_number(t, samples);
	table_number(t, e->uncertainty_ms);
	table_text(t, nr > 1 ? state : e->open ? "open" : "ended");
	table_text(t, e->host);
	table_text(t, e->release);
	table_text(t, e->boot_id);
	table_text(t, e->label);
	if (sel->dbs)
		table_text(t, select_epoch_db(sel, e));
}

static bool is_short(const struct query_epoch *e)
{
	return !e->open && !*e->label && e->to_ns - e->from_ns < HOUR_NS;
}

/*
 * How many epochs from the i-th on share a row: short ones of one hour with consecutive
 * ids, but never the newest ones.
 */
static size_t row_length(const struct query_epochs *epochs, size_t i)
{
	const struct query_epoch *e = epochs->epoch, *first = &e[i];
	size_t nr = 1;

	while (i + nr + NR_NEWEST < epochs->nr && is_short(first) &&
	       is_short(&e[i + nr]) && e[i + nr].id == first->id + (int64_t)nr &&
	       e[i + nr].from_ns / HOUR_NS == first->from_ns / HOUR_NS &&
	       !strcmp(e[i + nr].host, first->host))
		nr++;
	return nr;
}

/* A row for a mark, in text; it has no epoch's numbers. */
static void put_mark(struct table *t, const struct selection *sel,
		     const struct query_mark *m)
{
	table_text(t, "");
	table_time(t, m->at_ns);
	for (int i = 0; i < 4; i++) /* to, seconds, samples, uncertain by */
		table_text(t, "");
	table_text(t, "mark");
	table_text(t, m->host);
	table_text(t, ""); /* release and boot_id, which text does not have */
	table_text(t, "");
	table_text(t, m->text);
	if (sel->dbs)
		table_text(t, "");
}

/* Rows of epochs, and of marks between them, and what they are made from. */
struct listing {
	const struct selection *sel;
	const struct query_marks *marks;
	bool grouped;
	struct table *t;
	const struct query_epoch *row; /* the last that several epochs share, or NULL */
};

static void fill_rows(struct listing *l, const struct out_options *out)
{
	const struct query_epochs *epochs = &l->sel->epochs;
	const struct query_marks *marks = l->marks;
	const bool with_marks = out->format == OUT_TEXT;
	/* A limit keeps the newest epochs. */
	const size_t first =
		out->limit && epochs->nr > out->limit ? epochs->nr - out->limit : 0;
	size_t nr, mark = 0;

	while (first && mark < marks->nr &&
	       marks->mark[mark].at_ns < epochs->epoch[first].from_ns)
		mark++;
	for (size_t i = first; i < epochs->nr; i += nr) {
		const struct query_epoch *e = &epochs->epoch[i];

		for (; with_marks && mark < marks->nr &&
		       marks->mark[mark].at_ns < e->from_ns;
		     mark++)
			put_mark(l->t, l->sel, &marks->mark[mark]);
		nr = l->grouped ? row_length(epochs, i) : 1;
		put_epochs(l->t, l->sel, e, nr);
		if (nr > 1)
			l->row = e;
	}
	for (; with_marks && mark < marks->nr; mark++)
		put_mark(l->t, l->sel, &marks->mark[mark]);
}

static int print_json(struct listing *l)
{
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	json_array(&j, "epochs");
	err = table_print_json(l->t, &j);
	json_end(&j);
	report_json_marks(&j, l->marks);
	json_end(&j);
	return err;
}

static int print_epochs(const struct out_options *out, struct listing *l)
{
	static const char *const drop[] = { "uncertainty_ms", "host", "seconds", NULL };
	const struct query_epochs *epochs = &l->sel->epochs;
	int err;

	l->t = table_new(columns, l->sel->dbs ? NR_COLUMNS : NR_COLUMNS - 1);
	if (!l->t)
		return -ENOMEM;
	table_drop_first(l->t, drop);
	fill_rows(l, out);
	if (out->format == OUT_JSON)
		err = print_json(l);
	else
		err = table_print(l->t, out->format, "epochs", false);
	table_free(l->t);
	if (!err && l->row) {
		const size_t nr = row_length(epochs, l->row - epochs->epoch);

		out_line("%s", "");
		out_line("'cpi epoch list --epoch %" PRId64 "..%" PRId64
			 "' shows the epochs of a row.",
			 l->row->id, l->row[nr - 1].id);
	}
	return err;
}

static int list(const struct view_options *o)
{
	const char *epoch = o->select.epoch;
	struct query_marks marks = { 0 };
	struct selection sel;
	int err;

	err = select_open_epochs(&o->select, epoch ? epoch : "all", SELECT_EPOCHS,
				 &sel);
	if (err)
		return EXIT_FAIL;
	err = query_marks_of(sel.db, &sel.epochs, &marks);
	if (err) {
		log_err("%s: marks: %s", db_path(sel.db), err_str(err));
	} else {
		struct listing l = {
			.sel = &sel,
			.marks = &marks,
			.grouped = !epoch && !o->out.limit && !sel.dbs &&
				   o->out.format == OUT_TEXT,
		};

		err = print_epochs(&o->out, &l);
	}
	query_marks_fini(&marks);
	select_close(&sel);
	return err ? EXIT_FAIL : EXIT_OK;
}

/* Finds the one epoch that spec names. */
static int find_epoch(const struct select_request *req, const char *spec, int64_t *id)
{
	struct selection sel;
	int err = select_open_epochs(req, spec, SELECT_EPOCHS, &sel);

	if (err)
		return err;
	if (sel.epochs.nr == 1) {
		*id = sel.epochs.epoch[0].id;
	} else {
		log_err("'%s' names %zu epochs: label one at a time", spec,
			sel.epochs.nr);
		err = -CPI_ETOOMANY;
	}
	select_close(&sel);
	return err;
}

static int label(const struct cmd_context *ctx)
{
	const struct select_request *req = select_of(ctx);
	struct db *db;
	int64_t id;
	int err;

	if (select_open_db(req, DB_WRITE, &db))
		return EXIT_FAIL;
	err = find_epoch(req, ctx->args[1], &id);
	if (!err) {
		err = store_label_epoch(db, id, ctx->args[2]);
		if (err)
			log_err("%s: label: %s", db_path(db), err_str(err));
	}
	db_close_whole(db);
	return err ? EXIT_FAIL : EXIT_OK;
}

/* The ids of the epochs that the arguments from first on name, separated by commas. */
static int list_ids(const struct cmd_context *ctx, int first, struct buf *ids)
{
	struct selection sel;
	int err = 0;

	for (int i = first; i < ctx->nr_args && !err; i++) {
		err = select_open_epochs(select_of(ctx), ctx->args[i], SELECT_EPOCHS,
					 &sel);
		if (err)
			break;
		for (size_t k = 0; k < sel.epochs.nr; k++)
			buf_printf(ids, "%s%" PRId64, ids->len ? "," : "",
				   sel.epochs.epoch[k].id);
		select_close(&sel);
	}
	return err ? err : ids->err;
}

static void mention_open(const struct query_epochs *epochs)
{
	for (size_t i = 0; i < epochs->nr; i++) {
		if (epochs->epoch[i].open)
			log_warn("epoch %" PRId64 " is still open: the file has what "
				 "was flushed ('cpi epoch new' ends it; then export "
				 "it again)",
				 epochs->epoch[i].id);
	}
}

static int export(const struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const struct select_request *req = &o->view.select;
	const char *path = ctx->args[1];
	struct selection sel;
	struct buf ids = { 0 };
	struct stat st;
	int err;

	if (req->dbs.nr > 1)
		return cmd_usage_error(ctx->cmd, "export from one database");
	err = list_ids(ctx, 2, &ids);
	if (!err)
		err = select_open_epochs(req, ids.len ? buf_str(&ids) : req->epoch,
					 SELECT_EPOCHS, &sel);
	buf_fini(&ids);
	if (err)
		return EXIT_FAIL;
	err = sel.epochs.nr ? export_epochs(sel.db, &sel.epochs, path, o->force)
			    : -ENOENT;
	if (err == -ENOENT && !sel.epochs.nr)
		log_err("%s: nothing has been stored yet", db_path(sel.db));
	if (!err) {
		mention_open(&sel.epochs);
		out_line("%s: %zu epoch%s, %lld bytes", path, sel.epochs.nr,
			 sel.epochs.nr == 1 ? "" : "s",
			 stat(path, &st) ? 0 : (long long)st.st_size);
	}
	select_close(&sel);
	return err ? EXIT_FAIL : EXIT_OK;
}

static void print_result(const char *path, const struct import_result *r)
{
	out_line("%s: %zu imported, %zu replaced that had grown, %zu there already",
		 path, r->nr_new, r->nr_grown, r->nr_known);
	if (r->nr_new == 1)
		out_line("The new epoch is %" PRId64, r->first);
	else if (r->nr_new)
		out_line("The new epochs are %" PRId64 " to %" PRId64, r->first,
			 r->last);
}

static int import(const struct cmd_context *ctx)
{
	struct db *source, *db = NULL;
	struct import_result result;
	int err = db_open(ctx->args[1], DB_READ, &source);

	if (err) /* before the target file is made */
		return EXIT_FAIL;
	db_close(source);
	err = select_make_db(select_of(ctx), &db);
	if (!err)
		err = import_epochs(db, ctx->args[1], &result);
	if (!err)
		print_result(ctx->args[1], &result);
	select_close_made(db);
	return err ? EXIT_FAIL : EXIT_OK;
}

static bool is_choosing(const struct select_request *req)
{
	return req->epoch || req->host || req->platform;
}

/*
 * Rolls up or removes the epochs that the arguments name. Without arguments all epochs
 * are rolled up.
 */
static int retain(const struct cmd_context *ctx, bool removes)
{
	const struct select_request *req = select_of(ctx);
	struct selection sel = { 0 };
	struct buf ids = { 0 };
	struct db *db;
	int err;

	if (ctx->nr_args == 1 && is_choosing(req))
		return cmd_usage_error(
			ctx->cmd, "roll takes all days, or those of the epochs that "
				  "it names: 'cpi epoch list' has their numbers");
	if (select_open_db(req, DB_WRITE, &db))
		return EXIT_FAIL;
	err = list_ids(ctx, 1, &ids);
	if (!err && ids.len)
		err = select_open_epochs(req, buf_str(&ids), SELECT_EPOCHS, &sel);
	if (!err)
		err = removes ? retaining_remove(db, &sel.epochs)
			      : retaining_roll(db, ids.len ? &sel.epochs : NULL);
	select_close(&sel);
	buf_fini(&ids);
	db_close_whole(db);
	return err ? EXIT_FAIL : EXIT_OK;
}

static bool is_move(const struct cmd_context *ctx)
{
	return !strcmp(ctx->args[0], "export") || !strcmp(ctx->args[0], "import");
}

/* One line, for scripts that keep reports until their content changes. */
static int stamp(struct cmd_context *ctx)
{
	char name[CONTENT_NAME_SIZE];

	if (content_name(select_of(ctx), ctx->args + 1, (size_t)ctx->nr_args - 1, name))
		return EXIT_FAIL;
	puts(name);
	return EXIT_OK;
}

static int run_epoch(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const char *verb = ctx->args[0];

	if (!strcmp(verb, "list") && ctx->nr_args == 1)
		return list(&o->view);
	if (!strcmp(verb, "new") && ctx->nr_args <= 2)
		return ctl_run(o->view.select.socket, CPI_CONTROL_EPOCH,
			       ctx->nr_args == 2 ? ctx->args[1] : "");
	if (!strcmp(verb, "label") && ctx->nr_args == 3)
		return label(ctx);
	if (is_move(ctx) && ctx->nr_args >= 2 && !strcmp(ctx->args[1], "-"))
		return cmd_usage_error(ctx->cmd,
				       "a database cannot be a pipe: name a file");
	if (!strcmp(verb, "export") && ctx->nr_args >= 2)
		return export(ctx);
	if (!strcmp(verb, "import") && ctx->nr_args == 2)
		return import(ctx);
	if (!strcmp(verb, "roll"))
		return retain(ctx, false);
	if (!strcmp(verb, "rm") && ctx->nr_args >= 2)
		return retain(ctx, true);
	if (!strcmp(verb, "stamp"))
		return stamp(ctx);
	return cmd_usage_error(ctx->cmd, "say %s", ctx->cmd->args);
}

static const struct opt opts[] = {
	OPTS_EPOCHS, OPT("force", 0, NULL, "replace the output file", OPT_FLAG, force),
	OPT_LIMIT,   OPT_FORMAT,
	OPT_CPID,    OPT_END,
};

const struct cmd cmd_epoch = {
	.name = "epoch",
	.args = "list | new [LABEL] | label EPOCH NAME | export FILE [EPOCH...] | "
		"import FILE | roll [EPOCH...] | rm EPOCH... | stamp [EPOCH...]",
	.summary = "List epochs, begin or name one, move, roll up or remove some",
	.min_args = 1,
	.max_args = MAX_ARGS,
	.words = "list|new|label|export|import|roll|rm|stamp",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_epoch,
};
