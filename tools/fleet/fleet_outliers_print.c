/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fleet_outliers_print.c - machines that differ from their peers, the surest first
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "tools/fleet/fleet_print.h"
#include "tools/ui/json.h"
#include "tools/ui/table.h"
#include "tools/ui/term.h"

#define DEFAULT_LIMIT 40
#define MAX_COLUMNS   12

static size_t make_columns(const struct fleet_outliers *f, struct column *c)
{
	const bool cpi = f->measure == FLEET_CPI;
	size_t nr = 0;

	c[nr++] = (struct column){ "host", "host", COLUMN_TEXT, COLUMN_EVERYWHERE };
	c[nr++] = (struct column){ cpi ? "CPI" : "%", cpi ? "cpi" : "percent",
				   COLUMN_NUMBER, COLUMN_EVERYWHERE };
	c[nr++] = (struct column){ "peers", cpi ? "peers_cpi" : "peers_percent",
				   COLUMN_NUMBER, COLUMN_EVERYWHERE };
	c[nr++] = (struct column){ "change", "change_percent", COLUMN_NUMBER,
				   COLUMN_EVERYWHERE };
	c[nr++] = (struct column){ "q", "q", COLUMN_NUMBER, COLUMN_EVERYWHERE };
	c[nr++] = (struct column){ "cluster", "cluster", COLUMN_TEXT,
				   COLUMN_NOT_IN_TEXT };
	c[nr++] = (struct column){ "machine", "machine", COLUMN_TEXT,
				   COLUMN_NOT_IN_TEXT };
	if (f->by == FLEET_PROCEDURE)
		c[nr++] = (struct column){ "procedure", "procedure", COLUMN_TEXT,
					   COLUMN_EVERYWHERE };
	c[nr++] = (struct column){ "image", "image", COLUMN_TEXT, COLUMN_EVERYWHERE };
	return nr;
}

static void put_row(struct table *t, const struct fleet_outliers *f,
		    const struct fleet_outlier *o, bool text)
{
	const double unit = f->measure == FLEET_CPI ? 1 : 100;
	char s[32];

	if (text)
		table_color(t, o->change > 0 ? TERM_RED : TERM_BLUE);
	table_text(t, o->host);
	table_value(t, o->value * unit, 2, text);
	table_value(t, o->peers * unit, 2, text);
	if (text) {
		snprintf(s, sizeof(s), "%+.1f%%", 100 * expm1(o->change));
		table_text(t, s);
		snprintf(s, sizeof(s), o->q < 0.001 ? "%.0e" : "%.3f", o->q);
		table_text(t, s);
	} else {
		table_exact(t, 100 * expm1(o->change));
		table_exact(t, o->q);
	}
	table_text(t, o->cluster);
	table_text(t, o->machine);
	table_text(t, o->name);
	if (f->by == FLEET_PROCEDURE)
		table_text(t, o->image);
}

static void print_header(const struct fleet_outliers *f)
{
	fleet_scope_print(&f->scope);
	if (f->nr_alone)
		out_line("%zu of %zu machines are not tested: they have fewer than %d "
			 "peers of their cluster and type, or too few samples",
			 f->nr_alone, f->nr_members, OUTLIERS_MIN_PEERS);
	out_line("%zu of %zu values differ from those of their peers by more than "
		 "chance",
		 f->nr, f->nr_tested);
}

static int print_json(const struct fleet_outliers *f, struct table *t)
{
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	fleet_scope_json(&f->scope, &j);
	json_string(&j, "measure", f->measure == FLEET_CPI ? "cpi" : "share");
	json_number(&j, "machines", f->nr_members);
	json_number(&j, "machines_not_tested", f->nr_alone);
	json_number(&j, "tested", f->nr_tested);
	json_number(&j, "found", f->nr);
	json_array(&j, "rows");
	err = table_print_json(t, &j);
	json_end(&j);
	json_end(&j);
	return err;
}

static int print_text(const struct fleet_outliers *f, struct table *t, size_t nr,
		      int color)
{
	int err;

	print_header(f);
	if (!f->nr)
		return 0;
	out_line("%s", "");
	err = table_print_text(t, out_use_color(color), true);
	if (!err && nr < f->nr)
		out_line("... %zu more", f->nr - nr);
	return err;
}

int fleet_outliers_print(const struct fleet_outliers *f, const struct out_options *out)
{
	const bool text = out->format == OUT_TEXT;
	const uint64_t limit = out->limit || !text ? out->limit : DEFAULT_LIMIT;
	const size_t nr = limit && limit < f->nr ? (size_t)limit : f->nr;
	struct column columns[MAX_COLUMNS];
	struct table *t = table_new(columns, make_columns(f, columns));
	int err;

	if (!t)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		put_row(t, f, &f->found[i], text);
	if (text)
		err = print_text(f, t, nr, out->color);
	else if (out->format == OUT_JSON)
		err = print_json(f, t);
	else
		err = table_print_csv(t, true);
	table_free(t);
	return err;
}
