/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_mark.c - marks an event on the time line, or lists the marks
 *
 * A running cpid stores a mark, because it keeps the mark in memory while its database
 * cannot be written. Without one, and for a time in the past, the database is written
 * directly.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "db/store/store.h"
#include "report/select/client.h"
#include "tools/commands.h"
#include "tools/ctl.h"
#include "tools/options.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"

struct options {
	struct view_options view;
	const char *at;
	bool list;
};

static const struct column columns[] = {
	{ "time", "at", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "host", "host", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "mark", "text", COLUMN_TEXT, COLUMN_EVERYWHERE },
};

static int print_marks(const struct out_options *out, const struct query_marks *marks)
{
	struct table *t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	const size_t limit =
		out->limit && out->limit < marks->nr ? out->limit : marks->nr;
	int err;

	if (!t)
		return -ENOMEM;
	/* A limit keeps the newest ones. */
	for (size_t i = marks->nr - limit; i < marks->nr; i++) {
		table_time(t, marks->mark[i].at_ns);
		table_text(t, marks->mark[i].host);
		table_text(t, marks->mark[i].text);
	}
	err = table_print(t, out->format, "marks", false);
	table_free(t);
	return err;
}

static int list(const struct view_options *o, const struct select_request *req)
{
	struct query_marks marks = { 0 };
	struct selection sel;
	int err = select_open_epochs(req, req->epoch ? req->epoch : "all",
				     SELECT_EPOCHS, &sel);

	if (err)
		return EXIT_FAIL;
	err = req->epoch ? query_marks_of(sel.db, &sel.epochs, &marks)
			 : query_marks(sel.db, &marks);
	if (err)
		log_err("%s: marks: %s", db_path(sel.db), err_str(err));
	else
		err = print_marks(&o->out, &marks);
	query_marks_fini(&marks);
	select_close(&sel);
	return err ? EXIT_FAIL : EXIT_OK;
}

/* Writes to the database itself, which may be in use. */
static int mark_database(const struct select_request *req, uint64_t at_ns,
			 const char *text)
{
	char when[TIME_TEXT_SIZE];
	struct utsname machine;
	struct db *db;
	int err;

	if (select_open_db(req, DB_WRITE, &db))
		return EXIT_FAIL;
	err = uname(&machine) < 0 ? -errno : 0;
	if (!err)
		err = store_mark_newest(db, at_ns, text, machine.nodename);
	if (err)
		log_err("%s: mark: %s", db_path(db), err_str(err));
	else
		out_line("marked %s in %s", time_format(at_ns, when), db_path(db));
	db_close_whole(db);
	return err ? EXIT_FAIL : EXIT_OK;
}

static int mark_now(const struct select_request *req, const char *text)
{
	struct buf reply = { 0 };
	int err;

	if (req->dbs.nr || db_env_path())
		return mark_database(req, time_real_ns(), text);
	err = client_call(req->socket, CPI_CONTROL_MARK, text, CLIENT_PATIENCE_NS,
			  &reply);
	if (!client_is_absent(err) || client_is_named(req->socket))
		return ctl_report(req->socket, err, &reply);
	buf_fini(&reply);
	return mark_database(req, time_real_ns(), text);
}

/* Reads --at. */
static int parse_time(const char *text, uint64_t *at_ns)
{
	const uint64_t now_ns = time_real_ns();
	uint64_t from_ns, to_ns;

	if (time_parse(text, &from_ns, &to_ns) &&
	    time_parse_relative(text, now_ns, &from_ns, &to_ns))
		return -EINVAL;
	if (from_ns > now_ns)
		return -EINVAL;
	*at_ns = from_ns;
	return 0;
}

static int run_mark(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	struct select_request req = o->view.select;
	uint64_t at_ns;

	req.daemons = true; /* a database in this folder has nothing to do with it */
	if (o->list && !ctx->nr_args && !o->at)
		return list(&o->view, &req);
	if (o->list)
		return cmd_usage_error(ctx->cmd, "--list takes no text and no --at");
	if (!ctx->nr_args)
		return cmd_usage_error(
			ctx->cmd,
			"give a text, as in 'cpi mark \"release 4.2\"', or --list");
	if (req.epoch)
		return cmd_usage_error(ctx->cmd, "--epoch is for --list");
	if (!store_mark_is_valid(ctx->args[0]))
		return cmd_usage_error(ctx->cmd,
				       "a mark is 1 to %d bytes of text, without "
				       "control characters",
				       STORE_MARK_TEXT - 1);
	if (!o->at)
		return mark_now(&req, ctx->args[0]);
	if (parse_time(o->at, &at_ns))
		return cmd_usage_error(ctx->cmd, "'%s' is no time in the past", o->at);
	return mark_database(&req, at_ns, ctx->args[0]);
}

static const struct opt opts[] = {
	OPT("at", 0, "TIME", "when it was: a time in the past, instead of now",
	    OPT_STRING, at),
	OPT("list", 0, NULL, "list the marks", OPT_FLAG, list),
	OPT_DB,
	OPT_EPOCH,
	OPT_LOCAL_TIME,
	OPT_LIMIT,
	OPT_FORMAT,
	OPT_CPID,
	OPT_END,
};

const struct cmd cmd_mark = {
	.name = "mark",
	.args = "[TEXT]",
	.summary = "Mark an event such as a deployment on the time line",
	.max_args = 1,
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_mark,
};
