/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_top_print.c - what costs most: CPUs, share and money
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "analysis/math/interval.h"
#include "base/times.h"
#include "tools/fleet/fleet_print.h"
#include "tools/ui/json.h"
#include "tools/ui/table.h"

#define DEFAULT_LIMIT 40
#define MAX_COLUMNS   16
#define CPI_SAMPLES   10 /* CPI of fewer is unknown */
#define NS_PER_HOUR   3.6e12

static const char *const titles[] = { "procedure", "image",   "release",
				      "cluster",   "machine", "host" };

void fleet_scope_print(const struct storesums_scope *s)
{
	char from[TIME_TEXT_SIZE], to[TIME_TEXT_SIZE];

	out_line("%llu host%s, %s to %s, %llu epoch%s, %s; %.2f %% of samples lost",
		 (unsigned long long)s->nr_hosts, s->nr_hosts == 1 ? "" : "s",
		 time_format(s->from_ns, from),
		 time_format_near(s->to_ns, s->from_ns, to),
		 (unsigned long long)s->nr_epochs, s->nr_epochs == 1 ? "" : "s",
		 s->event,
		 s->received ? 100 * (double)s->lost / (double)s->received : 0);
	if (s->thinned > 1)
		out_line("Estimated from one in %llu samples, drawn at random; the "
			 "sampling error includes that (--exact reads all samples)",
			 (unsigned long long)s->thinned);
	if (s->one_in > 1)
		out_line("%llu epoch%s only one in up to %llu samples: their machines "
			 "sent no more",
			 (unsigned long long)s->nr_thinned,
			 s->nr_thinned == 1 ? " has" : "s have",
			 (unsigned long long)s->one_in);
	if (s->nr_with_event < s->nr_hosts)
		out_line("Only %llu of %llu hosts sampled %s: --event chooses another "
			 "event",
			 (unsigned long long)s->nr_with_event,
			 (unsigned long long)s->nr_hosts, s->event);
}

void fleet_scope_json(const struct storesums_scope *s, struct json *j)
{
	char text[TIME_TEXT_SIZE];

	json_number(j, "hosts", s->nr_hosts);
	json_number(j, "hosts_with_event", s->nr_with_event);
	json_number(j, "epochs", s->nr_epochs);
	json_string(j, "from", time_format(s->from_ns, text));
	json_string(j, "to", time_format(s->to_ns, text));
	json_string(j, "event", s->event);
	json_number(j, "received", s->received);
	json_number(j, "lost", s->lost);
	json_number(j, "thinned", s->thinned);
	json_number(j, "epochs_of_sums", s->nr_sums);
	json_number(j, "one_in", s->one_in);
	json_number(j, "epochs_thinned", s->nr_thinned);
}

/* How many samples of equal weight have the same relative error. */
static uint64_t equal_samples(const struct fleet_amount *a)
{
	return (uint64_t)llround(fleet_amount_samples(a));
}

/* Half the width of the interval, in percent of the value. */
static double error_percent(const struct fleet_row *r)
{
	const struct interval i = interval_count(equal_samples(&r->time), 1e9);

	return i.value > 0 ? 50 * (i.high - i.low) / i.value : NAN;
}

/* Cycles per instruction. value is NAN if it is not known. */
static struct interval cpi_of(const struct fleet_row *r)
{
	const struct fleet_amount *c = &r->cycles, *n = &r->instructions;
	const uint64_t nr_c = equal_samples(c), nr_n = equal_samples(n);
	struct interval i = interval_ratio(nr_c, nr_n);
	double scale;

	if (c->n < CPI_SAMPLES || n->n < CPI_SAMPLES || !nr_c || !nr_n)
		return (struct interval){ NAN, NAN, NAN };
	scale = c->amount / (double)nr_c / (n->amount / (double)nr_n);
	i.value *= scale;
	i.low *= scale;
	i.high *= scale;
	return i;
}

