/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_judge.c - finds the verdicts of findings, from the samples of their instructions
 *                and of their callers
 *
 * Each side is explained by itself, one image at a time, as by cpi calc. This also
 * gives the classes of the instructions. Callers are procedures of the same image that
 * have samples and a direct call of the finding.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare/diff.h"
#include "report/explain/explainer.h"

/* Only this many findings are judged: the first ones. */
#define MAX_JUDGED 20

/* An instruction of a finding, on one side. */
struct finding_insn {
	uint16_t opcode;
	int class;
	double samples;
	double steady; /* blamed samples, if nothing it may wait for varies; else 0 */
};

/* A finding on one side. */
struct judged_side {
	const struct matrix_place *place;
	bool explained;
	uint64_t address;           /* the target of calls of the finding */
	struct buf insn;            /* struct finding_insn */
	double calls;               /* samples of the classes that call it */
	struct freq_interval *runs; /* executions, by class; owned */
	int nr_classes;
};

/* The findings of one image. */
struct image_findings {
	struct judged_side *finding;
	size_t nr;
	struct explainer *x;
	struct image *im;
};

/* The kinds of instructions that may wait in one run and not in another. */
#define VARYING                                                                       \
	(INSN_LOAD | INSN_STORE | INSN_JUMP | INSN_CALL | INSN_RETURN | INSN_ATOMIC | \
	 INSN_FENCE | INSN_PREFETCH | INSN_REPEAT | INSN_SYSCALL | INSN_BAD)

static bool reads_any(const struct insn *insn, const struct isa_registers *set)
{
	return (insn->reads.bit[0] & set->bit[0]) || (insn->reads.bit[1] & set->bit[1]);
}

/* Updates the set of registers whose value comes straight from memory or a call. */
static void follow(const struct insn *insn, struct isa_registers *loaded)
{
	for (int i = 0; i < 2; i++) {
		if (insn->kind & (INSN_LOAD | INSN_CALL))
			loaded->bit[i] |= insn->writes.bit[i];
		else
			loaded->bit[i] &= ~insn->writes.bit[i];
	}
}

/*
 * Whether the block's instruction i is steady: it waits neither for memory nor for a
 * register that was loaded. The first instruction is not, because the wait after a
 * mispredicted jump shows there.
 */
static bool is_steady(const struct cfg *cfg, const struct cfg_block *block, int i)
{
	const struct insn *insn = &cfg->insn[block->first_insn];
	struct isa_registers loaded = { { 0, 0 } };

	if (!i || insn[i].kind & VARYING)
		return false;
	for (int k = 0; k < block->nr_insns; k++) /* from the previous iteration */
		follow(&insn[k], &loaded);
	for (int k = 0; k < i; k++)
		follow(&insn[k], &loaded);
	return !reads_any(&insn[i], &loaded);
}

static int keep_runs(struct judged_side *p, const struct explained *e)
{
	p->nr_classes = e->freq->nr_classes;
	p->runs = calloc(p->nr_classes + 1, sizeof(*p->runs));
	for (int b = 0; b < e->cfg->exit && p->runs; b++)
		p->runs[e->freq->class[b]] = e->freq->block_range[b];
	return p->runs ? 0 : -ENOMEM;
}

static int explain_finding(struct image_findings *s, struct judged_side *p)
{
	const struct symbol *symbol = image_symbol_at(s->im, p->place->start);
	struct explained *e;
	int err;

	if (!symbol || symbol->start != p->place->start)
		return 0;
	err = explainer_explain(s->x, s->im, symbol, &e);
	if (err)
		return err == -ENOMEM ? err : 0;
	p->explained = true;
	p->address = image_address(s->im, symbol->start);
	for (int b = 0; b < e->cfg->exit; b++) {
		const struct cfg_block *block = &e->cfg->block[b];

		for (int i = 0; i < block->nr_insns; i++) {
			const int at = block->first_insn + i;
			const struct finding_insn insn = {
				.opcode = e->cfg->insn[at].opcode,
				.class = e->freq->class[b],
				.samples = e->samples[at],
				.steady =
					is_steady(e->cfg, block, i) ? e->blamed[at] : 0,
			};

			buf_put(&p->insn, &insn, sizeof(insn));
		}
	}
	return p->insn.err ? p->insn.err : keep_runs(p, e);
}

static double class_samples(const struct explained *e, int class)
{
	double sum = 0;

	for (int b = 0; b < e->cfg->exit; b++) {
		const struct cfg_block *block = &e->cfg->block[b];

		for (int i = 0; i < block->nr_insns && e->freq->class[b] == class; i++)
			sum += e->samples[block->first_insn + i];
	}
	return sum;
}

static bool block_calls(const struct explained *e, const struct cfg_block *block,
			uint64_t address)
{
	for (int i = 0; i < block->nr_insns; i++) {
		const struct insn *insn = &e->cfg->insn[block->first_insn + i];

		if (insn->target == address && insn->kind & (INSN_CALL | INSN_JUMP))
			return true;
	}
	return false;
}

