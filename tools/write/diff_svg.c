/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_svg.c - differential bars: each row's share before and after
 */
#include "config.h"

#include "tools/write/compare.h"

#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/text.h"
#include "tools/ui/xml.h"

#define DEFAULT_ROWS 40
#define ROW_HEIGHT   20
#define NAME_WIDTH   380
#define BAR_WIDTH    480
#define TOP          48
#define NAME_LENGTH  56

static const char *name_of(const struct matrix_row *row)
{
	if (row->file)
		return row->file;
	if (row->procedure)
		return row->procedure;
	return row->context ? row->context : row->image;
}

static void put_name(struct buf *b, const struct matrix_row *row)
{
	const char *name = name_of(row);
	char part[4 * NAME_LENGTH + 1];
	size_t length = name ? text_prefix(name, NAME_LENGTH) : 0;

	if (length >= sizeof(part))
		length = sizeof(part) - 1;
	snprintf(part, sizeof(part), "%.*s", (int)length, name ? name : "");
	xml_put(b, part);
	if (row->file)
		buf_printf(b, ":%d", row->line);
}

static void put_rect(struct buf *b, double x, double y, double width, double height,
		     const char *color)
{
	buf_printf(b,
		   "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\""
		   " fill=\"%s\"/>\n",
		   x, y, width, height, color);
}

/*
 * Draws A's share in grey, an increase in red and a decrease in blue. These are pale if
 * the change may be chance.
 */
static void put_row(struct buf *b, const struct diff *d, const struct diff_row *r,
		    double y, double scale)
{
	const double before = diff_percent(d, r, 0), after = diff_percent(d, r, 1);
	const bool found = r->compared->found, grew = after > before;
	const double least = fmin(before, after) * scale;

	buf_printf(b, "<g><title>");
	xml_put(b, name_of(r->row));
	if (r->row->image) {
		buf_puts(b, " in ");
		xml_put(b, r->row->image);
	}
	buf_printf(b, ": %.2f%% to %.2f%%", before, after);
	if (diff_verdict(r))
		buf_printf(b, ", %s", diff_verdict_text(r));
	buf_printf(b, "</title>\n<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\"%s>",
		   NAME_WIDTH - 8, y + 14, found ? " font-weight=\"bold\"" : "");
	put_name(b, r->row);
	buf_puts(b, "</text>\n");
	put_rect(b, NAME_WIDTH, y + 3, least, ROW_HEIGHT - 6, "#bbb");
	put_rect(b, NAME_WIDTH + least, y + 3, fabs(after - before) * scale,
		 ROW_HEIGHT - 6,
		 found  ? grew ? "#c22" : "#27c"
		 : grew ? "#ebb"
			: "#bcd");
	buf_printf(b, "<text x=\"%.1f\" y=\"%.1f\">%+.2f</text>\n</g>\n",
		   NAME_WIDTH + 6 + fmax(before, after) * scale, y + 14,
		   after - before);
}

int diff_print_svg(const struct diff *d, uint64_t limit)
{
	const uint64_t most_rows = limit ? limit : DEFAULT_ROWS;
	const size_t nr = d->nr_rows < most_rows ? d->nr_rows : most_rows;
	struct buf b = { 0 };
	double most = 0;
	int err;

	for (size_t i = 0; i < nr; i++)
		most = fmax(most, fmax(diff_percent(d, &d->row[i], 0),
				       diff_percent(d, &d->row[i], 1)));
	buf_printf(&b,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\""
		   " height=\"%zu\" font-family=\"sans-serif\" font-size=\"12\">\n",
		   NAME_WIDTH + BAR_WIDTH + 80, TOP + (nr + 1) * ROW_HEIGHT);
	buf_puts(&b, "<text x=\"8\" y=\"20\" font-size=\"14\">");
	xml_put(&b, d->spec[0]);
	buf_puts(&b, " to ");
	xml_put(&b, d->spec[1]);
	buf_puts(&b,
		 ": percent of all time</text>\n<text x=\"8\" y=\"38\" fill=\"#555\">"
		 "red: more; blue: less; pale: no more than chance explains</text>\n");
	for (size_t i = 0; i < nr; i++)
		put_row(&b, d, &d->row[i], TOP + i * ROW_HEIGHT,
			most > 0 ? BAR_WIDTH / most : 0);
	buf_puts(&b, "</svg>\n");
	err = b.err;
	if (!err)
		fputs(buf_str(&b), stdout);
	buf_fini(&b);
	return err;
}
