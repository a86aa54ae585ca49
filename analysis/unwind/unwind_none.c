/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_none.c - stands in for unwind.c if libunwind is not built in: every open fails
 * with -EOPNOTSUPP
 */
#include "config.h"

#include <errno.h>

#include "analysis/unwind/unwind.h"

int unwinder_open(unwind_tables_fn tables, void *ctx, struct unwinder **out)
{
	return -EOPNOTSUPP;
}

void unwinder_close(struct unwinder *u)
{
}

int unwinder_map(struct unwinder *u, const struct unwind_mapping *m, size_t nr)
{
	return -EOPNOTSUPP;
}

void unwinder_forget(struct unwinder *u)
{
}

void unwinder_run(struct unwinder *u, const struct unwind_sample *s,
		  struct unwind_chain *out)
{
	out->nr = 0;
	out->end = UNWIND_NO_TABLE;
}
