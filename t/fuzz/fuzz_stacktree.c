/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_stacktree.c - any blob decodes or is refused; what decodes, encodes again
 */
#include "config.h"

#include <stdlib.h>

#include "db/profile/stacktree.h"
#include "t/fuzz/fuzz.h"

static const uint32_t images[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stack_tree *t = stack_tree_new(4096), *again = stack_tree_new(4096);
	struct buf b = { 0 };

	if (!t || !again)
		abort();
	if (!stack_tree_decode(data, size, images, 8, t)) {
		fuzz_check(stack_tree_nr_nodes(t) <= 4096);
		fuzz_check(!stack_tree_encode(t, &b));
		if (stack_tree_total(t))
			fuzz_check(!stack_tree_decode(b.data, b.len, images, 8, again));
		fuzz_check(stack_tree_total(t) == stack_tree_total(again) &&
			   stack_tree_nr_stacks(t) == stack_tree_nr_stacks(again));
	}
	buf_fini(&b);
	stack_tree_free(t);
	stack_tree_free(again);
	return 0;
}
