/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * compiler_profile_check.c - the expected error of a compiler profile: cpi export
 * --check
 *
 * The error follows from the confidence in each block's frequency
 * (analysis/freq/freq.h), taken as the deviation of a log-normal number. More samples
 * only reduce the part of the error that is sampling error.
 */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "report/feedback/compiler_profile.h"

#define WANTED_MISS 0.1 /* tolerated share of work at wrong blocks */

struct compiler_profile_need compiler_profile_need(const struct compiler_profile *f)
{
	struct compiler_profile_need need = { 0, 0 };
	double work = 0, chance = 0;
	size_t nr;
	const struct compiler_profile_function *fn = compiler_profile_functions(f, &nr);

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

double compiler_profile_samples_missing(const struct compiler_profile_function *fn)
{
	const double worse = fn->chance / WANTED_MISS;

	return worse > 1 ? fn->samples * (worse * worse - 1) : 0;
}

double compiler_profile_gain(const struct compiler_profile_function *fn)
{
	return fn->work * fmax(0, fn->chance - WANTED_MISS);
}

bool compiler_profile_scale_known(const struct compiler_profile_function *fn)
{
	return freq_interval_known(&fn->range);
}

double compiler_profile_unknown(const struct compiler_profile *f)
{
	double work = 0, unknown = 0;
	size_t nr;
	const struct compiler_profile_function *fn = compiler_profile_functions(f, &nr);

	for (size_t i = 0; i < nr; i++) {
		work += fn[i].work;
		unknown += compiler_profile_scale_known(&fn[i]) ? 0 : fn[i].work;
	}
	return work > 0 ? unknown / work : 0;
}

static int by_gain(const void *va, const void *vb)
{
	const double a = compiler_profile_gain(va), b = compiler_profile_gain(vb);

	return (a < b) - (a > b);
}

int compiler_profile_check(const struct compiler_profile *f,
			   struct compiler_profile_check *out)
{
	struct compiler_profile_check c = { .fn = NULL };
	const struct compiler_profile_function *fn =
		compiler_profile_functions(f, &c.nr);

	c.fn = calloc(c.nr + 1, sizeof(*c.fn));
	if (!c.fn)
		return -ENOMEM;
	for (size_t i = 0; i < c.nr; i++)
		c.fn[i] = fn[i];
	qsort(c.fn, c.nr, sizeof(*c.fn), by_gain);
	for (size_t i = 0; i < c.nr; i++) {
		c.work += c.fn[i].work;
		c.miss += c.fn[i].work * c.fn[i].miss;
	}
	c.unknown = c.work * compiler_profile_unknown(f);
	*out = c;
	return 0;
}

void compiler_profile_check_fini(struct compiler_profile_check *c)
{
	free(c->fn);
}
