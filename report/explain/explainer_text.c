/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explainer_text.c - explanations as text
 */
#include "config.h"

#include <errno.h>

#include "base/err.h"
#include "report/explain/explainer_private.h"
#include "report/explain/list.h"

static const char *why_no_code(const struct explanation *ex)
{
	switch (ex->err) {
	case -CPI_EFORMAT:
		return "no decoder for this machine is built in";
	case -CPI_ENOCODE:
		return image_missing_code(&ex->image->desc);
	case -CPI_ELIMIT:
		return "the procedure is too long";
	case -EOWNERDEAD: /* explainer_each_part() */
		return "its analysis crashed";
	}
	return err_str(ex->err);
}

const char *explanation_why_not(const struct explanation *ex)
{
	switch (ex->state) {
	case EXPLAIN_NO_PROCEDURE:
		return "no symbol says where it begins and ends";
	case EXPLAIN_NO_IMAGE:
		return image_cache_why(&ex->image->desc, ex->err);
	case EXPLAIN_FEW_SAMPLES:
		return "it has few samples";
	case EXPLAIN_NO_CODE:
	case EXPLAIN_DEFERRED:
	case EXPLAIN_DONE:
	case EXPLAIN_NR_STATES:
		break;
	}
	return why_no_code(ex);
}

int explained_insn_at(const struct explained *e, uint64_t offset)
{
	const int b = cfg_block_at(e->cfg, offset);
	const struct cfg_block *block = b < 0 ? NULL : &e->cfg->block[b];

	for (int i = 0; block && i < block->nr_insns; i++) {
		if (e->cfg->insn[block->first_insn + i].address ==
		    offset + e->cfg->bias)
			return block->first_insn + i;
	}
	return -1;
}

const char *explainer_text(const struct explainer *x, const struct explanation *ex,
			   int i, struct buf *out)
{
	const struct cfg *cfg = ex->e->cfg;
	char text[ISA_TEXT_SIZE];

	buf_reset(out);
	buf_puts(out, isa_text(x->isa, &cfg->insn[i], text));
	list_put_target(ex->im, cfg->bias, &cfg->insn[i], out);
	return buf_str(out);
}
