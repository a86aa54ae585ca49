/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * summary.c - adds up explanations to rows of cycles by reason
 *
 * All selections have the same rows in the same order, so cpi stats and cpi diff can
 * compare them by index. Samples without an explanation have rows as well.
 */
#include "config.h"

#include "report/explain/summary.h"

#include <math.h>
#include <string.h>

#include "base/err.h"

#define MAX_ERROR 0.2

static const struct {
	enum explain_state state;
	const char *key, *text;
} not_explained[] = {
	{ EXPLAIN_DEFERRED, "deferred", "Kernel (not analysed)" },
	{ EXPLAIN_NO_CODE, "no_code", "Code not available" },
	{ EXPLAIN_NO_PROCEDURE, "no_procedure", "Outside any procedure" },
	{ EXPLAIN_NO_IMAGE, "no_image", "Image not available" },
};

const char *summary_group_name(enum summary_group group)
{
	static const char *const names[] = { "dynamic", "static", "execution", "error",
					     "not_tallied" };

	return names[group];
}

static bool is_sampled(const struct explained *e, const struct cfg_block *block)
{
	for (int i = 0; i < block->nr_insns; i++) {
		if (e->blamed[block->first_insn + i] > 0)
			return true;
	}
	return false;
}

/*
 * Adds executed instructions and their best-case cycles, for blocks with samples only.
 * These blocks have all of the time. Many others may have run, but no sample shows it.
 */
static void add_cycles(struct summary *s, const struct explained *e)
{
	for (int b = 0; b < e->cfg->exit; b++) {
		const struct cfg_block *block = &e->cfg->block[b];
		const double f = e->freq->block[b];

		if (!isfinite(f) || !is_sampled(e, block))
			continue;
		s->instructions += f * block->nr_insns;
		s->best += f * e->block_cycles[b];
		s->range.low += e->freq->block_range[b].low * block->nr_insns;
		s->range.high += e->freq->block_range[b].high * block->nr_insns;
	}
	s->actual += e->blame->summary.tallied * e->period_cycles;
}

static bool has_enough(void *ctx, const struct query_image *image,
		       const struct symbol *symbol, double samples)
{
	struct summary *s = ctx;

	(void)image;
	(void)symbol;
	if (samples < SUMMARY_LEAST)
		s->busiest = fmax(s->busiest, samples);
	return samples >= SUMMARY_LEAST;
}

/* The next number with one digit that is not 0. */
static double round_up(double n)
{
	const double unit = pow(10, floor(log10(n)));

	return ceil(n / unit) * unit;
}

/* Sampling errors shrink with the root of the number of samples. */
double summary_needed(const struct summary *s)
{
	const double all = summary_samples(s);
	const double error =
		s->blame.tallied > 0 ? fabs(s->blame.error) / s->blame.tallied : 0;

	if (error > MAX_ERROR)
		return round_up(all * (error / MAX_ERROR) * (error / MAX_ERROR));
	if (!(s->blame.tallied > 0) && s->left[EXPLAIN_FEW_SAMPLES] > 0)
		return round_up(all * SUMMARY_LEAST / s->busiest);
	return 0;
}

void summary_add(struct summary *s, const struct explanation *ex)
{
	if (ex->state != EXPLAIN_DONE) {
		s->left[ex->state] += ex->samples;
		return;
	}
	blame_summary_add(&s->blame, &ex->e->blame->summary);
	add_cycles(s, ex->e);
	s->stray += ex->stray;
	s->nr_procedures++;
	s->nr_bytes += ex->symbol->end - ex->symbol->start;
}

static void add_sum(struct summary *s, const struct summary *part)
{
	blame_summary_add(&s->blame, &part->blame);
	s->nr_procedures += part->nr_procedures;
	s->nr_bytes += part->nr_bytes;
	s->instructions += part->instructions;
	s->best += part->best;
	s->actual += part->actual;
	s->range.low += part->range.low;
	s->range.high += part->range.high;
	s->stray += part->stray;
	for (int i = 0; i < EXPLAIN_NR_STATES; i++)
		s->left[i] += part->left[i];
	s->busiest = fmax(s->busiest, part->busiest);
}

/* Of one image, and of all. has_enough() gets the former. */
struct summing_up {
	struct summary part, *all;
};

static int add_part(void *ctx, const struct explanation *ex)
{
	struct summing_up *s = ctx;

	summary_add(&s->part, ex);
	return 0;
}

