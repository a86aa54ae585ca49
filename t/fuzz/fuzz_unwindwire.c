/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fuzz_unwindwire.c - what a worker of cpi-unwind answers, and what its collector takes
 *
 * The input is messages, each behind its size in two bytes. To the worker they are what
 * a collector sends; there are no images. To the collector each is an answer.
 */
#include "config.h"

#include <string.h>

#include "t/fuzz/fuzz.h"
#include "helpers/unwind.h"

/* Aligned, and no longer than it says, so that a sanitizer sees what is read beyond. */
static void *copy_of(const uint8_t *data, size_t size)
{
	void *copy = malloc(size + !size);

	fuzz_check(copy);
	memcpy(copy, data, size);
	return copy;
}

static bool take(struct unwind_worker *w, const void *message, size_t size)
{
	const struct cpi_unwind_sample *s = message;
	const struct cpi_unwind_chain *c;
	const void *answer;
	size_t made;

	if (unwind_worker_take(w, message, size, &answer, &made))
		return false;
	if (!made)
		return true;
	c = answer;
	fuzz_check(cpi_unwind_chain_ok(answer, made) && c->id == s->id);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct unwind_worker *w = unwind_worker_new(-1);
	bool goes_on = true;

	fuzz_check(w);
	while (goes_on && size >= 2) {
		size_t part = data[0] | (size_t)data[1] << 8;
		void *message;

		data += 2;
		size -= 2;
		part = part < size ? part : size;
		message = copy_of(data, part);
		cpi_unwind_chain_ok(message, part);
		goes_on = take(w, message, part);
		free(message);
		data += part;
		size -= part;
	}
	unwind_worker_free(w);
	return 0;
}
