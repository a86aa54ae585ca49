/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records_print.c - records as a table, and as CSV with a line for each fact
 *
 * Text omits columns that are empty in every row.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/ui/out.h"
#include "tools/write/explain.h"
#include "tools/write/report.h"

#define MAX_COLUMNS  32
#define NR_ADDRESSES 10 /* lines of hot data */

static const struct {
	enum record_event event;
	const char *title;
} events[] = {
	{ RECORD_RETIRED, "retired" },   { RECORD_MISPREDICTED, "mispredicted" },
	{ RECORD_L1I_MISS, "L1I miss" }, { RECORD_ITLB_MISS, "ITLB miss" },
	{ RECORD_L1D_MISS, "L1D miss" }, { RECORD_L2_MISS, "L2 miss" },
	{ RECORD_LLC_MISS, "LLC miss" }, { RECORD_DTLB_MISS, "DTLB miss" },
	{ RECORD_REMOTE, "remote" },
};

static const struct {
	enum record_latency latency;
	const char *title;
} latencies[] = {
	{ RECORD_TIME_FETCH, "fetch cy" },
	{ RECORD_TIME_DISPATCH_TO_ISSUE, "to issue cy" },
	{ RECORD_TIME_MEMORY, "memory cy" },
	{ RECORD_TIME_DISPATCH_TO_COMPLETE, "to complete cy" },
	{ RECORD_TIME_COMPLETE_TO_RETIRE, "wait cy" },
	{ RECORD_TIME_DISPATCH_TO_RETIRE, "to retire cy" },
	{ RECORD_TIME_RETIRE_TO_RETIRE, "retire cy" },
};

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* What a table of these insns shows. */
struct shown {
	bool event[NR(events)], latency[NR(latencies)];
};

static struct records_row row_of(const struct ranked_insn *ranked)
{
	return records_at(ranked->records, ranked->offset);
}

static struct shown find_shown(const struct ranked_insn *ranked, size_t nr)
{
	struct shown s = { 0 };
	struct rates_latency l;

	for (size_t i = 0; i < nr; i++) {
		const struct records_row row = row_of(&ranked[i]);

		for (size_t k = 0; k < NR(events); k++)
			s.event[k] |=
				records_cell(&row, RECORDS_KNOWN, events[k].event) > 0;
		for (size_t k = 0; k < NR(latencies); k++)
			s.latency[k] |= rates_latency(&row, latencies[k].latency, &l);
	}
	return s;
}

static const struct column place[] = { RANKED_INSN_COLUMNS };

static size_t make_columns(const struct shown *s, struct column out[MAX_COLUMNS])
{
	size_t nr = 0;

	out[nr++] = (struct column){ "records", "", COLUMN_NUMBER, COLUMN_EVERYWHERE };
	out[nr++] = (struct column){ "count", "", COLUMN_NUMBER, COLUMN_EVERYWHERE };
	for (size_t i = 0; i < NR(events); i++) {
		if (s->event[i])
			out[nr++] = (struct column){ events[i].title, "", COLUMN_NUMBER,
						     COLUMN_EVERYWHERE };
	}
	for (size_t i = 0; i < NR(latencies); i++) {
		if (s->latency[i])
			out[nr++] = (struct column){ latencies[i].title, "",
						     COLUMN_NUMBER, COLUMN_EVERYWHERE };
	}
	for (size_t i = 0; i < NR(place); i++)
		out[nr++] = place[i];
	return nr;
}

/* "1.2e+06 +-3%": half of the interval, of the value. */
static void put_count(struct table *t, const struct records_row *row, double period)
{
	const struct interval i = interval_count(row->cell[0].n, period);
	char text[64];

	if (isnan(period)) {
		table_empty(t);
		return;
	}
	snprintf(text, sizeof(text), "%.3g +-%.0f%%", i.value,
		 100 * (i.high - i.low) / 2 / i.value);
	table_text(t, text);
}

/* "12.5% (10-15)" */
static void put_share(struct table *t, const struct records_row *row,
		      enum record_event event)
{
	struct rates_event e;
	char text[64];

