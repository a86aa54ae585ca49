/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compiler_profile_warn.c - warns of the problems of a compiler profile
 */
#include "config.h"

#include <math.h>

#include "base/err.h"
#include "base/log.h"
#include "report/feedback/compiler_profile.h"

#define MANY_LOST 0.05 /* share of work that causes a warning */

static void warn_debug(const struct compiler_profile *f, const char *name)
{
	const struct feedback_tally *t = feedback_tally(f->tree);

	if (t->no_function > MANY_LOST * t->all)
		log_warn("%s: %.0f %% of what ran has no debug information: compile "
			 "with -g or -gline-tables-only (clang: also with "
			 "-fdebug-info-for-profiling), or say with --debug-dir where "
			 "the debug files are",
			 name, 100 * t->no_function / t->all);
	if (t->no_start > MANY_LOST * t->all)
		log_warn("%s: %.0f %% of what ran is of functions whose first line is "
			 "not known: compile with -fdebug-info-for-profiling",
			 name, 100 * t->no_start / t->all);
	if (!f->plain && t->nr_mixed && !t->nr_discriminators)
		log_warn("%s: no line has a discriminator, so the blocks of one line "
			 "cannot be told apart: compile with "
			 "-fdebug-info-for-profiling",
			 name);
}

int compiler_profile_need_functions(const struct compiler_profile *f)
{
	if (f->nr_functions)
		return 0;
	log_err("%s: nothing that ran could be matched to a line of a function",
		f->build->image.desc.name);
	return -CPI_EEMPTY;
}

void compiler_profile_warn(const struct compiler_profile *f)
{
	const struct compiler_profile_need need = compiler_profile_need(f);
	const double unknown = compiler_profile_unknown(f);
	const char *name = f->build->image.desc.name;

	if (unknown > MANY_LOST)
		log_warn("%s: the scale of functions with %.0f %% of what ran is not "
			 "known to within a factor of %.0f: compare counts only within "
			 "each of them (cpi export --check names them)",
			 name, 100 * unknown, SCALE_KNOWN);
	if (!f->by_address) {
		warn_debug(f, name);
		compiler_profile_warn_sources(f);
	}
	if (need.missing > 0)
		log_warn("%s: %.0f samples are few: about %.0f more would tell how "
			 "often its parts ran (cpi export --check has more)",
			 name, need.samples, ceil(need.missing));
}
