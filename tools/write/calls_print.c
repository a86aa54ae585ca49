/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_print.c - what every report on call stacks says around its rows
 */
#include "config.h"

#include "tools/write/calls.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/ui/out.h"
#include "tools/write/report.h"

static void print_header(const struct calls *c)
{
	const double all = c->busy.weight + (c->req->idle ? 0 : c->idle.weight);

	report_header_time(&c->sel, &c->ev,
			   &(struct report_time){
				   .idle_percent =
					   c->idle.n ? 100 * c->idle.weight / all : 0,
				   .idle_included = c->req->idle,
			   });
	out_line("Total samples of stacks for event type %s = %" PRIu64,
		 c->ev.event[0].name, c->busy.n);
	putchar('\n');
}

static int print_json(const struct calls *c, struct table *rows)
{
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	report_json_header(&j, &c->sel);
	json_string(&j, "event", c->ev.event[0].name);
	json_number(&j, "samples", c->busy.n);
	json_number(&j, "idle_samples", c->idle.n);
	json_array(&j, "rows");
	err = table_print_json(rows, &j);
	json_end(&j);
	report_json_losses(&j, &c->sel);
	json_end(&j);
	return err;
}

int calls_print(const struct calls *c, struct table *rows,
		const struct out_options *out)
{
	int err;

	if (out->format == OUT_JSON)
		return print_json(c, rows);
	if (out->format == OUT_CSV)
		return table_print_csv(rows, true);
	print_header(c);
	err = table_print_text(rows, out_use_color(out->color), true);
	report_footer(&c->sel);
	return err;
}
