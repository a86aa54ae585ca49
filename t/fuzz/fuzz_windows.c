/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_windows.c - any blob decodes or is refused; what decodes, encodes again
 */
#include "config.h"

#include <errno.h>

#include "db/profile/windows.h"
#include "t/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct windows *set = windows_new(WINDOWS_LIMIT, 1);
	struct windows *again = windows_new(WINDOWS_LIMIT, 2);
	struct buf b = { 0 };

	if (!windows_decode(data, size, set))
		fuzz_check(!windows_encode(set, &b) &&
			   !windows_decode(b.data, b.len, again) &&
			   windows_seen(set) == windows_seen(again) &&
			   windows_kept(set) == windows_kept(again));
	else
		fuzz_check(!windows_seen(set));
	buf_fini(&b);
	windows_free(set);
	windows_free(again);
	return 0;
}
