/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "tools/spots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/out.h"
#include "tools/report.h"

void spots_init(struct spots *s, uint64_t limit)
{
	*s = (struct spots){ .limit = limit ? limit : SPOTS_DEFAULT };
	if (s->limit > SPOTS_MAX)
		s->limit = SPOTS_MAX;
}

static void spot_fini(struct spot *s)
{
	free(s->procedure);
	free(s->image);
	free(s->build_id);
	free(s->text);
	free(s->file);
	free(s->reasons);
	free(s->culprits);
}

static struct spot *all_spots(const struct spots *s, size_t *nr)
{
	*nr = s->spot.len / sizeof(struct spot);
	return (struct spot *)s->spot.data;
}

void spots_fini(struct spots *s)
{
	size_t nr;
	struct spot *spot = all_spots(s, &nr);

	for (size_t i = 0; i < nr; i++)
		spot_fini(&spot[i]);
	buf_fini(&s->spot);
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int by_amount(const void *va, const void *vb)
{
	const struct spot *a = va, *b = vb;
	int c;

	if (a->amount != b->amount)
		return a->amount < b->amount ? 1 : -1;
	c = compare_text(a->image, b->image);
	if (c)
		return c;
	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return compare_text(a->reasons, b->reasons);
}

const struct spot *spots_sorted(struct spots *s, size_t *nr)
{
	struct spot *spot = all_spots(s, nr);

	if (*nr)
		qsort(spot, *nr, sizeof(*spot), by_amount);
	for (size_t i = s->limit; i < *nr; i++)
		spot_fini(&spot[i]);
	if (*nr >= s->limit) {
		*nr = s->limit;
		s->spot.len = *nr * sizeof(*spot);
		s->least = spot[*nr - 1].amount;
	}
	return spot;
}

int spots_add(struct spots *s, double amount, struct spot **out)
{
	struct spot *spot;
	size_t nr;

	*out = NULL;
	if (!(amount > s->least))
		return 0;
	all_spots(s, &nr);
	if (nr >= 2 * s->limit)
		spots_sorted(s, &nr);
	spot = buf_reserve(&s->spot, sizeof(*spot));
	if (!spot)
		return -ENOMEM;
	s->spot.len += sizeof(*spot);
	*spot = (struct spot){ .amount = amount };
	*out = spot;
	return 0;
}

static int copy(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

int spot_locate(struct spot *spot, const struct explainer *x,
		const struct explanation *ex, int insn, uint64_t offset)
{
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
		err = copy(explainer_text(x, ex, insn, &text), &spot->text);
	buf_fini(&text);
	return err;
}

/* "copy.c:12" */
static void put_source(const struct spot *spot, struct table *t)
{
	const char *base = spot->file ? strrchr(spot->file, '/') : NULL;
	char *text;

	if (!spot->file ||
	    asprintf(&text, "%s:%d", base ? base + 1 : spot->file, spot->line) < 0) {
		table_empty(t);
		return;
	}
	table_text(t, text);
	free(text);
}

void spot_cells(const struct spot *spot, struct table *t)
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

int spots_print(const struct explainer *x, struct table *t, const char *name)
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
