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
#include <string.h>
#include <time.h>

#include "abi/translate.h"
#include "analysis/translate/translate.h"
#include "base/times.h"

static bool is_request(const struct cpi_translate_request *q, size_t size)
{
	const size_t head = offsetof(struct cpi_translate_request, code);

	return size >= head && q->magic == CPI_TRANSLATE_MAGIC &&
	       q->size <= CPI_CODE_PAGE + CPI_CODE_MORE && size == head + q->size &&
	       q->nr_entries <= CPI_TRANSLATE_ENTRIES &&
	       q->nr_forms <= CPI_TRANSLATE_FORMS &&
	       (!q->nr_forms || q->size == q->nr_forms * CPI_FORM_BYTES);
}

/* As many as there is room for. */
static size_t make_forms(struct translator *t, const struct cpi_translate_request *q,
			 struct cpi_translate_reply *r)
{
	struct cpi_translate_forms *out = &r->forms;
	struct translator_form form;

	r->nr_uops = 0;
	memset(out->form, 0, sizeof(out->form));
	for (r->nr_forms = 0; r->nr_forms < q->nr_forms; r->nr_forms++) {
		struct cpi_translate_form *to = &out->form[r->nr_forms];

		if (translator_form(t, q->code + r->nr_forms * CPI_FORM_BYTES, &form))
			continue;
		if (r->nr_uops + form.nr > CPI_UOPS_PER_PAGE)
			break;
		memcpy(to->key, form.key, sizeof(to->key));
		to->first = (uint16_t)r->nr_uops;
		to->nr = form.nr;
		to->how = form.how;
		memcpy(out->uop + r->nr_uops, form.uop, form.nr * sizeof(form.uop[0]));
		r->nr_uops += form.nr;
	}
	return offsetof(struct cpi_translate_reply, forms.uop) +
	       r->nr_uops * sizeof(struct cpi_uop);
}

static size_t make_answer(struct translator *t, const struct cpi_translate_request *q,
			  struct cpi_translate_reply *r)
{
	if (q->nr_forms)
		return make_forms(t, q, r);
	r->nr_forms = 0;
	r->nr_uops = translator_reach(t, q->code, q->size, q->entry, q->nr_entries,
				      q->starts, q->reach, &r->page);
	return offsetof(struct cpi_translate_reply, page.uop) +
	       r->nr_uops * sizeof(struct cpi_uop);
}

int translate_take(void *worker, const void *message, size_t size, const void **answer,
		   size_t *answer_size)
{
	const uint64_t begun_ns = time_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	const struct cpi_translate_request *q = message;
	static struct cpi_translate_reply r;

	if (!is_request(q, size))
		return -EPROTO;
	r.magic = CPI_TRANSLATE_MAGIC;
	r.cookie = q->cookie;
	r.err = 0;
	*answer = &r;
	*answer_size = make_answer(worker, q, &r);
	r.cpu_us =
		(uint32_t)((time_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns) / 1000);
	return 0;
}
