/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * explaining_text.c - what reports say of explanations, in words
 */
#include "config.h"

#include "base/err.h"
#include "tools/explaining.h"
#include "tools/out.h"

static const char *why_no_code(const struct explanation *ex)
{
	switch (ex->err) {
	case -CPI_EFORMAT:
		return "no decoder for this machine is built in";
	case -CPI_ENOCODE:
		return image_missing_code(&ex->image->desc);
	case -CPI_ELIMIT:
		return "the procedure is too long";
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

static const char *source_of(const struct freq *f)
{
	if (f->counted)
		return "branch_stacks";
	if (f->windows)
		return "windows";
	return f->bias ? "instructions" : NULL;
}

void explained_print_source(const struct explained *e)
{
	const int over = freq_nr_biased(e->cfg, e->freq, FREQ_OVER_SAMPLED);
	const int under = freq_nr_biased(e->cfg, e->freq, FREQ_UNDER_SAMPLED);

	if (e->freq->counted)
		out_line("Frequencies were counted, by branch stacks");
	else if (e->freq->windows)
		out_line("Frequencies are estimated from windows and samples%s",
			 e->freq->anchored ? ", and anchored by breakpoints" : "");
	else if (e->freq->bias)
		out_line("Frequencies are estimated from samples of instructions");
	if (over || under)
		out_line("Corrected by other events: %d blocks were sampled too often, "
			 "%d too seldom",
			 over, under);
}

void explained_json_source(const struct explained *e, struct json *j)
{
	if (source_of(e->freq))
		json_string(j, "frequency_source", source_of(e->freq));
	if (e->freq->anchored && !e->freq->counted)
		json_string(j, "scale_source", "anchors");
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

static double period_cycles(const struct explainer *x)
{
	return x->l->ev.weight[x->first] * x->clock_hz / 1e9;
}

void explainer_print_unit(const struct explainer *x)
{
	const struct stream_desc *first = &x->l->sel.streams.stream[x->first].desc;

	out_line("A sample of %s is worth %.0f cycles at %.4g GHz and landed \"%s\"; "
		 "timing of %s",
		 first->event, period_cycles(x), x->clock_hz / 1e9,
		 landing_str(first->landing), x->isa ? isa_cpu(x->isa) : "no CPU");
}

void explainer_json_unit(const struct explainer *x, struct json *j)
{
	json_string(j, "cpu", x->isa ? isa_cpu(x->isa) : NULL);
	json_real(j, "clock_hz", x->clock_hz, 0);
	json_real(j, "period_cycles", period_cycles(x), 1);
}
