/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status_summary.c - the status in ten lines: is all well?
 *
 * The first line is the verdict. It is made of the same numbers as the lines below it,
 * so that a reader sees why.
 */
#include "config.h"

#include "tools/write/status_summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/times.h"
#include "report/select/client.h"
#include "tools/ui/out.h"

#define BUDGET_SLACK   1.1   /* a cost is measured, and varies */
#define MUCH_LOST      0.001 /* of the samples */
#define MUCH_UNKNOWN   0.2
#define MUCH_THROTTLED 0.01 /* of its time */

/* A value of the lines: the first of that name, or the sum of those with a prefix. */
struct status_field {
	const char *name;
	bool is_prefix;
	char *text; /* the first value */
	double sum;
	size_t nr;
	struct buf *list; /* "ambiguous 2, map_gap 3", where it is not NULL */
};

static void look_at_line(void *ctx, const char *name, const char *value)
{
	struct status_field *w = ctx;
	const size_t len = strlen(w->name);

	if (w->is_prefix ? strncmp(name, w->name, len) != 0 : strcmp(name, w->name))
		return;
	if (!w->text)
		w->text = strdup(value);
	w->sum += strtod(value, NULL);
	w->nr++;
	if (w->list)
		buf_printf(w->list, "%s%s %s", w->list->len ? ", " : "", name + len,
			   value);
}

/* The value of a name, a new string; NULL: there is none. */
static char *text_of(const char *lines, const char *name)
{
	struct status_field w = { .name = name };

	if (lines)
		client_each_line(lines, look_at_line, &w);
	return w.text;
}

/* The same as a number. False, and *out untouched: there is none. */
static bool number_of(const char *lines, const char *name, double *out)
{
	struct status_field w = { .name = name };

	if (lines)
		client_each_line(lines, look_at_line, &w);
	free(w.text);
	if (w.nr)
		*out = w.sum;
	return w.nr > 0;
}

/* The sum of the values whose names begin so, and their list, if it is not NULL. */
static double sum_of(const char *lines, const char *prefix, struct buf *list)
{
	struct status_field w = { .name = prefix, .is_prefix = true, .list = list };

	if (lines)
		client_each_line(lines, look_at_line, &w);
	free(w.text);
	return w.sum;
}

static void put_line(const char *name, struct buf *text)
{
	out_line("%-9s %s", name, buf_str(text));
	buf_reset(text);
}

static void put_duration(struct buf *b, double seconds)
{
	char text[DURATION_TEXT_SIZE];

	if (!(seconds > 0)) /* the clock was set back */
		seconds = 0;
	buf_puts(b, time_format_duration((uint64_t)(seconds * NSEC_PER_SEC), text));
}

static void put_bytes(struct buf *b, double bytes)
{
	if (bytes < 1e9)
		buf_printf(b, "%.1f MB", bytes / 1e6);
	else
		buf_printf(b, "%.1f GB", bytes / 1e9);
}

/* Appends one reason why not all is well. */
static void add_problem(struct buf *problems, const char *text)
{
	buf_printf(problems, "%s%s", problems->len ? "; " : "", text);
}

static bool is_above_budget(const char *daemon)
{
	double cost, budget;

	return number_of(daemon, "cost_percent", &cost) &&
	       number_of(daemon, "budget_percent", &budget) &&
	       cost > budget * BUDGET_SLACK;
}

bool status_summary_advise(const char *daemon, double least_hz, struct buf *out)
{
	double hz = 0, fixed = 0, cost = 0, windows_hz, windows_least_hz;
	char *windows, *stacks;

	if (!is_above_budget(daemon) || !number_of(daemon, "rate_hz", &hz))
		return false;
	number_of(daemon, "rate_fixed", &fixed);
	number_of(daemon, "cost_percent", &cost);
	if (fixed <= 0 && hz > least_hz)
		return false; /* cpid lowers it */
	if (number_of(daemon, "windows_rate_hz", &windows_hz) &&
	    number_of(daemon, "windows_rate_least_hz", &windows_least_hz) &&
	    windows_hz > windows_least_hz)
		return false; /* likewise */
	windows = text_of(daemon, "windows");
	stacks = text_of(daemon, "stacks");
	buf_printf(out, "%s; what helps: %s%s%s--budget %.1f%% of cpid",
		   fixed > 0 ? "the rate was fixed, and stays"
			     : "the rate cannot be lowered further",
		   fixed > 0 ? "a lower 'cpi rate', or " : "",
		   windows && strcmp(windows, "off") ? "--windows off, or " : "",
		   stacks && strcmp(stacks, "off") ? "--stacks off, or " : "",
		   cost * BUDGET_SLACK);
	free(windows);
	free(stacks);
	return true;
}

