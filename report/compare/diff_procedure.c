/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diff_procedure.c - compares the stalls of a procedure in a fast and in a slow run, as
 *                    SOSP'97 section 3.3 does for smooth
 *
 * Each side is explained by itself, as cpi calc and cpi sum do. Only one explanation is
 * open at a time, so its figures are copied. If both sides have the same code, its
 * instructions are compared one by one. Otherwise they are matched by the longest
 * common subsequence of their operations.
 */
#include "config.h"

#include "report/compare/diff_procedure.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare/matrix.h"
#include "report/explain/calc.h"

#define MAX_MATCHED 4000 /* instructions of a side: the table takes 32 MB */

/* One instruction in one side's explanation. */
struct side_insn {
	uint64_t address, block;
	uint16_t opcode;
	double samples;
	struct freq_interval cpi, runs;
	bool too_fast; /* its block is */
	char *text;    /* owned */
};

/* What is kept of one side's explanation. */
struct side {
	char *name;
	struct buf insn; /* struct side_insn */
	struct summary_row row[SUMMARY_MAX_ROWS];
	size_t nr_rows;
	double samples;
	double scale; /* from samples to ms per second */
};

static struct side_insn *side_insns(const struct side *s, size_t *nr)
{
	*nr = s->insn.len / sizeof(struct side_insn);
	return (struct side_insn *)s->insn.data;
}

static int keep_insns(struct side *s, struct explainer *x, const struct explanation *ex)
{
	const struct explained *e = ex->e;
	struct buf text = { 0 };

	for (int b = 0; b < e->cfg->exit; b++) {
		const struct cfg_block *block = &e->cfg->block[b];

		for (int i = 0; i < block->nr_insns; i++) {
			const int at = block->first_insn + i;
			struct side_insn insn = {
				.address = e->cfg->insn[at].address,
				.block = block->start + e->cfg->bias,
				.opcode = e->cfg->insn[at].opcode,
				.samples = e->samples[at],
				.cpi = calc_insn_range(e, at),
				.runs = e->freq->block_range[b],
				.too_fast = calc_is_too_fast(e, b),
			};

			insn.text = strdup(explainer_text(x, ex, at, &text));
			buf_put(&s->insn, &insn, sizeof(insn));
		}
	}
	buf_fini(&text);
	return s->insn.err;
}

static int keep_explanation(struct side *s, struct explainer *x,
			    const struct explanation *ex)
{
	const struct scope *scope = explainer_scope(x);
	struct summary summary = { 0 };
	double seconds = 0;

	for (size_t i = 0; i < scope->sel.epochs.nr; i++)
		seconds += matrix_seconds(&scope->sel.epochs.epoch[i]);
	s->scale = scope->ev.weight[scope->first] / 1e6 / seconds;
	s->samples = ex->samples;
	summary_add(&summary, ex);
	s->nr_rows = summary_rows(&summary, s->row);
	if (asprintf(&s->name, "%s in %s", ex->symbol->name, ex->image->desc.name) < 0)
		s->name = NULL;
	return s->name ? keep_insns(s, x, ex) : -ENOMEM;
}

static int explain_side(struct side *s, const struct explain_request *req,
			const char *procedure)
{
	struct found_places found = { .first = NULL };
	struct explainer *x = NULL;
	const struct explanation *ex;
	int err = explainer_open(req, &x);

	if (!err)
		err = scope_needs_time(explainer_scope(x));
	if (!err)
		err = place_find(explainer_scope(x), procedure, &found);
	if (!err)
		err = explainer_require(x, found.chosen, &ex);
	if (!err)
		err = keep_explanation(s, x, ex);
	found_places_fini(&found);
	explainer_close(x);
	return err;
}

static void side_fini(struct side *s)
{
	size_t nr;
	struct side_insn *insn = side_insns(s, &nr);

	for (size_t i = 0; i < nr; i++)
		free(insn[i].text);
	buf_fini(&s->insn);
	free(s->name);
}