	if (!rates_event(row, event, 1, &e)) {
		table_empty(t);
		return;
	}
	snprintf(text, sizeof(text), "%.1f%% (%.0f-%.0f)", 100 * e.share.value,
		 100 * e.share.low, 100 * e.share.high);
	table_text(t, text);
}

/* "4/12/230": least, median, p99. */
static void put_latency(struct table *t, const struct records_row *row,
			enum record_latency latency)
{
	struct rates_latency l;
	char text[96];

	if (!rates_latency(row, latency, &l)) {
		table_empty(t);
		return;
	}
	snprintf(text, sizeof(text), "%.0f/%.0f/%.0f", l.min, l.median, l.p99);
	table_text(t, text);
}

static void put_row(struct table *t, const struct records_report *r,
		    const struct shown *s, const struct ranked_insn *ranked)
{
	const struct records_row row = row_of(ranked);

	table_number(t, row.cell[0].n);
	put_count(t, &row, records_period(r, ranked));
	for (size_t i = 0; i < NR(events); i++) {
		if (s->event[i])
			put_share(t, &row, events[i].event);
	}
	for (size_t i = 0; i < NR(latencies); i++) {
		if (s->latency[i])
			put_latency(t, &row, latencies[i].latency);
	}
	ranked_insn_put_place(ranked, t);
}

static int print_instructions(const struct records_report *r,
			      const struct ranked_insn *ranked, size_t nr,
			      const struct out_options *out)
{
	const struct shown s = find_shown(ranked, nr);
	struct column columns[MAX_COLUMNS];
	struct table *t = table_new(columns, make_columns(&s, columns));
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		put_row(t, r, &s, &ranked[i]);
	err = table_print_text(t, out_use_color(out->color), true);
	table_free(t);
	return err;
}

struct use {
	struct rates_address of;
	const struct ranked_insn *ranked;
};

static int by_use(const void *va, const void *vb)
{
	const struct use *a = va, *b = vb;

	if (a->of.least != b->of.least)
		return a->of.least < b->of.least ? 1 : -1;
	return (a->of.address > b->of.address) - (a->of.address < b->of.address);
}

/* Addresses of all these instructions, those used most first. */
static struct use *find_uses(const struct ranked_insn *ranked, size_t nr,
			     size_t *nr_uses)
{
	struct use *use = calloc(nr * RECORDS_ADDRESSES + 1, sizeof(*use));
	struct rates_address list[RECORDS_ADDRESSES];
	size_t n = 0;

	for (size_t i = 0; i < nr && use; i++) {
		const struct records_row row = row_of(&ranked[i]);
		const int nr_addresses = rates_addresses(&row, list);

		for (int k = 0; k < nr_addresses; k++)
			use[n++] = (struct use){ list[k], &ranked[i] };
	}
	if (use)
		qsort(use, n, sizeof(*use), by_use);
	*nr_uses = n;
	return use;
}

static int print_addresses(const struct ranked_insn *ranked, size_t nr)
{
	static const struct column columns[] = {
		{ "data address", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "at least", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		{ "at most", "", COLUMN_NUMBER, COLUMN_EVERYWHERE },
		RANKED_INSN_COLUMNS,
	};
	struct table *t = table_new(columns, NR(columns));
	size_t nr_uses;
	struct use *use = find_uses(ranked, nr, &nr_uses);
	int err = t && use ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr_uses && i < NR_ADDRESSES && !err; i++) {
		table_hex(t, use[i].of.address);
		table_number(t, use[i].of.least);
		table_number(t, use[i].of.most);
		ranked_insn_put_place(use[i].ranked, t);
	}
	if (!err && nr_uses) {
		putchar('\n');
		err = table_print_text(t, false, true);
	}
	table_free(t);
	free(use);
	return err;
}

int records_print_text(struct records_report *r, const struct out_options *out)
{
	size_t nr;
	const struct ranked_insn *ranked = ranked_insns_sorted(&r->insns, &nr);
	int err;

	report_header(&r->scope->sel, &r->scope->ev);
	putchar('\n');
	err = print_instructions(r, ranked, nr, out);
	if (!err)
		err = print_addresses(ranked, nr);
	if (!err)
		report_footer(&r->scope->sel);
	return err;
}

