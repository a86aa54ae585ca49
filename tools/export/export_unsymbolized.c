/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_unsymbolized.c - counts by address, for llvm-profgen --unsymbolized-profile
 *
 *	number of ranges
 *	first-last:count
 *	number of branches
 *	from->to:count
 *
 * Addresses are link-time ones, in hexadecimal; 0 is elsewhere.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/export/export.h"

int export_llvm_unsymbolized(const struct compiler_profile *f)
{
	const struct traffic_jump *jump;
	const struct traffic_run *run;
	struct image *im = f->im;
	size_t nr;

	run = traffic_runs(f->traffic, &nr);
	printf("%zu\n", nr);
	for (size_t i = 0; i < nr; i++)
		printf("%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n",
		       image_address(im, run[i].first), image_address(im, run[i].last),
		       feedback_count(run[i].n, f->scale));
	jump = traffic_jumps(f->traffic, &nr);
	printf("%zu\n", nr);
	for (size_t i = 0; i < nr; i++)
		printf("%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n",
		       jump[i].from == TRAFFIC_ELSEWHERE
			       ? 0
			       : image_address(im, jump[i].from),
		       image_address(im, jump[i].to),
		       feedback_count(jump[i].n, f->scale));
	return 0;
}
