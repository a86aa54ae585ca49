/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_edges.c - any blob decodes or is refused; what decodes, encodes again
 */
#include "config.h"

#include <errno.h>

#include "db/profile/edges.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct edges *set = edges_new(), *again = edges_new();
	struct buf b = { 0 };
	int err = edges_decode(data, size, set);

	if (!err)
		fuzz_check(!edges_encode(set, &b) &&
			   !edges_decode(b.data, b.len, again) &&
			   edges_total(set) == edges_total(again));
	else
		fuzz_check(err == -EOVERFLOW || !edges_total(set));
	buf_fini(&b);
	edges_free(set);
	edges_free(again);
	return 0;
}
