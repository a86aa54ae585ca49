/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind_none.c - where libunwind is not built in
 */
#include "config.h"

#include <errno.h>

#include "analysis/unwind.h"

int unwinder_open(struct unwinder **out)
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

size_t unwinder_run(struct unwinder *u, const struct unwind_sample *s, uint64_t *pc,
		    enum unwind_end *end)
{
	*end = UNWIND_NO_TABLE;
	return 0;
}
