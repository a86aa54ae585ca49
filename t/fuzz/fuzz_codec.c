/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_codec.c - any blob decodes or is refused; what decodes, encodes again
 *
 * The first byte picks the kind, the rest is the blob.
 */
#include "config.h"

#include <stdlib.h>

#include "db/codec.h"
#include "t/fuzz/fuzz.h"

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
			fuzz_check(profile_nr(p) == 0 && !profile_is_weighted(p));
		else
			fuzz_check(!codec_encode(p, kind, &b) &&
				   !codec_decode(b.data, b.len, kind, again) &&
				   profile_nr(again) == profile_nr(p) &&
				   profile_total(again) == profile_total(p) &&
				   profile_memory(again) == profile_memory(p));
	}
	buf_fini(&b);
	profile_free(p);
	profile_free(again);
	return 0;
}
