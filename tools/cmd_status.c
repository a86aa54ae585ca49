/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_status.c - is cpid running, what does it cost, what was lost?
 *
 * The daemon's own lines come first; what the database knows follows, also
 * when no daemon answers.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/log.h"
#include "base/prometheus.h"
#include "base/times.h"
#include "db/captures.h"
#include "tools/cmd.h"
#include "tools/ctl.h"
#include "tools/out.h"
#include "tools/report.h"
#include "tools/select.h"
#include "tools/table.h"

/* --format's last word, after enum out_format's. */
#define FORMAT_PROMETHEUS (OUT_CSV + 1)

/* Lines "name value" of the daemon, and of the database. */
struct part {
	const char *name; /* in the output */
	bool present;
	struct buf lines;
};

static int ask_daemon(const struct cmd_context *ctx, struct part *part)
{
	int err;

	err = ctl_call(ctx, CPI_CONTROL_STATUS, "", &part->lines);
	part->present = !err;
	if (!err || ctl_is_absent(err))
		return 0;
	if (part->lines.len)
		log_err("cpid at %s: %s", ctl_socket(ctx), buf_str(&part->lines));
	else
		log_err("%s: %s", ctl_socket(ctx), err_str(err));
	return err;
}

static int keep_interval(void *ctx, const struct query_interval *row)
{
	struct query_interval *last = ctx;

	if (row->to_ns >= last->to_ns)
		*last = *row;
	return 0;
}

static void put_interval(struct buf *b, const struct query_interval *last)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE];

	buf_printf(b, "last_flush %s to %s\n", time_format(last->from_ns, from),
		   time_format(last->to_ns, to));
	buf_printf(b, "last_flush_received %" PRIu64 "\n", last->received);
	buf_printf(b, "last_flush_stored %" PRIu64 "\n", last->stored);
	buf_printf(b, "last_flush_lost %" PRIu64 "\n", last->lost);
}

/* Text that others chose, on one line. */
static void put_text(struct buf *b, const char *text)
{
	for (; *text; text++)
		buf_putc(b, *text == '\n' ? '?' : *text);
}

/* The same as the first word of a line. */
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
		put_interval(b, &last);
	put_losses(b, sel);
	return put_gaps(b, sel->db);
}

/* The newest epoch, and what went wrong ever. */
static int read_database(const struct cmd_context *ctx, struct part *part)
{
	struct selection sel;
	int err;

	err = select_open(ctx, &sel);
	if (err)
		return err;
	err = put_database(&part->lines, &sel);
	if (err)
		select_failed(ctx, &sel, err);
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

static void json_part(struct json *j, struct part *part)
{
	if (!part->present) {
		json_null(j, part->name);
		return;
	}
	json_object(j, part->name);
	ctl_each_line(buf_str(&part->lines), json_line, j);
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

static int print_tables(int format, struct part *parts, size_t nr)
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
			ctl_each_line(buf_str(&parts[i].lines), put_row, &rows);
	}
	err = format == OUT_TEXT ? table_print_text(rows.t, false, false)
				 : table_print_csv(rows.t, true);
	table_free(rows.t);
	return err;
}

static int print_metrics(struct part *parts, size_t nr)
{
	struct prometheus *p = prometheus_new();
	struct buf text = { 0 };
	int err;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		prometheus_put(p, parts[i].name, parts[i].present ? "up 1" : "up 0");
		if (parts[i].present)
			prometheus_put(p, parts[i].name, buf_str(&parts[i].lines));
	}
	err = prometheus_format(p, &text);
	if (!err)
		fputs(buf_str(&text), stdout);
	buf_fini(&text);
	prometheus_free(p);
	return err;
}

static int print_parts(const struct cmd_context *ctx, struct part *parts, size_t nr)
{
	struct json j = { 0 };

	if (ctx->opt.format == FORMAT_PROMETHEUS)
		return print_metrics(parts, nr);
	if (ctx->opt.format != OUT_JSON)
		return print_tables(ctx->opt.format, parts, nr);
	json_object(&j, NULL);
	for (size_t i = 0; i < nr; i++)
		json_part(&j, &parts[i]);
	json_end(&j);
	return 0;
}

static int run(struct cmd_context *ctx)
{
	struct part parts[] = { { .name = "daemon" }, { .name = "database" } };
	int err, db_err;

	if (ctx->opt.dbs.nr > 1)
		return cmd_usage_error(ctx->cmd, "the status is of one database");
	err = ask_daemon(ctx, &parts[0]);
	if (!err && !parts[0].present)
		log_warn("%s: no cpid listens there; this is what the database knows",
			 ctl_socket(ctx));
	db_err = read_database(ctx, &parts[1]);
	if (!err && !parts[0].present)
		err = db_err;
	if (parts[0].present || parts[1].present) {
		int print_err = print_parts(ctx, parts, 2);

		err = err ? err : print_err;
	}
	buf_fini(&parts[0].lines);
	buf_fini(&parts[1].lines);
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_DB,
	OPT_EPOCH,
	OPT("format", 0, "text|json|csv|prometheus", "how to write the result",
	    OPT_CHOICE, format),
	OPT_SOCKET,
	OPT_END,
};

const struct cmd cmd_status = {
	.name = "status",
	.args = "",
	.summary = "What cpid does, what it costs, and what was lost",
	.opts = opts,
	.run = run,
};