static bool is_same_code(const struct side *s)
{
	size_t nr, nr_other;
	const struct side_insn *a = side_insns(&s[0], &nr);
	const struct side_insn *b = side_insns(&s[1], &nr_other);

	for (size_t i = 0; i < nr && nr == nr_other; i++) {
		if (a[i].opcode != b[i].opcode)
			return false;
	}
	return nr == nr_other;
}

static struct diff_time make_time(double a, double b)
{
	return (struct diff_time){ { a, b }, b - a };
}

static void compare_stalls(struct diff_procedure *d, const struct side *s)
{
	d->nr_stalls = s[0].nr_rows;
	for (size_t i = 0; i < d->nr_stalls; i++) {
		const struct summary_row *row[] = { &s[0].row[i], &s[1].row[i] };
		struct diff_stall *stall = &d->stall[i];

		stall->group = summary_group_name(row[0]->group);
		stall->key = row[0]->key;
		stall->text = row[0]->text;
		stall->time = make_time(row[0]->samples * s[0].scale,
					row[1]->samples * s[1].scale);
		stall->is_small =
			fabs(row[0]->samples) < 0.5 && fabs(row[1]->samples) < 0.5;
		for (int k = 0; k < 2; k++) {
			stall->percent[k] = 100 * row[k]->samples / s[k].samples;
			stall->least[k] = 100 * row[k]->range.least / s[k].samples;
			stall->most[k] = 100 * row[k]->range.most / s[k].samples;
		}
	}
}

/* The time of the block whose first instruction this is. */
static double block_time(const struct side *s, size_t first)
{
	double time = 0;
	size_t nr;
	const struct side_insn *insn = side_insns(s, &nr);

	for (size_t i = first; i < nr && insn[i].block == insn[first].block; i++)
		time += insn[i].samples * s->scale;
	return time;
}

/* Takes row (index in the list of a side, or -1) of each side into d. */
static void take_insn(struct diff_procedure *d, struct side *s, const ptrdiff_t row[2])
{
	const struct freq_interval unknown = { NAN, NAN, NAN };
	struct diff_insn *out = &d->insn[d->nr_insns++];
	double time[2] = { NAN, NAN };
	size_t nr;

	*out = (struct diff_insn){ .cpi = { unknown, unknown },
				   .runs = { unknown, unknown } };
	for (int k = 1; k >= 0; k--) {
		struct side_insn *insn;

		if (row[k] < 0)
			continue;
		insn = &side_insns(&s[k], &nr)[row[k]];
		out->in[k] = true;
		out->address = insn->address;
		out->block = insn->block;
		if (k)
			out->b_address = insn->address;
		time[k] = insn->samples * s[k].scale;
		out->cpi[k] = insn->cpi;
		out->runs[k] = insn->runs;
		out->too_fast[k] = insn->too_fast;
		free(out->text);
		out->text = insn->text;
		insn->text = NULL; /* d's now */
	}
	out->time = (struct diff_time){ { time[0], time[1] },
					(out->in[1] ? time[1] : 0) -
						(out->in[0] ? time[0] : 0) };
}

static int compare_same(struct diff_procedure *d, struct side *s)
{
	const struct side_insn *a;
	size_t nr;

	a = side_insns(&s[0], &nr);
	d->insn = calloc(nr + 1, sizeof(*d->insn));
	d->block = calloc(nr + 1, sizeof(*d->block));
	if (!d->insn || !d->block)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		if (!i || a[i].block != a[i - 1].block)
			d->block[d->nr_blocks++] = (struct diff_block){
				i, make_time(block_time(&s[0], i), block_time(&s[1], i))
			};
		take_insn(d, s, (ptrdiff_t[]){ (ptrdiff_t)i, (ptrdiff_t)i });
	}
	return 0;
}

/* How well two instructions fit: 0 not at all. Operands tell equal operations apart. */
static unsigned int likeness(const struct side_insn *a, const struct side_insn *b)
{
	if (a->opcode != b->opcode)
		return 0;
	return a->text && b->text && !strcmp(a->text, b->text) ? 3 : 2;
}

/*
 * Sets best[i * (nr_b + 1) + j] to the largest sum of likeness that the instructions
 * from i of a and from j of b on can have. The table has (nr_a + 1) * (nr_b + 1)
 * elements. Its last row and last column are 0.
 */
