/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tip_svg.c - MICRO'21 Figure 10 for one trace, and the profiles from which the
 * errors were computed
 */
#include "config.h"

#include "tools/write/tip_svg.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/text.h"
#include "tools/ui/xml.h"

#define NAME_WIDTH  300
#define BAR_WIDTH   520
#define BAR_HEIGHT  8
#define GAP         10 /* between groups of bars */
#define TOP         70
#define HEADING     34
#define NAME_LENGTH 36
#define WIDTH       (NAME_WIDTH + BAR_WIDTH + 80)

/* Those of the paper's figures; the rest are variants of them. */
static const struct {
	enum tip_policy policy;
	const char *color;
} shown[] = {
	{ TIP_BY_ORACLE, "#000000" },   { TIP_BY_TIP, "#228833" },
	{ TIP_BY_ILP, "#ccbb44" },      { TIP_BY_NCI, "#4477aa" },
	{ TIP_BY_LCI, "#66ccee" },      { TIP_BY_DISPATCH, "#ee6677" },
	{ TIP_BY_SOFTWARE, "#aa3377" },
};

#define NR_SHOWN (sizeof(shown) / sizeof(shown[0]))

struct picture {
	const struct tip_result *r;
	struct buf out;
	double y;
};

static bool knows(const struct tip_result *r, size_t i)
{
	return !isnan(r->error[TIP_INSTRUCTION][shown[i].policy]);
}

static void put_text(struct picture *p, double x, const char *attributes,
		     const char *text)
{
	buf_printf(&p->out, "<text x=\"%.1f\" y=\"%.1f\"%s>", x, p->y, attributes);
	xml_put(&p->out, text);
	buf_puts(&p->out, "</text>\n");
}

/* A group of bars, one for each profiler; NAN has none. most fills the width. */
static void put_group(struct picture *p, const char *name, const double *percent,
		      double most)
{
	const double middle = (double)BAR_HEIGHT * NR_SHOWN / 2 + 4;
	const double top = p->y;

	p->y += middle;
	put_text(p, NAME_WIDTH - 8, " text-anchor=\"end\"", name);
	p->y = top;
	for (size_t i = 0; i < NR_SHOWN; i++, p->y += BAR_HEIGHT) {
		const double width = most > 0 ? BAR_WIDTH * percent[i] / most : 0;

		if (isnan(percent[i]))
			continue;
		buf_printf(&p->out,
			   "<rect x=\"%d\" y=\"%.1f\" width=\"%.2f\" height=\"%d\""
			   " fill=\"%s\"><title>%s: %.2f%%</title></rect>"
			   "<text x=\"%.1f\" y=\"%.1f\" font-size=\"8\">%.2f</text>\n",
			   NAME_WIDTH, p->y, width, BAR_HEIGHT - 1, shown[i].color,
			   tip_policy_str(shown[i].policy), percent[i],
			   NAME_WIDTH + width + 4, p->y + BAR_HEIGHT - 1, percent[i]);
	}
	p->y += GAP;
}

static void put_heading(struct picture *p, const char *text)
{
	p->y += HEADING - 12;
	put_text(p, 8, " font-size=\"14\" font-weight=\"bold\"", text);
	p->y += 12;
}

static void put_legend(struct picture *p)
{
	double x = 8;

	for (size_t i = 0; i < NR_SHOWN; i++) {
		if (!knows(p->r, i))
			continue;
		buf_printf(&p->out,
			   "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\""
			   " fill=\"%s\"/>\n",
			   x, p->y - 10, shown[i].color);
		put_text(p, x + 16, "", tip_policy_str(shown[i].policy));
		x += 100;
	}
}

static void put_errors(struct picture *p)
{
	double percent[TIP_NR_LEVELS][NR_SHOWN], most = 0;

	for (int level = 0; level < TIP_NR_LEVELS; level++) {
		for (size_t i = 0; i < NR_SHOWN; i++) {
			const double e = p->r->error[level][shown[i].policy];

			/* The Oracle has none: no bar is drawn of it. */
			percent[level][i] =
				shown[i].policy == TIP_BY_ORACLE ? NAN : 100 * e;
			most = fmax(most, percent[level][i]);
		}
	}
	put_heading(p, "Error of the profile, in percent");
	for (int level = 0; level < TIP_NR_LEVELS; level++) {
		if (!level || p->r->has_blocks)
			put_group(p, tip_level_str(level), percent[level], most);
	}
}

static double share(const struct picture *p, const struct tip_row *row, size_t i)
{
	const bool is_oracle = shown[i].policy == TIP_BY_ORACLE;
	const double all = is_oracle ? p->r->cycles : p->r->samples;

	if (!knows(p->r, i))
		return NAN;
	return all > 0 ? 100 * row->weight[shown[i].policy] / all : 0;
}

static void put_row(struct picture *p, const struct tip_row *row, double most)
{
	double percent[NR_SHOWN];
	struct buf name = { 0 };

	for (size_t i = 0; i < NR_SHOWN; i++)
		percent[i] = share(p, row, i);
	buf_printf(&name, "0x%" PRIx64 "  ", row->pc);
	if (row->text)
		buf_put(&name, row->text, text_prefix(row->text, NAME_LENGTH));
	put_group(p, buf_str(&name), percent, most);
	buf_fini(&name);
}

static void put_profiles(struct picture *p, const struct tip_row *const *row, size_t nr)
{
	double most = 0;

	for (size_t k = 0; k < nr; k++) {
		for (size_t i = 0; i < NR_SHOWN; i++)
			most = fmax(most, share(p, row[k], i));
	}
	put_heading(p, "Profile: percent of the time, by the Oracle's order");
	for (size_t k = 0; k < nr; k++)
		put_row(p, row[k], most);
}

static double height_of(const struct tip_result *r, size_t nr)
{
	const size_t groups = nr + (r->has_blocks ? TIP_NR_LEVELS : 1);

	return TOP + 2 * HEADING + groups * (BAR_HEIGHT * NR_SHOWN + GAP);
}

int tip_print_svg(const char *trace, const struct tip_result *r,
		  const struct tip_row *const *row, size_t nr)
{
	struct picture p = { .r = r, .y = 24 };
	const double height = height_of(r, nr);
	int err;

	buf_printf(&p.out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\""
		   " height=\"%.0f\" viewBox=\"0 0 %d %.0f\""
		   " font-family=\"sans-serif\" font-size=\"12\">\n"
		   "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		   WIDTH, height, WIDTH, height);
	put_text(&p, 8, " font-size=\"16\"", trace);
	p.y += 22;
	buf_printf(&p.out,
		   "<text x=\"8\" y=\"%.1f\" fill=\"#555\">%" PRIu64 " cycles, %" PRIu64
		   " instructions, %" PRIu64 " samples</text>\n",
		   p.y, r->cycles, r->commits, r->samples);
	p.y += 22;
	put_legend(&p);
	p.y = TOP;
	put_errors(&p);
	put_profiles(&p, row, nr);
	buf_puts(&p.out, "</svg>\n");
	buf_str(&p.out);
	err = p.out.err;
	if (!err)
		fputs(p.out.data, stdout);
	buf_fini(&p.out);
	return err;
}