/* Adds the samples of the classes that call a finding; each class counts once. */
static int add_calls(struct image_findings *s, const struct explained *e,
		     uint64_t caller)
{
	bool *seen = calloc(e->freq->nr_classes + 1, sizeof(*seen));

	if (!seen)
		return -ENOMEM;
	for (size_t k = 0; k < s->nr; k++) {
		struct judged_side *p = &s->finding[k];

		memset(seen, 0, e->freq->nr_classes * sizeof(*seen));
		for (int b = 0; b < e->cfg->exit; b++) {
			const int class = e->freq->class[b];

			if (!p->explained || p->address == caller || seen[class] ||
			    !block_calls(e, &e->cfg->block[b], p->address))
				continue;
			seen[class] = true;
			p->calls += class_samples(e, class);
		}
	}
	free(seen);
	return 0;
}

/* Whether the code calls any finding. Only decodes it, and builds no graph. */
static bool calls_any(const struct image_findings *s, const struct symbol *symbol)
{
	const uint64_t size = symbol->end - symbol->start;
	uint8_t *code = size <= CFG_MAX_INSNS ? malloc(size + 1) : NULL;
	const bool known = code && explainer_isa(s->x) &&
			   !image_read(s->im, symbol->start, code, size);
	bool found = false;
	struct insn insn;

	for (uint64_t at = 0; known && !found && at < size; at += insn.size) {
		if (isa_decode(explainer_isa(s->x), code + at, size - at,
			       image_address(s->im, symbol->start + at), &insn))
			break;
		for (size_t k = 0; k < s->nr; k++)
			found |= insn.target && s->finding[k].explained &&
				 insn.target == s->finding[k].address;
	}
	free(code);
	return found;
}

/* Explains each procedure of one stream that calls a finding. */
static int add_callers(struct image_findings *s, struct profile *profile)
{
	const struct symbol *symbol = NULL, *next;
	struct explained *e;
	size_t nr = 0;
	const struct count *c = profile_sorted(profile, &nr);
	struct count *copy = calloc(nr + 1, sizeof(*copy));
	int err = copy ? 0 : -ENOMEM;

	for (size_t i = 0; i < nr && copy; i++)
		copy[i] = c[i];
	for (size_t i = 0; i < nr && !err; i++) {
		next = image_symbol_at(s->im, copy[i].offset);
		if (!next || next == symbol)
			continue;
		symbol = next;
		if (!calls_any(s, symbol))
			continue;
		err = explainer_explain(s->x, s->im, symbol, &e);
		if (!err)
			err = add_calls(s, e, image_address(s->im, symbol->start));
		err = err == -ENOMEM ? err : 0;
	}
	free(copy);
	return err;
}

static int explain_image(struct image_findings *s, int64_t image)
{
	const struct scope *scope = explainer_scope(s->x);
	struct profile *p;
	int err = scope_needs_time(scope);

	if (!err)
		err = explainer_load_image(s->x, image, &s->im);
	if (err || !s->im)
		return err;
	for (size_t k = 0; k < s->nr && !err; k++)
		err = explain_finding(s, &s->finding[k]);
	p = explainer_profile(s->x, scope->first);
	return err || !p ? err : add_callers(s, p);
}

int diff_put_pattern(const char *name, struct buf *out)
{
	for (; *name; name++) {
		if (strchr("*?[\\", *name))
			buf_putc(out, '\\');
		buf_putc(out, *name);
	}
	buf_str(out);
	return out->err;
}

/* Explains all findings of an image, on one side. */
static int open_image(const struct diff *d, int side, const char *name, int64_t image,
		      struct judged_side *finding, size_t nr)
{
	struct explain_request req = { .select = d->req->select };
	struct image_findings s = { .x = NULL };
	struct buf glob = { 0 };
	int err = diff_put_pattern(name, &glob);

	s.finding = calloc(nr, sizeof(*s.finding));
	if (!s.finding)
		err = -ENOMEM;
	for (size_t k = 0; k < nr && !err; k++) {
		if (finding[k].place && finding[k].place->image == image)
			s.finding[s.nr++] = finding[k];
	}
	req.select.epoch = d->spec[side];
	req.select.image = glob.data;
	if (!err)
		err = explainer_open(&req, &s.x);
	if (!err)
		err = explain_image(&s, image);
	if (err && err != -ENOMEM)
		err = -ECANCELED;
	explainer_close(s.x);
	for (size_t k = 0, at = 0; k < nr && s.nr; k++) {
		if (finding[k].place && finding[k].place->image == image)
			finding[k] = s.finding[at++];
	}
	free(s.finding);
	buf_fini(&glob);
	return err;
}

