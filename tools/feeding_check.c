/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * feeding_check.c - how good a profile for compilers is: cpi export --check
 *
 * What is expected to be right follows from the confidence in each block's frequency
 * (analysis/freq.h), taken as the deviation of a log-normal number. What more samples
 * would change is the part of it that is chance.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/feeding.h"
#include "tools/out.h"

#define WANTED_MISS  0.1   /* share of executions that may be elsewhere by chance */
#define USUAL_LIMIT  10    /* functions that are listed */
#define WORTH_NAMING 0.002 /* share of executions that a function would mend */

struct feeding_need feeding_need(const struct feeding *f)
{
	struct feeding_need need = { 0, 0 };
	double work = 0, chance = 0;
	size_t nr;
	const struct feeding_function *fn = feeding_functions(f, &nr);

	for (size_t i = 0; i < nr; i++) {
		need.samples += fn[i].samples;
		work += fn[i].work;
		chance += fn[i].work * fn[i].chance;
	}
	chance = work > 0 ? chance / work / WANTED_MISS : 0;
	if (chance > 1)
		need.missing = need.samples * (chance * chance - 1);
	return need;
}

/* Samples of its own with which chance leaves it as right as wanted. */
static double samples_missing(const struct feeding_function *fn)
{
	const double worse = fn->chance / WANTED_MISS;

	return worse > 1 ? fn->samples * (worse * worse - 1) : 0;
}

static double gain_of(const struct feeding_function *fn)
{
	return fn->work * fmax(0, fn->chance - WANTED_MISS);
}

static int by_gain(const void *va, const void *vb)
{
	const double a = gain_of(va), b = gain_of(vb);

	return (a < b) - (a > b);
}

static void report_builds(const struct feeding *f)
{
	for (size_t i = 0; i < f->nr_builds; i++) {
		const struct feeding_build *b = &f->build[i];

		out_line("%s: %.0f samples, %.1f %% of them in code that was analysed",
			 b->image.desc.name, b->samples,
			 b->samples > 0 ? 100 * b->explained / b->samples : 0);
	}
}

static void report_events(const struct feeding *f)
{
	if (f->nr_retired)
		out_line("functions estimated from samples of instructions: %d; of "
			 "their "
			 "blocks, other events correct %d sampled too often, %d too "
			 "seldom",
			 f->nr_retired, f->nr_over, f->nr_under);
}

static double percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static void report_lines(const struct feeding *f)
{
	const struct feedback_tally *t = feedback_tally(f->tree);
	const double lost = t->no_function + t->no_start + t->no_line;

	out_line("matched to lines of functions: %.1f %% of what ran",
		 percent(t->all - lost, t->all));
	if (t->no_function > 0)
		out_line("  of no known function: %.1f %%",
			 percent(t->no_function, t->all));
	if (t->no_start > 0)
		out_line("  of functions whose first line is not known: %.1f %%",
			 percent(t->no_start, t->all));
	if (t->no_line > 0)
		out_line("  without a line: %.1f %%", percent(t->no_line, t->all));
}

static void report_overlap(const struct feeding *f, const struct feeding_function *fn,
			   size_t nr)
{
	const struct feeding_need need = feeding_need(f);
	double work = 0, miss = 0;

	for (size_t i = 0; i < nr; i++) {
		work += fn[i].work;
		miss += fn[i].work * fn[i].miss;
	}
	out_line("expected overlap with exact counts, within functions: %.0f %%",
		 100 - percent(miss, work));
	if (need.missing > 0)
		out_line("samples still needed: about %.0f", ceil(need.missing));
	else
		out_line("samples still needed: none");
}

static void report_functions(const struct feeding *f, const struct feeding_function *fn,
			     size_t nr)
{
	const uint64_t limit = f->x->l->ctx->opt.limit;
	double work = 0;

	for (size_t i = 0; i < nr; i++)
		work += fn[i].work;
	for (size_t i = 0; i < nr && i < (limit ? limit : USUAL_LIMIT); i++) {
		if (gain_of(&fn[i]) < WORTH_NAMING * work)
			break;
		if (!i)
			out_line("more samples would help most:");
		out_line("  %s: %.1f %% of what ran, %.0f samples, %.0f more wanted",
			 fn[i].name, percent(fn[i].work, work), fn[i].samples,
			 ceil(samples_missing(&fn[i])));
	}
}

int feeding_report(const struct feeding *f)
{
	struct buf sorted = { 0 };
	size_t nr;

	buf_put(&sorted, f->functions.data, f->functions.len);
	if (sorted.err)
		return sorted.err;
	nr = sorted.len / sizeof(struct feeding_function);
	if (nr)
		qsort(sorted.data, nr, sizeof(struct feeding_function), by_gain);
	report_builds(f);
	report_events(f);
	report_lines(f);
	report_overlap(f, (struct feeding_function *)sorted.data, nr);
	report_functions(f, (struct feeding_function *)sorted.data, nr);
	buf_fini(&sorted);
	return 0;
}
