/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * records_json.c - hardware's records as JSON
 *
 * Unlike the text, it has every rate with its interval, and no rounding.
 */
#include "config.h"

#include <math.h>

#include "tools/write/explain.h"
#include "tools/write/report.h"

static void put_interval(struct json *j, const struct interval *i,
			 const char *const key[3])
{
	json_exact(j, key[0], i->value);
	json_exact(j, key[1], i->low);
	json_exact(j, key[2], i->high);
}

static void put_event(struct json *j, const char *name, const struct rates_event *e,
		      double period)
{
	static const char *const count[] = { "count", "count_low", "count_high" };
	static const char *const share[] = { "share", "share_low", "share_high" };

	json_object(j, name);
	json_number(j, "known", e->known);
	json_number(j, "seen", e->seen);
	if (!isnan(period))
		put_interval(j, &e->count, count);
	put_interval(j, &e->share, share);
	json_end(j);
}

static void put_events(struct json *j, const struct records_row *row, double period)
{
	struct rates_event e;

	json_object(j, "events");
	for (int i = RECORD_DATA_ADDRESS + 1; i < RECORD_NR_EVENTS; i++) {
		if (rates_event(row, i, period, &e))
			put_event(j, record_event_str(i), &e, period);
	}
	json_end(j);
}

static void put_latencies(struct json *j, const struct records_row *row)
{
	struct rates_latency l;

	json_object(j, "latencies");
	for (int i = 0; i < RECORD_NR_LATENCIES; i++) {
		if (!rates_latency(row, i, &l))
			continue;
		json_object(j, record_latency_str(i));
		json_number(j, "n", l.n);
		json_exact(j, "min", l.min);
		json_exact(j, "median", l.median);
		json_exact(j, "p99", l.p99);
		json_exact(j, "max", l.max);
		json_end(j);
	}
	json_end(j);
}

static void put_addresses(struct json *j, const struct records_row *row)
{
	struct rates_address list[RECORDS_ADDRESSES];
	const int nr = rates_addresses(row, list);

	json_array(j, "data_addresses");
	for (int i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_hex(j, "address", list[i].address);
		json_number(j, "at_least", list[i].least);
		json_number(j, "at_most", list[i].most);
		json_end(j);
	}
	json_end(j);
}

static void put_insn(struct json *j, const struct records_report *r,
		     const struct ranked_insn *ranked)
{
	static const char *const count[] = { "count", "count_low", "count_high" };
	const struct records_row row = records_at(ranked->records, ranked->offset);
	const double period = records_period(r, ranked);
	const struct interval all = interval_count(row.cell[0].n, period);

	json_object(j, NULL);
	json_string(j, "event", r->scope->ev.event[ranked->event].name);
	json_number(j, "records", row.cell[0].n);
	if (!isnan(period))
		put_interval(j, &all, count);
	json_hex(j, "offset", ranked->offset);
	json_hex(j, "address", ranked->address);
	json_string(j, "procedure", ranked->procedure);
	json_string(j, "text", ranked->text);
	json_string(j, "image", ranked->image);
	json_string(j, "build_id", ranked->build_id);
	json_string(j, "file", ranked->file);
	if (ranked->file)
		json_number(j, "line", ranked->line);
	put_events(j, &row, period);
	put_latencies(j, &row);
	put_addresses(j, &row);
	json_end(j);
}

int records_print_json(struct records_report *r)
{
	struct json j = { 0 };
	size_t nr;
	const struct ranked_insn *ranked = ranked_insns_sorted(&r->insns, &nr);

	json_object(&j, NULL);
	report_json_header(&j, &r->scope->sel);
	json_array(&j, "instructions");
	for (size_t i = 0; i < nr; i++)
		put_insn(&j, r, &ranked[i]);
	json_end(&j);
	report_json_losses(&j, &r->scope->sel);
	json_end(&j);
	return 0;
}
