/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_tip.c - any file of TIP records reads or is refused
 *
 * What reads has the shape that its readers count on, and encodes to a record that
 * decodes to the same.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/os/tipfile.h"
#include "t/fuzz/fuzz.h"

static void check_sample(const struct cpi_tip_sample *s, unsigned int banks)
{
	uint64_t words[CPI_TIP_WORDS + CPI_TIP_MAX_BANKS];
	struct cpi_tip_sample again;

	fuzz_check(s->n >= 1 && s->n <= banks);
	fuzz_check(s->state == CPI_TIP_COMMITS || s->n == 1);
	cpi_tip_encode(s, banks, words);
	fuzz_check(!cpi_tip_decode(words, banks, &again));
	fuzz_check(again.cycle == s->cycle && again.state == s->state &&
		   again.n == s->n);
	fuzz_check(!memcmp(again.address, s->address, s->n * sizeof(s->address[0])));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *stream = size ? fmemopen((void *)data, size, "r") : NULL;
	union tipfile_item item;
	struct tipfile *f;
	int type;

	if (!stream || tipfile_open_stream(stream, &f))
		return 0;
	while ((type = tipfile_next(f, &item)) > 0) {
		if (type == CPI_TIP_RECORD)
			check_sample(&item.sample, tipfile_info(f)->banks);
		else
			fuzz_check(strlen(item.code.text) <= TIPFILE_TEXT_MAX);
	}
	tipfile_close(f);
	return 0;
}
