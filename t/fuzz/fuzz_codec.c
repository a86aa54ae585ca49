/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_codec.c - any blob decodes or is refused; what decodes, encodes again
 *
 * The first byte picks the kind, the rest is the blob.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>

#include "db/profile/codec.h"
#include "db/profile/records.h"
#include "t/fuzz/fuzz.h"

static bool same_records(const struct records *a, const struct records *b)
{
	return !a == !b && (!a || (records_total(a) == records_total(b) &&
				   records_nr(a) == records_nr(b) &&
				   records_nr_cells(a) == records_nr_cells(b)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *p = profile_new(), *again = profile_new();
	struct buf b = { 0 };
	enum profile_kind kind;

	if (!p || !again)
		abort();
	if (size) {
		kind = data[0] % PROFILE_NR_KINDS;
		if (codec_decode(data + 1, size - 1, kind, p))
			fuzz_check(profile_nr(p) == 0 && !profile_records(p) &&
				   !profile_is_weighted(p));
		else
			fuzz_check(!codec_encode(p, kind, &b) &&
				   !codec_decode(b.data, b.len, kind, again) &&
				   profile_nr(again) == profile_nr(p) &&
				   profile_total(again) == profile_total(p) &&
				   same_records(profile_records(again),
						profile_records(p)) &&
				   profile_memory(again) == profile_memory(p));
	}
	buf_fini(&b);
	profile_free(p);
	profile_free(again);
	return 0;
}