static int put_part(void *ctx, struct buf *out)
{
	struct summing_up *s = ctx;

	buf_put(out, &s->part, sizeof(s->part));
	s->part = (struct summary){ 0 };
	return out->err;
}

static int take_part(void *ctx, const uint8_t *data, size_t size)
{
	struct summing_up *s = ctx;
	struct summary part;

	if (size != sizeof(part))
		return -CPI_ECORRUPT;
	memcpy(&part, data, sizeof(part));
	add_sum(s->all, &part);
	return 0;
}

static int explain(struct summing_up *s, struct explainer *x)
{
	static const struct explain_parts parts = { add_part, put_part, take_part,
						    false };

	return explainer_each_part(x, &parts, s);
}

int summary_explain(struct summary *s, struct explainer *x)
{
	struct summing_up up = { .all = s };

	return explain(&up, x);
}

int summary_all(struct summary *s, struct explainer *x)
{
	struct summing_up up = { .all = s };

	s->has_few = true;
	explainer_leave_out(x, has_enough, &up.part, true);
	return explain(&up, x);
}

/* The errors of all blocks may have the same sign, so the ends are simply added. */
struct freq_interval summary_instructions(const struct summary *s)
{
	return (struct freq_interval){ s->range.low, s->instructions, s->range.high };
}

/*
 * The low end is not below the best case, computed with the likely executions of the
 * blocks.
 */
struct freq_interval summary_cycles(const struct summary *s)
{
	const struct freq_interval n = summary_instructions(s);
	struct freq_interval r =
		freq_interval_cycles(&n, s->blame.tallied,
				     s->blame.tallied > 0 ? s->actual / s->blame.tallied
							  : NAN);

	if (r.low < s->best / s->instructions)
		r.low = fmin(s->best / s->instructions, r.likely);
	return r;
}

double summary_samples(const struct summary *s)
{
	double all = s->blame.samples + s->stray + s->unknown;

	for (int i = 0; i < EXPLAIN_NR_STATES; i++)
		all += s->left[i];
	return all;
}

static double add_reasons(const struct summary *s, struct summary_row *out, size_t *nr,
			  enum blame_reason from, enum blame_reason to,
			  enum summary_group group)
{
	double sum = 0;

	for (enum blame_reason r = from; r < to; r++) {
		out[(*nr)++] =
			(struct summary_row){ group, blame_name(r), blame_text(r),
					      s->blame.by_first[r],
					      s->blame.reason[r] };
		sum += s->blame.by_first[r];
	}
	return sum;
}

static void add_row(struct summary_row *out, size_t *nr, enum summary_group group,
		    const char *key, const char *text, double samples)
{
	out[(*nr)++] =
		(struct summary_row){ group, key, text, samples, { samples, samples } };
}

size_t summary_rows(const struct summary *s, struct summary_row out[SUMMARY_MAX_ROWS])
{
	const struct blame_summary *b = &s->blame;
	double sum = b->execution - b->gain;
	size_t nr = 0;

	sum += add_reasons(s, out, &nr, 0, BLAME_NR_DYNAMIC, SUMMARY_DYNAMIC);
	add_row(out, &nr, SUMMARY_DYNAMIC, "gain", "Unexplained gain", -b->gain);
	sum += add_reasons(s, out, &nr, BLAME_NR_DYNAMIC, BLAME_NR_REASONS,
			   SUMMARY_STATIC);
	add_row(out, &nr, SUMMARY_EXECUTION, "execution", "Execution", b->execution);
	add_row(out, &nr, SUMMARY_ERROR, "error", "Net sampling error",
		b->tallied - sum);
	add_row(out, &nr, SUMMARY_NOT_TALLIED, "no_frequency", "Frequency not known",
		b->outside);
	for (size_t i = 0; i < sizeof(not_explained) / sizeof(not_explained[0]); i++)
		add_row(out, &nr, SUMMARY_NOT_TALLIED, not_explained[i].key,
			not_explained[i].text, s->left[not_explained[i].state]);
	if (s->has_few)
		add_row(out, &nr, SUMMARY_NOT_TALLIED, "few_samples", "Few samples",
			s->left[EXPLAIN_FEW_SAMPLES]);
	add_row(out, &nr, SUMMARY_NOT_TALLIED, "no_instruction", "At no instruction",
		s->stray);
	add_row(out, &nr, SUMMARY_NOT_TALLIED, "unknown", "Unknown image", s->unknown);
	return nr;
}