static size_t make_columns(int by, bool priced, bool cpi, struct column *c)
{
	static const struct column parts[] = {
		{ "CPI", "cpi", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "low", "cpi_low", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "high", "cpi_high", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	};
	static const struct column values[] = {
		{ "CPUs", "cpus", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "+-%", "error_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "%", "percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "cum%", "cumulated_percent", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "", "cpu_hours", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
		{ "", "samples", COLUMN_NUMBER, COLUMN_NOT_IN_TEXT },
	};
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		c[nr++] = values[i];
	if (priced)
		c[nr++] = (struct column){ "cost", "cost", COLUMN_NUMBER,
					   COLUMN_EVERYWHERE };
	for (size_t i = 0; cpi && i < sizeof(parts) / sizeof(parts[0]); i++)
		c[nr++] = parts[i];
	c[nr++] = (struct column){ titles[by], titles[by], COLUMN_TEXT,
				   COLUMN_EVERYWHERE };
	if (by == FLEET_PROCEDURE)
		c[nr++] = (struct column){ "image", "image", COLUMN_TEXT,
					   COLUMN_EVERYWHERE };
	return nr;
}

static double share(const struct fleet_top *t, double ns)
{
	return t->ns > 0 ? 100 * ns / t->ns : 0;
}

static void put_known(struct table *t, double v, bool text)
{
	if (isnan(v))
		table_empty(t);
	else
		table_value(t, v, 2, text);
}

static void put_cpi(struct table *t, const struct fleet_row *r, bool text)
{
	const struct interval i = cpi_of(r);

	if (text && isnan(i.value))
		table_text(t, "unknown");
	else
		put_known(t, i.value, text);
	put_known(t, i.low, text);
	put_known(t, i.high, text);
}

static void put_rows(struct table *t, const struct fleet_top *top, size_t nr,
		     const struct fleet_show *show, bool text)
{
	const double price = show->price;
	double before_ns = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct fleet_row *r = &top->row[i];
		const double hours = r->time.amount / NS_PER_HOUR;

		before_ns += r->time.amount;
		if (text)
			table_color(t, out_heat(share(top, r->time.amount)));
		table_value(t, r->time.amount / 1e9 / top->seconds, 3, text);
		table_value(t, error_percent(r), 1, text);
		table_percent(t, share(top, r->time.amount));
		table_percent(t, share(top, before_ns));
		table_exact(t, hours);
		table_number(t, r->time.n * top->sums.scope.thinned);
		if (price > 0)
			table_value(t, hours * price, 2, text);
		if (show->cpi)
			put_cpi(t, r, text);
		table_text(t, text && !*r->name ? "(not said)" : r->name);
		if (r->image)
			table_text(t, r->image);
	}
}

static void print_scope(const struct fleet_top *t, double price)
{
	const double hours = t->ns / NS_PER_HOUR;
	char seconds[DURATION_TEXT_SIZE];

	fleet_scope_print(&t->sums.scope);
	time_format_duration((uint64_t)(t->seconds * 1e9), seconds);
	if (price > 0)
		out_line("%.3f CPUs busy over %s: %.2f CPU-hours, which cost %.2f",
			 t->ns / 1e9 / t->seconds, seconds, hours, hours * price);
	else
		out_line("%.3f CPUs busy over %s: %.2f CPU-hours (--price gives their "
			 "cost)",
			 t->ns / 1e9 / t->seconds, seconds, hours);
	out_line("%s", "");
}

static int print_json(const struct fleet_top *t, double price, struct table *table)
{
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	fleet_scope_json(&t->sums.scope, &j);
	json_exact(&j, "seconds", t->seconds);
	json_exact(&j, "cpus", t->ns / 1e9 / t->seconds);
	json_exact(&j, "cpu_hours", t->ns / NS_PER_HOUR);
	if (price > 0)
		json_exact(&j, "cost", t->ns / NS_PER_HOUR * price);
	json_array(&j, "rows");
	err = table_print_json(table, &j);
	json_end(&j);
	json_end(&j);
	return err;
}

int fleet_top_print(const struct fleet_top *top, int by, const struct fleet_show *show,
		    const struct out_options *out)
{
	const bool text = out->format == OUT_TEXT;
	const uint64_t limit = out->limit || !text ? out->limit : DEFAULT_LIMIT;
	const size_t nr = limit && limit < top->nr ? (size_t)limit : top->nr;
	struct column columns[MAX_COLUMNS];
	struct table *t = table_new(columns, make_columns(by, show->price > 0,
							  show->cpi, columns));
	int err;

	if (!t)
		return -ENOMEM;
	put_rows(t, top, nr, show, text);
	if (text) {
		print_scope(top, show->price);
		err = table_print_text(t, out_use_color(out->color), true);
		if (!err && nr < top->nr)
			out_line("... %zu more", top->nr - nr);
	} else if (out->format == OUT_JSON) {
		err = print_json(top, show->price, t);
	} else {
		err = table_print_csv(t, true);
	}
	table_free(t);
	return err;
}
