/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_status.c - is cpid running, what does it cost, what was lost?
 *
 * The daemon's own lines come first, then those about the database, also if no daemon
 * answers. Text is a summary of both, unless --all is given.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "service/prometheus.h"
#include "daemon/collect/calibrate.h"
#include "daemon/control/status_parts.h"
#include "db/core/captures.h"
#include "report/select/client.h"
#include "report/select/select.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"
#include "tools/write/report.h"
#include "tools/write/status_summary.h"

/* The last word of --format, after those of enum out_format. */
#define FORMAT_PROMETHEUS (OUT_CSV + 1)

struct options {
	struct view_options view;
	bool all;
};

/* Status lines, "name value", of the daemon or of the database. */
struct shown_part {
	const char *name; /* in the output */
	bool present;
	bool is_absent; /* nobody listens on the daemon's socket */
	struct buf lines;
};

static int ask_daemon(const char *socket, struct shown_part *part)
{
	int err;

	err = client_call(socket, CPI_CONTROL_STATUS, "", CLIENT_PATIENCE_NS,
			  &part->lines);
	part->present = !err;
	part->is_absent = client_is_absent(err);
	if (!err || part->is_absent)
		return 0;
	if (part->lines.len)
		log_err("cpid at %s: %s", client_socket(socket), buf_str(&part->lines));
	else
		log_err("%s: %s", client_socket(socket), err_str(err));
	return err;
}

static int keep_interval(void *ctx, const struct query_interval *row)
{
	struct query_interval *last = ctx;

	if (row->to_ns >= last->to_ns)
		*last = *row;
	return 0;
}

/*
 * A flush stores only the sum of lost and unknown samples. The lost ones are at most
 * those that the selected epochs lost in all, so this takes that number, and the rest
 * counts as unknown.
 */
static uint64_t lost_of(const struct query_interval *last, const struct selection *sel)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < sel->losses.nr; i++)
		lost += report_loss(sel, i, LOSS_LOST);
	return lost < last->lost ? lost : last->lost;
}

static void put_interval(struct buf *b, const struct query_interval *last,
			 const struct selection *sel)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE];
	const uint64_t lost = lost_of(last, sel);

	buf_printf(b, "last_flush %s to %s\n", time_format(last->from_ns, from),
		   time_format(last->to_ns, to));
	buf_printf(b, "last_flush_received %" PRIu64 "\n", last->received);
	buf_printf(b, "last_flush_stored %" PRIu64 "\n", last->stored);
	buf_printf(b, "last_flush_lost %" PRIu64 "\n", lost);
	buf_printf(b, "last_flush_unknown %" PRIu64 "\n", last->lost - lost);
}

/* Appends text of unknown origin as one line. */
static void put_text(struct buf *b, const char *text)
{
	for (; *text; text++)
		buf_putc(b, *text == '\n' ? '?' : *text);
}

/* The same, as one word. */
static void put_word(struct buf *b, const char *word)
{
	for (; *word; word++)
		buf_putc(b, *word == ' ' || *word == '\n' ? '_' : *word);
}

static void put_losses(struct buf *b, const struct selection *sel)
{
	static const struct {
		enum loss_class class;
		const char *prefix;
	} classes[] = { { LOSS_UNKNOWN, "unknown_" }, { LOSS_LOST, "lost_" } };

	for (size_t k = 0; k < 2; k++) {
		for (size_t i = 0; i < sel->losses.nr; i++) {
			uint64_t n = report_loss(sel, i, classes[k].class);

			if (!n)
				continue;
			buf_puts(b, classes[k].prefix);
			put_word(b, sel->losses.loss[i].name);
			buf_printf(b, " %" PRIu64 "\n", n);
		}
	}
}

static void put_epoch(struct buf *b, const struct query_epoch *e)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE];

	buf_printf(b, "epoch %" PRId64 "\nepoch_from %s\nepoch_to %s\n", e->id,
		   time_format(e->from_ns, from), time_format(e->to_ns, to));
	buf_printf(b, "epoch_state %s\n", e->open ? "open" : "ended");
	buf_printf(b, "epoch_samples %" PRIu64 "\n", e->samples);
}

static int put_gaps(struct buf *b, struct db *db)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE];
	struct query_gaps gaps;
	int err;

	err = query_gaps(db, 0, INT64_MAX, &gaps);
	if (err)
		return err;
	buf_printf(b, "gaps %zu\n", gaps.nr);
	for (size_t i = 0; i < gaps.nr; i++) {
		buf_printf(b, "gap_%zu %s to %s, ", i + 1,
			   time_format(gaps.gap[i].from_ns, from),
			   time_format(gaps.gap[i].to_ns, to));
		put_text(b, gaps.gap[i].reason);
		buf_putc(b, '\n');
	}
	query_gaps_fini(&gaps);
	return 0;
}

static int put_database(struct buf *b, const struct selection *sel)
{
	struct query_interval last = { 0 };
	uint64_t file_bytes, wal_bytes, captured_bytes;
	int err;

	buf_puts(b, "path ");
	put_text(b, db_path(sel->db));
	err = db_size(sel->db, &file_bytes, &wal_bytes);
	if (err)
		return err;
	buf_printf(b, "\nfile_bytes %" PRIu64 "\nwal_bytes %" PRIu64 "\n", file_bytes,
		   wal_bytes);
	err = captures_bytes(sel->db, &captured_bytes);
	if (err)
		return err;
	buf_printf(b, "captured_bytes %" PRIu64 "\n", captured_bytes);
	put_epoch(b, select_newest(sel));
	err = query_intervals(sel->db, &sel->epochs, keep_interval, &last);
	if (err)
		return err;
	if (last.run)
		put_interval(b, &last, sel);
	put_losses(b, sel);
	return put_gaps(b, sel->db);
}

