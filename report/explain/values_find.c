/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values_find.c - finds the values of a procedure's instructions, and names targets
 *
 * Targets and iterations come from the paths of windows (analysis/values), alignments
 * from the data that windows touched (db/profile/accesses.h). A target may be in any
 * image, so it is named here, in one open image at a time.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "report/explain/explainer_private.h"
#include "report/explain/values.h"

char *values_insn_text(const struct explainer *x, const struct explanation *ex,
		       int insn)
{
	struct buf text = { 0 };
	char *copy = strdup(explainer_text(x, ex, insn, &text));

	buf_fini(&text);
	return copy;
}

static int name_target(struct explainer *x, const struct value *v,
		       struct values_name *out)
{
	const struct query_image *row = selected_windows_numbered(x->windows, v->image);
	const struct symbol *s = NULL;
	struct image *im;
	struct buf name = { 0 };

	if (!row->id)
		return 0;
	out->image = strdup(row->desc.name);
	if (!image_cache_get(x->scope->images, row, &im))
		s = image_symbol_at(im, v->value);
	if (s && v->value > s->start)
		buf_printf(&name, "%s+0x%" PRIx64, s->name, v->value - s->start);
	else if (s)
		buf_puts(&name, s->name);
	if (s)
		out->procedure = strdup(buf_str(&name));
	buf_fini(&name);
	return out->image && (!s || out->procedure) ? 0 : -ENOMEM;
}

static int name_targets(struct values_report *r, struct explainer *x)
{
	int err = 0;

	for (size_t i = 0; i < r->nr_sites; i++) {
		struct values_site *s = &r->site[i];

		if (s->from->kind != VALUE_TARGET)
			continue;
		s->name = calloc(s->nr + 1, sizeof(*s->name));
		if (!s->name)
			return -ENOMEM;
		for (size_t k = 0; !err && k < s->nr; k++)
			err = name_target(x, &s->from->value[k], &s->name[k]);
		if (err)
			return err;
	}
	return image_cache_get(x->scope->images, &r->place->image, &r->im);
}

static int find_sites(struct values_report *r, struct explainer *x,
		      const struct explanation *ex, size_t limit)
{
	const struct explain_windows *windows;
	struct values v = { 0 };
	int err;

	err = selected_windows_image(x->windows, r->place->image.id, &windows);
	if (!err && windows)
		err = values_find(r->cfg, windows->weights, windows->image, &x->arena,
				  &v);
	if (!err) {
		r->site = calloc(v.nr + 1, sizeof(*r->site));
		err = r->site ? 0 : -ENOMEM;
	}
	for (size_t i = 0; !err && i < v.nr; i++) {
		struct values_site *s = &r->site[r->nr_sites++];

		s->from = &v.site[i];
		s->nr = s->from->nr < limit ? s->from->nr : limit;
		for (size_t k = s->nr; k < s->from->nr; k++)
			s->others += s->from->value[k].share.value;
		s->text = values_insn_text(x, ex, s->from->insn);
		err = s->text ? 0 : -ENOMEM;
	}
	return err;
}

/*
 * Executions in one window depend on each other. So the number of windows, not that of
 * executions, determines the width of the interval.
 */
static struct interval share_of(const struct values_access *a, uint64_t k, uint64_t n)
{
	const double windows = n ? (double)a->windows : 0;

	return interval_share(n ? (double)k / (double)n * windows : 0, windows);
}

static void set_shares(struct values_access *a)
{
	const struct accesses_insn *from = a->from;
	uint64_t all = 0, good = 0;

	a->windows = from->known - from->pairs;
	for (int i = 0; i < ACCESSES_ALIGNMENTS; i++) {
		if (!all && from->aligned[i])
			a->always = 1U << i;
		all += from->aligned[i];
		good += i >= from->size ? from->aligned[i] : 0;
	}
	for (int i = 0; i < ACCESSES_ALIGNMENTS; i++)
		a->alignment[i] = share_of(a, from->aligned[i], all);
	a->aligned = share_of(a, good, all);
	a->split = share_of(a, from->splits, from->known);
}

static int find_accesses(struct values_report *r, struct explainer *x,
			 const struct explanation *ex)
{
	const struct data_insn *const *data = ex->e->data;

	r->access = calloc((size_t)r->cfg->nr_insns + 1, sizeof(*r->access));
	if (!r->access)
		return -ENOMEM;
	for (int i = 0; data && i < r->cfg->nr_insns; i++) {
		struct values_access *a = &r->access[r->nr_accesses];

		if (!data[i] || !data[i]->from->known)
			continue;
		a->insn = i;
		a->from = data[i]->from;
		a->text = values_insn_text(x, ex, i);
		r->nr_accesses++;
		if (!a->text)
			return -ENOMEM;
		set_shares(a);
	}
	return 0;
}

void values_report_fini(struct values_report *r)
{
	values_operands_free(r->operand, r->nr_operands);
	for (size_t i = 0; i < r->nr_sites; i++) {
		struct values_site *s = &r->site[i];

		for (size_t k = 0; s->name && k < s->nr; k++) {
			free(s->name[k].procedure);
			free(s->name[k].image);
		}
		free(s->name);
		free(s->text);
	}
	for (size_t i = 0; i < r->nr_accesses; i++)
		free(r->access[i].text);
	free(r->site);
	free(r->access);
}

int values_report_make(struct explainer *x, const struct found_place *place,
		       size_t limit, struct values_report *r)
{
	const struct explanation *ex;
	int err;

	*r = (struct values_report){ .scope = x->scope, .place = place };
	err = explainer_require_windows(x, place, &ex);
	if (err)
		return err;
	r->cfg = ex->e->cfg;
	err = find_sites(r, x, ex, limit);
	if (!err)
		err = find_accesses(r, x, ex);
	if (!err)
		err = values_operands_find(x, ex, limit, &r->operand, &r->nr_operands);
	if (!err && !r->nr_sites && !r->nr_accesses && !r->nr_operands) {
		log_err("%s: no window shows an indirect jump or call, a run of an "
			"inner loop, or enough addresses of data in it: record for "
			"longer, or more of them with -w",
			place->name);
		err = -CPI_EEMPTY;
	}
	return err ? err : name_targets(r, x);
}
