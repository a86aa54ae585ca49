/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compiler_profile_print.c - how good a profile for compilers is, in words
 */
#include "config.h"

#include "tools/write/compiler_profile_print.h"

#include <math.h>
#include <stdlib.h>

#include "tools/ui/out.h"
#include "tools/write/explain.h"

#define USUAL_LIMIT  10    /* functions that are listed */
#define WORTH_NAMING 0.002 /* share of executions that a function would mend */

static void report_builds(const struct compiler_profile *f)
{
	for (size_t i = 0; i < f->nr_builds; i++) {
		const struct compiler_profile_build *b = &f->build[i];

		out_line("%s: %.0f samples, %.1f %% of them in code that was analysed",
			 b->image.desc.name, b->samples,
			 b->samples > 0 ? 100 * b->explained / b->samples : 0);
	}
}

static void report_events(const struct compiler_profile *f)
{
	if (f->nr_retired)
		out_line("functions estimated from samples of instructions: %d",
			 f->nr_retired);
}

static double percent(double part, double all)
{
	return all > 0 ? 100 * part / all : 0;
}

static void report_lines(const struct compiler_profile *f)
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

static void report_overlap(const struct compiler_profile *f,
			   const struct compiler_profile_check *c)
{
	const struct compiler_profile_need need = compiler_profile_need(f);

	out_line("expected overlap with exact counts, within functions: %.0f %%",
		 100 - percent(c->miss, c->work));
	if (need.missing > 0)
		out_line("samples still needed: about %.0f", ceil(need.missing));
	else
		out_line("samples still needed: none");
}

static int by_work(const void *va, const void *vb)
{
	const struct compiler_profile_function *a = va, *b = vb;

	return (a->work < b->work) - (a->work > b->work);
}

/*
 * Lists functions whose scale is not known, so their counts cannot be compared with
 * other functions'.
 */
static void report_scales(struct compiler_profile_check *c, uint64_t limit)
{
	char text[INTERVAL_TEXT_SIZE];
	uint64_t shown = 0;

	out_line("functions whose scale is known: %.0f %% of what ran",
		 fmax(0, 100 - percent(c->unknown, c->work)));
	qsort(c->fn, c->nr, sizeof(*c->fn), by_work);
	for (size_t i = 0; i < c->nr; i++) {
		const struct compiler_profile_function *fn = &c->fn[i];

		if (shown == (limit ? limit : USUAL_LIMIT) ||
		    fn->work < WORTH_NAMING * c->work)
			break;
		if (compiler_profile_scale_known(fn))
			continue;
		if (!shown++)
			out_line("functions whose counts compare only within each of "
				 "them:");
		out_line("  %s: %s instructions", fn->name,
			 interval_text_count(&fn->range, text));
	}
}

static void report_functions(const struct compiler_profile_check *c, uint64_t limit)
{
	for (size_t i = 0; i < c->nr && i < (limit ? limit : USUAL_LIMIT); i++) {
		const struct compiler_profile_function *fn = &c->fn[i];

		if (compiler_profile_gain(fn) < WORTH_NAMING * c->work)
			break;
		if (!i)
			out_line("more samples would help most:");
		out_line("  %s: %.1f %% of what ran, %.0f samples, %.0f more wanted",
			 fn->name, percent(fn->work, c->work), fn->samples,
			 ceil(compiler_profile_samples_missing(fn)));
	}
}

int compiler_profile_print_check(const struct compiler_profile *f, uint64_t limit)
{
	struct compiler_profile_check c;
	int err = compiler_profile_check(f, &c);

	if (err)
		return err;
	report_builds(f);
	report_events(f);
	report_lines(f);
	report_overlap(f, &c);
	report_functions(&c, limit);
	report_scales(&c, limit);
	compiler_profile_check_fini(&c);
	return 0;
}