static void fill_best(const struct side_insn *a, size_t nr_a, const struct side_insn *b,
		      size_t nr_b, uint16_t *best)
{
	const size_t wide = nr_b + 1;

	for (size_t i = nr_a; i-- > 0;) {
		for (size_t j = nr_b; j-- > 0;) {
			const unsigned int like = likeness(&a[i], &b[j]);
			unsigned int most = best[(i + 1) * wide + j];

			if (best[i * wide + j + 1] > most)
				most = best[i * wide + j + 1];
			if (like && best[(i + 1) * wide + j + 1] + like > most)
				most = best[(i + 1) * wide + j + 1] + like;
			best[i * wide + j] = (uint16_t)most;
		}
	}
}

/* Walks along the best pairs, in the order of both sides. */
static void take_best(struct diff_procedure *d, struct side *s, const uint16_t *best)
{
	size_t nr_a, nr_b, i = 0, j = 0;
	const struct side_insn *a = side_insns(&s[0], &nr_a),
			       *b = side_insns(&s[1], &nr_b);
	const size_t wide = nr_b + 1;

	while (i < nr_a || j < nr_b) {
		const unsigned int like =
			i < nr_a && j < nr_b ? likeness(&a[i], &b[j]) : 0;
		ptrdiff_t row[2] = { -1, -1 };

		if (like && best[i * wide + j] == best[(i + 1) * wide + j + 1] + like) {
			row[0] = (ptrdiff_t)i++;
			row[1] = (ptrdiff_t)j++;
		} else if (j == nr_b ||
			   (i < nr_a &&
			    best[i * wide + j] == best[(i + 1) * wide + j])) {
			row[0] = (ptrdiff_t)i++;
		} else {
			row[1] = (ptrdiff_t)j++;
		}
		take_insn(d, s, row);
	}
}

/* Matches the instructions of two builds: the longest common subsequence. */
static int compare_rebuilt(struct diff_procedure *d, struct side *s)
{
	size_t nr_a, nr_b;
	const struct side_insn *a = side_insns(&s[0], &nr_a),
			       *b = side_insns(&s[1], &nr_b);
	uint16_t *best;

	if (nr_a > MAX_MATCHED || nr_b > MAX_MATCHED)
		return 0;
	best = calloc((nr_a + 1) * (nr_b + 1), sizeof(*best));
	d->insn = calloc(nr_a + nr_b + 1, sizeof(*d->insn));
	if (!best || !d->insn) {
		free(best);
		return -ENOMEM;
	}
	fill_best(a, nr_a, b, nr_b, best);
	take_best(d, s, best);
	free(best);
	d->is_matched = true;
	return 0;
}

static int compare_insns(struct diff_procedure *d, struct side *s)
{
	d->same_code = is_same_code(s);
	return d->same_code ? compare_same(d, s) : compare_rebuilt(d, s);
}

static int compare_sides(struct diff_procedure *d, struct side *s)
{
	for (int k = 0; k < 2; k++) {
		d->samples[k] = s[k].samples;
		d->time[k] = s[k].samples * s[k].scale;
	}
	d->name = s[0].name;
	s[0].name = NULL; /* d's now */
	compare_stalls(d, s);
	return compare_insns(d, s);
}

int diff_procedure_open(const struct select_request *select, const char *a,
			const char *b, const char *procedure, struct diff_procedure *d)
{
	struct explain_request req = { .select = *select };
	struct side side[2] = { 0 };
	int err = 0;

	*d = (struct diff_procedure){ .spec = { a, b } };
	for (int k = 0; k < 2 && !err; k++) {
		req.select.epoch = d->spec[k];
		err = explain_side(&side[k], &req, procedure);
	}
	if (!err)
		err = compare_sides(d, side);
	if (err)
		diff_procedure_close(d);
	side_fini(&side[0]);
	side_fini(&side[1]);
	return err;
}

void diff_procedure_close(struct diff_procedure *d)
{
	for (size_t i = 0; i < d->nr_insns; i++)
		free(d->insn[i].text);
	free(d->insn);
	free(d->block);
	free(d->name);
}