static void find_problems(const char *daemon, struct buf *problems)
{
	const double received = sum_of(daemon, "received.", NULL);
	double uptime = 0, cpus = 1, age;
	char *state = text_of(daemon, "state"), *error = text_of(daemon, "store_error");

	number_of(daemon, "uptime_s", &uptime);
	number_of(daemon, "cpus", &cpus);
	if (number_of(daemon, "main_waits_s", &age))
		add_problem(problems, "it does not answer, and these numbers are old");
	if (error)
		add_problem(problems, "it cannot store the samples");
	else if (state && strcmp(state, "sampling") != 0)
		add_problem(problems, state);
	if (sum_of(daemon, "lost.", NULL) > received * MUCH_LOST)
		add_problem(problems, "samples are lost");
	if (sum_of(daemon, "unknown.", NULL) > received * MUCH_UNKNOWN)
		add_problem(problems, "many samples have no known image");
	if (sum_of(daemon, "throttled_s.", NULL) > uptime * cpus * MUCH_THROTTLED)
		add_problem(problems, "the kernel throttles sampling");
	if (is_above_budget(daemon))
		add_problem(problems, "it costs more than its budget");
	free(state);
	free(error);
}

static void put_verdict(const struct status_summary *s, struct buf *b)
{
	struct buf problems = { 0 };
	double seconds;

	if (!s->daemon) {
		buf_printf(b, "%s %s",
			   s->is_absent ? "not running, or not at"
					: "does not answer at",
			   s->socket);
		put_line("cpid", b);
		return;
	}
	find_problems(s->daemon, &problems);
	if (number_of(s->daemon, "uptime_s", &seconds)) {
		buf_puts(b, "running for ");
		put_duration(b, seconds);
		buf_puts(b, ": ");
	}
	buf_puts(b, problems.len ? buf_str(&problems) : "all is well");
	put_line("cpid", b);
	buf_fini(&problems);
}

static void put_database(const struct status_summary *s, struct buf *b)
{
	char *path = text_of(s->database, "path");
	double bytes, wal = 0;

	if (!path)
		path = text_of(s->daemon, "db");
	if (!path)
		return;
	buf_puts(b, path);
	if (number_of(s->database, "file_bytes", &bytes) &&
	    number_of(s->database, "wal_bytes", &wal)) {
		buf_puts(b, ", ");
		put_bytes(b, bytes + wal);
	} else if (number_of(s->daemon, "db_bytes", &bytes)) {
		buf_puts(b, ", ");
		put_bytes(b, bytes);
	}
	put_line("database", b);
	free(path);
}

static void put_flush(const struct status_summary *s, struct buf *b)
{
	double last, next;

	if (number_of(s->daemon, "last_flush_unix_s", &last)) {
		buf_puts(b, "last ");
		put_duration(b, (double)time_real_ns() / NSEC_PER_SEC - last);
		buf_puts(b, " ago");
	}
	if (number_of(s->daemon, "next_flush_s", &next)) {
		buf_printf(b, "%snext in ", b->len ? ", " : "");
		put_duration(b, next);
		buf_puts(b, " ('cpi flush' stores now)");
	}
	if (b->len)
		put_line("stored", b);
}

static void put_epoch(const struct status_summary *s, struct buf *b)
{
	char *id = text_of(s->database, "epoch");
	char *from = text_of(s->database, "epoch_from");
	char *to = text_of(s->database, "epoch_to");
	char *state = text_of(s->database, "epoch_state");
	char *samples = text_of(s->database, "epoch_samples");

	if (id && from && to && state && samples) {
		const bool open = !strcmp(state, "open");

		buf_printf(b, "%s, %s%s", id, open ? "open since " : "", from);
		if (!open)
			buf_printf(b, " to %s", to);
		buf_printf(b, ": %s samples%s", samples, open ? " stored" : "");
		put_line("epoch", b);
	}
	free(id);
	free(from);
	free(to);
	free(state);
	free(samples);
}

/* "on" with the rate of windows, and why it is not the full one. */
static void put_windows(const char *daemon, struct buf *b)
{
	char *windows = text_of(daemon, "windows"), *lowered;
	double hz = 0, full_hz = 0;

	buf_printf(b, "; windows %s", windows ? windows : "off");
	free(windows);
	if (!number_of(daemon, "windows_rate_hz", &hz))
		return;
	lowered = text_of(daemon, "windows_lowered");
	number_of(daemon, "windows_rate_full_hz", &full_hz);
	buf_printf(b, " (%.0f/s", hz);
	if (lowered)
		buf_printf(b, " of %.0f: %s", full_hz,
			   strcmp(lowered, "budget")
				   ? "their interrupts have a tenth of the budget"
				   : "lowered to keep the budget");
	buf_puts(b, ")");
	free(lowered);
}

