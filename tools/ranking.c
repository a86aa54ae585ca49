/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/ranking.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "tools/out.h"
#include "tools/report.h"

const struct opt ranking_opts[] = {
	OPTS_SELECTION, OPT_LIMIT, OPTS_EXPLAIN, OPT_FORMAT, OPT_COLOR, OPT_END,
};

static int copy(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

int ranking_locate(const struct ranking *r, int insn, uint64_t offset,
		   struct spot *spot)
{
	const struct explanation *ex = r->ex;
	char build_id[REPORT_BUILD_ID_SIZE];
	struct line line = { NULL, 0 };
	struct buf text = { 0 };
	int err;

	spot->offset = spot->address = offset;
	if (ex->im) {
		spot->address = image_address(ex->im, offset);
		line = image_line_at(ex->im, offset);
	}
	spot->line = line.file ? line.line : 0;
	report_build_id(&ex->image->desc, build_id);
	err = copy(ex->symbol ? ex->symbol->name : NULL, &spot->procedure);
	if (!err)
		err = copy(ex->image->desc.name, &spot->image);
	if (!err)
		err = copy(*build_id ? build_id : NULL, &spot->build_id);
	if (!err)
		err = copy(line.file, &spot->file);
	if (!err && insn >= 0)
		err = copy(explainer_text(r->x, ex, insn, &text), &spot->text);
	buf_fini(&text);
	return err;
}

/* "copy.c:12" */
static void put_source(const struct spot *spot, struct table *t)
{
	char *text;

	if (!spot->file ||
	    asprintf(&text, "%s:%d", path_base(spot->file), spot->line) < 0) {
		table_empty(t);
		return;
	}
	table_text(t, text);
	free(text);
}

void ranking_put_place(const struct spot *spot, struct table *t)
{
	table_hex(t, spot->address);
	table_hex(t, spot->offset);
	table_text(t, spot->procedure);
	table_text(t, spot->text);
	table_text(t, spot->image);
	table_text(t, spot->build_id);
	put_source(spot, t);
	table_text(t, spot->file);
	if (spot->file)
		table_number(t, spot->line);
	else
		table_empty(t);
}

static int print_json(const struct explainer *x, struct table *t, const char *name)
{
	struct json j = { 0 };
	int err;

	json_object(&j, NULL);
	report_json_header(&j, &x->l->sel);
	explainer_json_unit(x, &j);
	json_array(&j, name);
	err = table_print_json(t, &j);
	json_end(&j);
	report_json_losses(&j, &x->l->sel);
	json_end(&j);
	return err;
}

static int print(const struct explainer *x, struct table *t, const char *name)
{
	const struct cmd_options *opt = &x->l->ctx->opt;
	int err;

	if (opt->format == OUT_JSON)
		return print_json(x, t, name);
	if (opt->format == OUT_CSV)
		return table_print_csv(t, true);
	report_header(&x->l->sel, &x->l->ev);
	explainer_print_unit(x);
	putchar('\n');
	err = table_print_text(t, out_use_color(opt->color), true);
	if (!err)
		report_footer(&x->l->sel);
	return err;
}

static int print_spots(struct ranking *r)
{
	const struct ranking_kind *kind = r->kind;
	const bool text = r->x->l->ctx->opt.format == OUT_TEXT;
	struct table *t = table_new(kind->columns, kind->nr_columns);
	const struct spot *spot;
	size_t nr;
	int err;

	if (!t)
		return -ENOMEM;
	spot = spots_sorted(&r->spots, &nr);
	for (size_t i = 0; i < nr; i++) {
		const double percent = 100 * spot[i].amount / r->all;

		table_color(t, out_heat(percent));
		kind->cells(t, &spot[i], percent, text);
		ranking_put_place(&spot[i], t);
	}
	err = print(r->x, t, kind->name);
	table_free(t);
	return err;
}

static int on_explanation(void *ctx, const struct explanation *ex)
{
	struct ranking *r = ctx;

	r->ex = ex;
	r->all += ex->samples;
	return r->kind->add(r);
}

int ranking_run(struct explainer *x, const struct ranking_kind *kind)
{
	struct ranking r = { .kind = kind, .x = x };
	int err = explainer_needs_time(x);

	spots_init(&r.spots, x->l->ctx->opt.limit);
	if (!err)
		err = explainer_each(x, on_explanation, &r);
	r.all += explainer_unknown(x);
	if (!err)
		err = print_spots(&r);
	spots_fini(&r.spots);
	return err;
}
