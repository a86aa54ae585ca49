/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_junit.c - a comparison as JUnit's XML
 */
#include "config.h"

#include "tools/export/diff_junit.h"

#include <math.h>
#include <stdio.h>

#include "tools/ui/xml.h"

static void put_test(struct buf *out, const struct diff_row *r,
		     const struct diff_gate *g)
{
	const struct compare_row *c = r->compared;
	const struct matrix_row *row = r->row;

	buf_puts(out, "    <testcase classname=\"");
	xml_put(out, row->unknown ? "[unknown]" : row->image ? row->image : "cpi");
	buf_puts(out, "\" name=\"");
	xml_put(out, row->procedure ? row->procedure
		     : row->context ? row->context
				    : row->image);
	if (row->line)
		buf_printf(out, ":%d", row->line);
	if (!diff_gate_meets(g, r)) {
		buf_puts(out, "\"/>\n");
		return;
	}
	buf_printf(out,
		   "\">\n      <failure message=\"%+.1f %% (%+.1f to %+.1f %%), q = "
		   "%.3g\"/>\n",
		   expm1(c->change) * 100, expm1(c->low) * 100, expm1(c->high) * 100,
		   c->q);
	buf_puts(out, "    </testcase>\n");
}

/*
 * Adds an error. Without it, a comparison that cannot be judged would look like a
 * success to programs that read only this file.
 */
static void put_unjudged(struct buf *out, const char *condition)
{
	buf_puts(out, "    <testcase classname=\"cpi\" name=\"");
	xml_put(out, condition);
	buf_printf(out,
		   "\">\n      <error message=\"" DIFF_GATE_UNJUDGED
		   "\"/>\n    </testcase>\n",
		   COMPARE_MIN_RUNS);
}

int diff_junit_print(const struct diff *d, const struct diff_gate *g,
		     const char *condition)
{
	struct buf tests = { 0 }, head = { 0 };
	const bool judged = diff_gate_can_judge(d);
	size_t nr = !judged, failures = 0;
	int err;

	if (!judged)
		put_unjudged(&tests, condition);
	for (size_t i = 0; i < d->nr_rows; i++) {
		if (!d->row[i].compared->tested)
			continue;
		nr++;
		failures += diff_gate_meets(g, &d->row[i]);
		put_test(&tests, &d->row[i], g);
	}
	buf_printf(&head, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
			  "  <testsuite name=\"");
	xml_put(&head, condition);
	buf_printf(&head, "\" tests=\"%zu\" failures=\"%zu\" errors=\"%d\">\n", nr,
		   failures, !judged);
	err = tests.err ? tests.err : head.err;
	if (!err)
		printf("%s%s  </testsuite>\n</testsuites>\n", buf_str(&head),
		       buf_str(&tests));
	buf_fini(&tests);
	buf_fini(&head);
	return err;
}