static void put_rate(const struct status_summary *s, struct buf *b)
{
	char *stacks = text_of(s->daemon, "stacks");
	struct buf events = { 0 };
	double hz, fixed = 0;
	char *event;

	if (number_of(s->daemon, "rate_hz", &hz)) {
		number_of(s->daemon, "rate_fixed", &fixed);
		buf_printf(b, "%.0f samples/s per CPU (%s)", hz,
			   fixed > 0 ? "fixed" : "by the budget");
		for (int i = 0; i < 64; i++) {
			char name[16];

			snprintf(name, sizeof(name), "event.%d", i);
			event = text_of(s->daemon, name);
			if (!event)
				break;
			buf_printf(&events, "%s%s", i ? ", " : "", event);
			free(event);
		}
		buf_printf(b, " of %s", buf_str(&events));
		put_windows(s->daemon, b);
		buf_printf(b, ", stacks %s", stacks ? stacks : "off");
		put_line("rate", b);
	}
	buf_fini(&events);
	free(stacks);
}

static void put_cost(const struct status_summary *s, struct buf *b)
{
	double cost, budget = 0, samples = 0, daemon = 0;
	const char *relation = "within";
	bool above;

	if (!number_of(s->daemon, "budget_percent", &budget))
		return;
	if (!number_of(s->daemon, "cost_percent", &cost)) {
		buf_printf(b, "not measured yet; the budget is %g %% of each CPU",
			   budget);
		put_line("cost", b);
		return;
	}
	number_of(s->daemon, "cost_samples_percent", &samples);
	number_of(s->daemon, "cost_daemon_percent", &daemon);
	above = is_above_budget(s->daemon);
	if (above)
		relation = "above";
	else if (cost > budget)
		relation = "about";
	buf_printf(b,
		   "%.2f %% of each CPU (samples %.2f, cpid itself %.2f): %s the "
		   "budget of %g %%",
		   cost, samples, daemon, relation, budget);
	put_line("cost", b);
	if (above && status_summary_advise(s->daemon, s->least_hz, b))
		put_line("", b);
	buf_reset(b);
}

static void put_memory(const struct status_summary *s, struct buf *b)
{
	double resident, counts = 0, limit = 0;

	if (!number_of(s->daemon, "rss_bytes", &resident))
		return;
	number_of(s->daemon, "memory_bytes", &counts);
	number_of(s->daemon, "memory_limit_bytes", &limit);
	put_bytes(b, resident);
	buf_puts(b, " resident; counts that are not stored: ");
	put_bytes(b, counts);
	buf_puts(b, " of ");
	put_bytes(b, limit);
	put_line("memory", b);
}

/* Of the daemon since it started; without one, of the epochs. */
static void put_reasons(const struct status_summary *s, const char *name, struct buf *b)
{
	const char *lines = s->daemon ? s->daemon : s->database;
	const double received = sum_of(s->daemon, "received.", NULL);
	struct buf prefix = { 0 }, list = { 0 };
	double n;

	if (!lines)
		return;
	buf_printf(&prefix, "%s%c", name, s->daemon ? '.' : '_');
	n = sum_of(lines, buf_str(&prefix), &list);
	if (received > 0)
		buf_printf(b, "%.0f of %.0f samples (%.1f %%)", n, received,
			   100 * n / received);
	else
		buf_printf(b, "%.0f samples", n);
	if (n > 0)
		buf_printf(b, ": %s", buf_str(&list));
	put_line(name, b);
	buf_fini(&prefix);
	buf_fini(&list);
}

static void put_gaps(const struct status_summary *s, struct buf *b)
{
	char name[32], *last;
	double nr;

	if (!number_of(s->database, "gaps", &nr))
		return;
	snprintf(name, sizeof(name), "gap_%.0f", nr);
	last = text_of(s->database, name);
	buf_printf(b, "%.0f%s%s", nr, last ? ", the last " : "", last ? last : "");
	put_line("gaps", b);
	free(last);
}

int status_summary_print(const struct status_summary *s)
{
	struct buf b = { 0 };
	int err;

	put_verdict(s, &b);
	put_database(s, &b);
	put_epoch(s, &b);
	put_flush(s, &b);
	put_rate(s, &b);
	put_cost(s, &b);
	put_memory(s, &b);
	put_reasons(s, "lost", &b);
	put_reasons(s, "unknown", &b);
	put_gaps(s, &b);
	out_line("%s", "");
	out_line("%s", "'cpi status --all' shows every number.");
	err = b.err;
	buf_fini(&b);
	return err;
}
