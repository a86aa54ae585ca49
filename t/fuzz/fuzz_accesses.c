/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_accesses.c - any blob decodes or is refused; what decodes, encodes again
 */
#include "config.h"

#include <errno.h>

#include "db/profile/accesses.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct accesses *set = accesses_new(ACCESSES_MAX_INSNS);
	struct accesses *again = accesses_new(ACCESSES_MAX_INSNS);
	struct buf b = { 0 };

	if (!accesses_decode(data, size, set))
		fuzz_check(!accesses_encode(set, &b) &&
			   !accesses_decode(b.data, b.len, again) &&
			   accesses_seen(set) == accesses_seen(again) &&
			   accesses_kept(set) == accesses_kept(again));
	else
		fuzz_check(!accesses_seen(set));
	buf_fini(&b);
	accesses_free(set);
	accesses_free(again);
	return 0;
}