/* Explains each image of the findings once. */
static int explain_side(const struct diff *d, int side, struct judged_side *finding,
			size_t nr)
{
	int err = 0;

	for (size_t k = 0; k < nr && !err; k++) {
		const struct diff_row *r = &d->row[k];
		bool done = !finding[k].place;

		for (size_t i = 0; i < k && !done; i++)
			done = finding[i].place &&
			       finding[i].place->image == finding[k].place->image;
		if (!done)
			err = open_image(d, side, r->row->image,
					 finding[k].place->image, finding, nr);
	}
	return err;
}

static double sum_of(const struct judged_side *p)
{
	const struct finding_insn *insn = (const struct finding_insn *)p->insn.data;
	double sum = 0;

	for (size_t i = 0; i < p->insn.len / sizeof(*insn); i++)
		sum += insn[i].samples;
	return sum;
}

/* Whether both have the same code, instruction by instruction. */
static bool is_same_code(const struct judged_side *a, const struct judged_side *b)
{
	const struct finding_insn *x = (const struct finding_insn *)a->insn.data;
	const struct finding_insn *y = (const struct finding_insn *)b->insn.data;

	if (!a->explained || !b->explained || a->insn.len != b->insn.len)
		return false;
	for (size_t i = 0; i < a->insn.len / sizeof(*x); i++) {
		if (x[i].opcode != y[i].opcode)
			return false;
	}
	return true;
}

/* Finds the class with the largest sum of its shares on both sides. */
static int main_class(const struct judged_side *a, const struct judged_side *b)
{
	const struct judged_side *side[] = { a, b };
	double *time = calloc(a->nr_classes + 1, sizeof(*time));
	int class = 0;

	if (!time)
		return -ENOMEM;
	for (int k = 0; k < 2; k++) {
		const struct finding_insn *insn =
			(const struct finding_insn *)side[k]->insn.data;
		const double all = sum_of(side[k]);

		for (size_t i = 0; i < side[k]->insn.len / sizeof(*insn); i++) {
			if (insn[i].class < a->nr_classes && all > 0)
				time[insn[i].class] += insn[i].samples / all;
		}
	}
	for (int i = 0; i < a->nr_classes; i++)
		class = time[i] > time[class] ? i : class;
	free(time);
	return class;
}

/* Takes over the executions of the main class on both sides. */
static int take_runs(struct shape_input *in, const struct judged_side *a,
		     const struct judged_side *b)
{
	const int class = main_class(a, b);

	if (class < 0)
		return class;
	if (class < a->nr_classes && class < b->nr_classes) {
		in->runs_a = a->runs[class];
		in->runs_b = b->runs[class];
	}
	return 0;
}

static int judge_row(struct diff_row *r, const struct judged_side *a,
		     const struct judged_side *b)
{
	const struct finding_insn *x = (const struct finding_insn *)a->insn.data;
	const struct finding_insn *y = (const struct finding_insn *)b->insn.data;
	struct shape_input in = { .nr = a->insn.len / sizeof(*x) };
	struct shape_insn *insn;
	int err;

	if (!is_same_code(a, b) || !(sum_of(a) > 0))
		return 0;
	insn = calloc(in.nr + 1, sizeof(*insn));
	if (!insn)
		return -ENOMEM;
	for (size_t i = 0; i < in.nr; i++)
		insn[i] = (struct shape_insn){ x[i].samples, y[i].samples, x[i].class,
					       x[i].steady, y[i].steady };
	in.insn = insn;
	in.size = sum_of(b) / sum_of(a) / exp(r->compared->change);
	in.time_size = r->time[1] / r->time[0] / exp(r->compared->change);
	in.calls_a = a->calls;
	in.calls_b = b->calls;
	err = take_runs(&in, a, b);
	if (!err)
		err = shape_judge(&in, &r->verdict);
	free(insn);
	return err;
}

static size_t nr_judged(const struct diff *d)
{
	size_t nr = 0;

	while (nr < MAX_JUDGED && nr < d->nr_rows && d->row[nr].compared->found)
		nr++;
	/* Only samples of time tell what ran slower. */
	return d->req->by == BY_PROCEDURE && d->ev[0].event[0].is_time ? nr : 0;
}

static const struct matrix_place *place_of(const struct diff_row *r, int side)
{
	const struct matrix_row *row = side && r->other ? r->other : r->row;
	const struct matrix_place *place = &row->place[side];

	return place->image && place->end ? place : NULL;
}

int diff_judge(struct diff *d)
{
	struct judged_side finding[2][MAX_JUDGED] = { 0 };
	const size_t nr = nr_judged(d);
	int err = 0;

	for (size_t k = 0; k < nr; k++) {
		for (int side = 0; side < 2; side++)
			finding[side][k].place = place_of(&d->row[k], side);
	}
	for (int side = 0; side < 2 && !err; side++)
		err = explain_side(d, side, finding[side], nr);
	for (size_t k = 0; k < nr && !err; k++)
		err = judge_row(&d->row[k], &finding[0][k], &finding[1][k]);
	for (size_t k = 0; k < nr; k++) {
		for (int side = 0; side < 2; side++) {
			buf_fini(&finding[side][k].insn);
			free(finding[side][k].runs);
		}
	}
	return err;
}
