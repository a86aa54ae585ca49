/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_svg.c - the courses of the busiest rows, as a picture
 */
#include "config.h"

#include "tools/write/profile.h"

#include <math.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "report/profile/prof_time.h"
#include "tools/ui/picture.h"
#include "tools/ui/xml.h"

#define NR_LINES 8
#define WIDTH    900.0
#define HEIGHT   300.0
#define LEFT     70.0
#define TOP      20.0
#define LEGEND   20.0 /* for each line */

static const char *const colors[NR_LINES] = { "#4477aa", "#ee6677", "#228833",
					      "#ccbb44", "#66ccee", "#aa3377",
					      "#888888", "#000000" };

static double x_of(const struct prof *p, double bucket)
{
	return LEFT + WIDTH * bucket / (double)p->nr_buckets;
}

static double y_of(double value, double max)
{
	return TOP + HEIGHT * (1 - value / max);
}

/* 1, 2 or 5 times a power of ten, of which about five make max. */
static double step_of(double max)
{
	double power = pow(10, floor(log10(max / 5))), n = max / 5 / power;

	return power * (n > 5 ? 10 : n > 2 ? 5 : n > 1 ? 2 : 1);
}

static void put_axes(const struct prof *p, double max, struct buf *out)
{
	const char *unit = prof_primary_is_time(p) ? "CPUs" : "samples/s";
	double step = step_of(max);
	char text[TIME_TEXT_SIZE];

	for (double v = 0; v <= max; v += step)
		buf_printf(
			out,
			"<path d=\"M%.1f %.1fH%.1f\" stroke=\"#ddd\"/>"
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
			LEFT, y_of(v, max), LEFT + WIDTH, LEFT - 6, y_of(v, max) + 4,
			v);
	buf_printf(out, "<text x=\"%.1f\" y=\"14\">%s</text>\n", LEFT, unit);
	for (size_t i = 0; i <= 4; i++) {
		size_t bucket = i * p->nr_buckets / 4;
		uint64_t when = bucket < p->nr_buckets
					? p->bucket[bucket].from_ns
					: p->bucket[p->nr_buckets - 1].to_ns;

		buf_printf(out,
			   "<path d=\"M%.1f %.1fv5\" stroke=\"#444\"/>"
			   "<text x=\"%.1f\" y=\"%.1f\" "
			   "text-anchor=\"middle\">%s</text>\n",
			   x_of(p, (double)bucket), TOP + HEIGHT,
			   x_of(p, (double)bucket), TOP + HEIGHT + 18,
			   time_format(when, text));
	}
	buf_printf(out,
		   "<path d=\"M%.1f %.1fV%.1fH%.1f\" stroke=\"#444\" fill=\"none\"/>\n",
		   LEFT, TOP, TOP + HEIGHT, LEFT + WIDTH);
}

/* One line of steps, interrupted where there is no epoch, and its name below. */
static void put_line(const struct prof *p, const struct prof_row *row, size_t nr,
		     double max, struct buf *out)
{
	const double y = TOP + HEIGHT + 45 + LEGEND * (double)nr;
	bool drawing = false;

	buf_printf(out, "<path fill=\"none\" stroke-width=\"1.5\" stroke=\"%s\" d=\"",
		   colors[nr]);
	for (size_t i = 0; i < p->nr_buckets; i++) {
		if (p->bucket[i].seconds > 0)
			buf_printf(out, "%c%.1f %.1fH%.1f", drawing ? 'L' : 'M',
				   x_of(p, (double)i), y_of(row->over_time[i], max),
				   x_of(p, (double)i + 1));
		drawing = p->bucket[i].seconds > 0;
	}
	buf_printf(out,
		   "\"/>\n<path d=\"M%.1f %.1fh20\" stroke-width=\"3\" stroke=\"%s\"/>"
		   "<text x=\"%.1f\" y=\"%.1f\">",
		   LEFT, y - 4, colors[nr], LEFT + 28, y);
	xml_put(out, row->procedure ? row->procedure
		     : row->context ? row->context
				    : "");
	if (row->image_name) {
		buf_puts(out, " ");
		xml_put(out, row->image_name);
	}
	buf_puts(out, "</text>\n");
}

/* Adds a row, the busiest first, and keeps NR_LINES. Returns their number. */
static size_t add_row(const struct prof *p, const struct prof_row *row,
		      const struct prof_row *rows[NR_LINES], size_t nr)
{
	const double weight = row->tally[p->primary].weight;
	size_t at = nr;

	while (at && rows[at - 1]->tally[p->primary].weight < weight)
		at--;
	if (at == NR_LINES)
		return nr;
	nr += nr < NR_LINES;
	for (size_t i = nr - 1; i > at; i--)
		rows[i] = rows[i - 1];
	rows[at] = row;
	return nr;
}

/* The busiest rows, however --sort orders them. */
static size_t choose_rows(const struct prof *p, const struct prof_row *rows[NR_LINES],
			  double *max)
{
	size_t nr = 0;

	*max = 0;
	for (size_t i = 0; i < p->nr_rows; i++) {
		if (prof_is_shown(p, p->row[i]) && p->row[i]->over_time)
			nr = add_row(p, p->row[i], rows, nr);
	}
	for (size_t i = 0; i < nr; i++) {
		for (size_t k = 0; k < p->nr_buckets; k++)
			*max = fmax(*max, rows[i]->over_time[k]);
	}
	return nr;
}

int prof_write_svg(const struct prof *p, const char *path)
{
	const struct prof_row *rows[NR_LINES];
	struct buf out = { 0 };
	double max;
	size_t nr = choose_rows(p, rows, &max);
	int err;

	max = max > 0 ? max : 1;
	buf_printf(&out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\""
		   " height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
		   "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		   LEFT + WIDTH + 80, TOP + HEIGHT + 50 + LEGEND * (double)nr);
	put_axes(p, max, &out);
	for (size_t i = 0; i < nr; i++)
		put_line(p, rows[i], i, max, &out);
	buf_puts(&out, "</svg>\n");
	err = out.err;
	if (err)
		log_err("prof: %s: %s", path, err_str(err));
	else
		err = picture_write(path, &out);
	buf_fini(&out);
	return err;
}
