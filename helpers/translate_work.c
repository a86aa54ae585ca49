/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_work.c - answers one request to cpi-translate
 *
 * The collector is trusted no more than the code: sizes are checked before use, and an
 * invalid message ends the worker.
 */
#include "config.h"

#include "helpers/translate.h"

#include <errno.h>
#include <stdbool.h>

#include "abi/translate.h"
#include "analysis/translate/translate.h"

static bool is_request(const struct cpi_translate_request *q, size_t size)
{
	const size_t head = offsetof(struct cpi_translate_request, code);

	return size >= head && q->magic == CPI_TRANSLATE_MAGIC &&
	       q->size <= CPI_CODE_PAGE + CPI_CODE_MORE && size == head + q->size &&
	       q->nr_entries <= CPI_TRANSLATE_ENTRIES;
}

int translate_take(void *worker, const void *message, size_t size, const void **answer,
		   size_t *answer_size)
{
	const struct cpi_translate_request *q = message;
	static struct cpi_translate_reply r;

	if (!is_request(q, size))
		return -EPROTO;
	r.magic = CPI_TRANSLATE_MAGIC;
	r.cookie = q->cookie;
	r.err = 0;
	r.nr_uops = translator_reach(worker, q->code, q->size, q->entry, q->nr_entries,
				     q->starts, q->reach, &r.page);
	*answer = &r;
	*answer_size = offsetof(struct cpi_translate_reply, page.uop) +
		       r.nr_uops * sizeof(struct cpi_uop);
	return 0;
}