static const struct column csv_columns[] = {
	{ "", "event", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "kind", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "name", COLUMN_TEXT, COLUMN_EVERYWHERE },
	{ "", "known", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "seen", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "count", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "count_low", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "count_high", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "share", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "share_low", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "share_high", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "min", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "median", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "p99", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "max", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "data_address", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "at_least", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	{ "", "at_most", COLUMN_NUMBER, COLUMN_EVERYWHERE },
	RANKED_INSN_COLUMNS,
};

#define NR_EVENT_CELLS   8
#define NR_LATENCY_CELLS 4
#define NR_ADDRESS_CELLS 3

static void put_empty(struct table *t, int nr)
{
	while (nr--)
		table_empty(t);
}

static void begin_line(struct table *t, const struct records_report *r,
		       const struct ranked_insn *ranked, const char *kind,
		       const char *name)
{
	table_text(t, r->scope->ev.event[ranked->event].name);
	table_text(t, kind);
	table_text(t, name);
}

static void put_interval(struct table *t, const struct interval *i)
{
	table_exact(t, i->value);
	table_exact(t, i->low);
	table_exact(t, i->high);
}

static void put_event_line(struct table *t, const struct records_report *r,
			   const struct ranked_insn *ranked, enum record_event event)
{
	const struct records_row row = row_of(ranked);
	const double period = records_period(r, ranked);
	struct rates_event e;

	if (!rates_event(&row, event, period, &e))
		return;
	if (event == RECORD_ANY) /* not an event: stands for all records */
		e.count = interval_count(e.known, period);
	begin_line(t, r, ranked, "event", record_event_str(event));
	table_number(t, e.known);
	table_number(t, event == RECORD_ANY ? e.known : e.seen);
	if (isnan(period))
		put_empty(t, 3);
	else
		put_interval(t, &e.count);
	if (event == RECORD_ANY)
		put_empty(t, 3);
	else
		put_interval(t, &e.share);
	put_empty(t, NR_LATENCY_CELLS + NR_ADDRESS_CELLS);
	ranked_insn_put_place(ranked, t);
}

static void put_latency_line(struct table *t, const struct records_report *r,
			     const struct ranked_insn *ranked,
			     enum record_latency latency)
{
	const struct records_row row = row_of(ranked);
	struct rates_latency l;

	if (!rates_latency(&row, latency, &l))
		return;
	begin_line(t, r, ranked, "latency", record_latency_str(latency));
	table_number(t, l.n);
	put_empty(t, NR_EVENT_CELLS - 1);
	table_exact(t, l.min);
	table_exact(t, l.median);
	table_exact(t, l.p99);
	table_exact(t, l.max);
	put_empty(t, NR_ADDRESS_CELLS);
	ranked_insn_put_place(ranked, t);
}

static void put_address_lines(struct table *t, const struct records_report *r,
			      const struct ranked_insn *ranked)
{
	const struct records_row row = row_of(ranked);
	struct rates_address list[RECORDS_ADDRESSES];
	const int nr = rates_addresses(&row, list);

	for (int i = 0; i < nr; i++) {
		begin_line(t, r, ranked, "data_address", NULL);
		put_empty(t, NR_EVENT_CELLS + NR_LATENCY_CELLS);
		table_hex(t, list[i].address);
		table_number(t, list[i].least);
		table_number(t, list[i].most);
		ranked_insn_put_place(ranked, t);
	}
}

int records_print_csv(struct records_report *r)
{
	struct table *t = table_new(csv_columns, NR(csv_columns));
	size_t nr;
	const struct ranked_insn *ranked = ranked_insns_sorted(&r->insns, &nr);
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		for (int k = 0; k < RECORD_NR_EVENTS; k++) {
			if (k != RECORD_DATA_ADDRESS)
				put_event_line(t, r, &ranked[i], k);
		}
		for (int k = 0; k < RECORD_NR_LATENCIES; k++)
			put_latency_line(t, r, &ranked[i], k);
		put_address_lines(t, r, &ranked[i]);
	}
	err = table_print_csv(t, true);
	table_free(t);
	return err;
}
