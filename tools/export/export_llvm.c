/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * export_llvm.c - LLVM's sample profile as text: clang -fprofile-sample-use=FILE
 *
 *	function:total:entries
 *	 line[.discriminator]: count [called:count …]
 *	 line[.discriminator]: inlined:total
 *	  line[.discriminator]: count …
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "tools/export/export.h"

static void put_key(int depth, const struct feedback_key *at)
{
	printf("%*s%" PRIu32, depth, "", at->line);
	if (at->discriminator)
		printf(".%" PRIu32, at->discriminator);
	printf(": ");
}

static void put_body(const struct feedback_function *fn, int depth)
{
	for (size_t i = 0; i < fn->nr_lines; i++) {
		const struct feedback_line *l = fn->line[i];

		put_key(depth, &l->at);
		printf("%" PRIu64, l->count);
		for (const struct feedback_target *t = l->targets; t; t = t->next)
			printf(" %s:%" PRIu64, t->name, t->count);
		putchar('\n');
	}
	for (size_t i = 0; i < fn->nr_children; i++) {
		const struct feedback_function *c = fn->child[i];

		put_key(depth, &c->at);
		printf("%s:%" PRIu64 "\n", c->name, c->total);
		put_body(c, depth + 1);
	}
}

int export_llvm_sample(const struct compiler_profile *f)
{
	for (size_t i = 0; i < f->nr_functions; i++) {
		const struct feedback_function *fn = f->function[i];

		printf("%s:%" PRIu64 ":%" PRIu64 "\n", fn->name, fn->total,
		       fn->head_count);
		put_body(fn, 1);
	}
	return 0;
}
