/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cmd_top.c - where does the time go now?
 *
 * On a terminal it is a live view, else a table for each look.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "report/profile/top_feed.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/top/top_screen.h"
#include "tools/ui/out.h"
#include "tools/ui/table.h"

#define DEFAULT_INTERVAL_S 2
#define DEFAULT_ROWS       20

struct options {
	struct view_options view;
	int by; /* enum top_by */
	double interval;
	uint64_t looks;
};

static int print_rows(const struct options *o, struct top *t)
{
	static const struct column columns[] = {
		{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "ms", "ms", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "name", "name", COLUMN_TEXT, COLUMN_EVERYWHERE },
		{ "image", "image", COLUMN_TEXT, COLUMN_EVERYWHERE },
	};
	const size_t slot = top_slot(t, 0);
	const uint64_t limit = o->view.out.limit ? o->view.out.limit : DEFAULT_ROWS;
	struct table *table = table_new(columns, sizeof(columns) / sizeof(columns[0]));
	struct top_row **row;
	size_t nr;
	int err;

	row = top_rank(t, o->by, TOP_BY_NOW, NULL, &nr);
	if (!table || !row) {
		table_free(table);
		free(row);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr && i < limit && row[i]->ns[slot] > 0; i++) {
		table_percent(table, 100 * row[i]->ns[slot] / t->busy[slot]);
		table_real(table, row[i]->ns[slot] / NSEC_PER_MSEC, 0);
		table_text(table, row[i]->name);
		table_text(table, row[i]->image);
	}
	err = table_print_text(table, false, true);
	table_free(table);
	free(row);
	return err;
}

/* Samples are a random number: their time may be more than that of the CPUs. */
static double busy_cpus(const struct top *t, const struct top_facts *facts)
{
	const size_t slot = top_slot(t, 0);
	const double sampled_ns = t->busy[slot] + t->idle[slot];
	const double all_ns = fmax(facts->elapsed_ns * facts->nr_cpus, sampled_ns);

	return all_ns > 0 ? facts->nr_cpus * t->busy[slot] / all_ns : 0;
}

static int print_look(const struct options *o, struct top *t,
		      const struct top_facts *facts)
{
	char now[TIME_TEXT_SIZE];
	const char *missing;
	int err;

	out_line("%s: %s, %llu samples of %s in %.1f s: busy %.2f of %u CPUs, "
		 "%llu lost",
		 facts->host, time_format(time_real_ns(), now),
		 (unsigned long long)facts->nr_samples, facts->event,
		 facts->elapsed_ns / NSEC_PER_SEC, busy_cpus(t, facts), facts->nr_cpus,
		 (unsigned long long)facts->nr_lost);
	if (*facts->stale)
		out_line("(%s)", facts->stale);
	err = print_rows(o, t);
	missing = top_feed_missing(facts, o->by);
	if (missing)
		out_line("(%s)", missing);
	out_line("%s", "");
	fflush(stdout);
	return err;
}

/* Sleeps until that moment, also after EINTR. */
static void wait_until(uint64_t mono_ns)
{
	const struct timespec ts = { mono_ns / NSEC_PER_SEC, mono_ns % NSEC_PER_SEC };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static int print_looks(const struct options *o, struct top_feed *feed,
		       uint64_t interval_ns)
{
	struct top t = { 0 };
	struct top_facts facts = { 0 };
	uint64_t next = time_mono_ns();
	int err = top_feed_look(feed, &t, &facts);

	for (uint64_t i = 0; !err && (!o->looks || i < o->looks); i++) {
		next += interval_ns;
		wait_until(next);
		err = top_feed_look(feed, &t, &facts);
		if (!err)
			err = print_look(o, &t, &facts);
		if (ferror(stdout))
			break; /* nobody reads any more; out_finish() reports it */
	}
	top_fini(&t);
	return err;
}

static int run_top(struct cmd_context *ctx)
{
	const struct options *o = ctx->opt;
	const double seconds = o->interval ? o->interval : DEFAULT_INTERVAL_S;
	const uint64_t interval_ns = seconds * NSEC_PER_SEC;
	const bool screen = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	struct top_feed *feed;
	int err;

	if (seconds < 0.1 || seconds > 3600)
		return cmd_usage_error(ctx->cmd,
				       "--interval: from 0.1 to 3600 seconds");
	if (top_feed_open(&o->view.select, &feed))
		return EXIT_FAIL;
	err = screen ? top_screen_run(&o->view.select, o->by, feed, interval_ns,
				      o->looks)
		     : print_looks(o, feed, interval_ns);
	top_feed_close(feed);
	if (err == -ENOMEM)
		log_err("top: %s", err_str(err));
	return err ? EXIT_FAIL : EXIT_OK;
}

static const struct opt opts[] = {
	OPT_DB,
	OPT_EVENT,
	OPT_IMAGE,
	OPTS_CONTEXTS,
	OPT("by", 0, "procedure|image|comm|container|unit|thread",
	    "what a row stands for at first", OPT_CHOICE, by),
	OPT("interval", 'd', "SECONDS", "seconds between two updates (default: 2)",
	    OPT_REAL, interval),
	OPT("looks", 'n', "N", "end after N updates", OPT_COUNT, looks),
	OPT_LIMIT,
	OPT_CPID,
	OPT_END,
};

const struct cmd cmd_top = {
	.name = "top",
	.args = "",
	.summary = "Where the time goes now, live",
	.opts = opts,
	.opt_size = sizeof(struct options),
	.run = run_top,
};
