/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls_print.c - what every report on call stacks says around its rows
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/calls.h"
#include "tools/out.h"
#include "tools/report.h"

static void print_total(const struct calls *c)
{
	out_line("Total samples of stacks for event type %s = %" PRIu64,
		 c->ev.event[0].name, c->busy.n);
	if (c->idle.n)
		out_line("[idle] %" PRIu64 " samples of idle CPUs, %s", c->idle.n,
			 c->ctx->opt.idle ? "among these" : "not in the percentages");
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

int calls_print(const struct calls *c, struct table *rows, bool color)
{
	int err;

	if (c->ctx->opt.format == OUT_JSON)
		return print_json(c, rows);
	if (c->ctx->opt.format == OUT_CSV)
		return table_print_csv(rows, true);
	report_header(&c->sel, &c->ev);
	print_total(c);
	err = table_print_text(rows, color, true);
	report_footer(&c->sel);
	return err;
}