/* Lines about the newest epoch, and about losses of all epochs. */
static int read_database(const struct select_request *select, struct shown_part *part)
{
	struct select_request req = *select;
	struct selection sel;
	int err;

	req.as_stored = true; /* a status must not cause a flush */
	req.daemons = true;
	err = select_open(&req, &sel);
	if (err)
		return err;
	err = put_database(&part->lines, &sel);
	if (err)
		select_failed(&sel, err);
	part->present = !err;
	select_close(&sel);
	return err;
}

static void json_line(void *ctx, const char *name, const char *value)
{
	struct json *j = ctx;

	if (json_is_number(value))
		json_verbatim(j, name, value);
	else
		json_string(j, name, value);
}

static void json_part(struct json *j, struct shown_part *part)
{
	if (!part->present) {
		json_null(j, part->name);
		return;
	}
	json_object(j, part->name);
	client_each_line(buf_str(&part->lines), json_line, j);
	json_end(j);
}

struct rows {
	struct table *t;
	const char *part;
};

static void put_row(void *ctx, const char *name, const char *value)
{
	struct rows *rows = ctx;

	table_text(rows->t, rows->part);
	table_text(rows->t, name);
	table_text(rows->t, value);
}

static int print_tables(int format, struct shown_part *parts, size_t nr)
{
	static const struct column columns[] = {
		{ "", "part", COLUMN_TEXT, COLUMN_NOT_IN_TEXT },
		{ "", "name", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "", "value", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	struct rows rows;
	int err;

	rows.t = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	if (!rows.t)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		rows.part = parts[i].name;
		if (parts[i].present && format == OUT_TEXT)
			table_line(rows.t, NULL, parts[i].name);
		if (parts[i].present)
			client_each_line(buf_str(&parts[i].lines), put_row, &rows);
	}
	err = format == OUT_TEXT ? table_print_text(rows.t, false, false)
				 : table_print_csv(rows.t, true);
	table_free(rows.t);
	return err;
}

static int print_metrics(struct shown_part *parts, size_t nr)
{
	struct prometheus *p = prometheus_new();
	struct buf text = { 0 };
	int err;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		prometheus_put(p, &status_parts[i], parts[i].present ? "up 1" : "up 0");
		if (parts[i].present)
			prometheus_put(p, &status_parts[i], buf_str(&parts[i].lines));
	}
	err = prometheus_format(p, &text);
	if (!err)
		fputs(buf_str(&text), stdout);
	buf_fini(&text);
	prometheus_free(p);
	return err;
}

static int print_summary(const char *socket, struct shown_part *parts)
{
	struct shown_part *daemon = &parts[STATUS_DAEMON];
	struct shown_part *database = &parts[STATUS_DATABASE];
	const struct status_summary s = {
		.daemon = daemon->present ? buf_str(&daemon->lines) : NULL,
		.is_absent = daemon->is_absent,
		.database = database->present ? buf_str(&database->lines) : NULL,
		.socket = client_socket(socket),
		.least_hz = CALIBRATE_MIN_HZ,
	};

	return status_summary_print(&s);
}

static int print_parts(const struct options *o, struct shown_part *parts, size_t nr)
{
	const int format = o->view.out.format;
	struct json j = { 0 };

	if (format == OUT_TEXT && !o->all)
		return print_summary(o->view.select.socket, parts);

	if (format == FORMAT_PROMETHEUS)
		return print_metrics(parts, nr);
	if (format != OUT_JSON)
		return print_tables(format, parts, nr);
	json_object(&j, NULL);
	for (size_t i = 0; i < nr; i++)
		json_part(&j, &parts[i]);
	json_end(&j);
	return 0;
}

static int run_status(struct cmd_context *ctx)
{
	struct shown_part parts[] = { [STATUS_DAEMON] = { .name = "daemon" },
				      [STATUS_DATABASE] = { .name = "database" } };
	const struct options *o = ctx->opt;
	int err, db_err;

	if (o->view.select.dbs.nr > 1)
		return cmd_usage_error(
			ctx->cmd, "the status is that of one database: give one --db");
	err = ask_daemon(o->view.select.socket, &parts[0]);
	if (!err && !parts[0].present)
		log_warn("%s: no cpid listens there: showing what the database knows",
			 client_socket(o->view.select.socket));
	db_err = read_database(&o->view.select, &parts[1]);
	if (!err && !parts[0].present)
		err = db_err;
	if (parts[0].present || parts[1].present) {
		int print_err = print_parts(o, parts, 2);

		err = err ? err : print_err;
	}
	buf_fini(&parts[0].lines);
	buf_fini(&parts[1].lines);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT("all", 0, NULL, "in text, show every number", OPT_FLAG, all),
	OPT_DB,
	OPT_EPOCH,
	OPT_LOCAL_TIME,
	OPT_FORMAT_OF("text|json|csv|prometheus"),
	OPT_CPID,
	OPT_END,
};

const struct cmd cmd_status = {
	.name = "status",
	.args = "",
	.summary = "What cpid does, what it costs, and what was lost",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_status,
};
