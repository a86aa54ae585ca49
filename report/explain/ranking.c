/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ranking.c - the hottest instructions and the worst stalls of a selection
 *
 * Procedures are explained one at a time, the busiest of each image first. A procedure
 * is not explained if it has fewer samples than the last instruction of a full list:
 * none of its instructions could get into the list. In a profile of a whole system most
 * procedures are skipped for this reason. Text, source line and culprits are made only
 * for instructions that enter the list.
 */
#include "config.h"

#include "report/explain/ranking.h"

#include <math.h>
#include <string.h>

#include "report/explain/calc.h"
#include "report/explain/culprits.h"
#include "report/select/facts.h"
#include "report/select/optional_text.h"

#define SHORT_LIST 1000 /* instructions: sorting them takes no time */

/* Adds the instructions of one procedure after the other. */
struct insn_adder {
	struct ranking *r;
	struct explainer *x;
	const struct explanation *ex;
	bool words;
};

int ranked_insn_locate(struct ranked_insn *ranked, const struct explanation *ex,
		       uint64_t offset)
{
	char build_id[REPORT_BUILD_ID_SIZE];
	struct line line = { NULL, 0 };
	int err;

	ranked->offset = ranked->address = offset;
	if (ex->im) {
		ranked->address = image_address(ex->im, offset);
		line = image_line_at(ex->im, offset);
	}
	ranked->line = line.file ? line.line : 0;
	report_build_id(&ex->image->desc, build_id);
	err = optional_text_copy(ex->symbol ? ex->symbol->name : NULL,
				 &ranked->procedure);
	if (!err)
		err = optional_text_copy(ex->image->desc.name, &ranked->image);
	if (!err)
		err = optional_text_copy(*build_id ? build_id : NULL,
					 &ranked->build_id);
	if (!err)
		err = optional_text_copy(line.file, &ranked->file);
	return err;
}

/* Fills in the place and the text of an instruction of the graph. */
static int locate_insn(const struct insn_adder *a, int insn, struct ranked_insn *ranked)
{
	const struct cfg *cfg = a->ex->e->cfg;
	struct buf text = { 0 };
	int err =
		ranked_insn_locate(ranked, a->ex, cfg->insn[insn].address - cfg->bias);

	if (!err)
		err = optional_text_copy(explainer_text(a->x, a->ex, insn, &text),
					 &ranked->text);
	buf_fini(&text);
	return err;
}

static int add_hot(const struct insn_adder *a, int b, int insn)
{
	const struct explained *e = a->ex->e;
	struct ranked_insn *ranked;
	int err = ranked_insns_add(&a->r->insns, e->blamed[insn], &ranked);

	if (err || !ranked)
		return err;
	ranked->samples = e->samples[insn];
	ranked->cycles = e->blame->insn[insn].cycles;
	ranked->frequency = e->freq->block[b];
	ranked->takes = calc_insn_range(e, insn);
	ranked->runs = e->freq->block_range[b];
	ranked->too_fast = calc_is_too_fast(e, b);
	return locate_insn(a, insn, ranked);
}

static int add_stray(void *ctx, uint64_t offset, double samples)
{
	const struct insn_adder *a = ctx;
	struct ranked_insn *ranked;
	int err = ranked_insns_add(&a->r->insns, samples, &ranked);

	if (err || !ranked)
		return err;
	ranked->samples = samples;
	ranked->cycles = ranked->frequency = NAN;
	ranked->takes = ranked->runs = (struct freq_interval){ NAN, NAN, NAN };
	return ranked_insn_locate(ranked, a->ex, offset);
}

static int describe(const struct insn_adder *a, const struct stall *stall,
		    struct ranked_insn *ranked)
{
	struct buf reasons = { 0 }, addresses = { 0 };
	int err;

	culprits_put_reasons(stall, 1, a->words, &reasons);
	culprits_put_addresses(a->ex->e->cfg, stall, 1, &addresses);
	err = optional_text_copy(buf_str(&reasons), &ranked->reasons);
	if (!err && addresses.len)
		err = optional_text_copy(buf_str(&addresses), &ranked->culprits);
	buf_fini(&reasons);
	buf_fini(&addresses);
	return err;
}

static int add_stall(const struct insn_adder *a, int b, int insn,
		     const struct stall *stall)
{
	const double frequency = a->ex->e->freq->block[b];
	const double lost = stall->cycles * frequency / a->ex->e->period_cycles;
	struct ranked_insn *ranked;
	int err = ranked_insns_add(&a->r->insns, lost, &ranked);

	if (err || !ranked)
		return err;
	ranked->cycles = stall->cycles;
	ranked->takes = calc_stall_range(a->ex->e, insn, stall);
	ranked->runs = a->ex->e->freq->block_range[b];
	ranked->too_fast = calc_is_too_fast(a->ex->e, b);
	ranked->frequency = frequency;
	ranked->dynamic = stall->dynamic;
	err = describe(a, stall, ranked);
	return err ? err : locate_insn(a, insn, ranked);
}

static int add_stalls(const struct insn_adder *a, int b, int insn)
{
	const struct blame_insn *why = &a->ex->e->blame->insn[insn];
	int err = 0;

	for (int k = 0; k < why->nr_stalls && !err; k++)
		err = add_stall(a, b, insn, &why->stall[k]);
	return err;
}

/* Adds each instruction of the graph's blocks. */
static int add_blocks(struct insn_adder *a, const struct explanation *ex,
		      int (*add)(const struct insn_adder *a, int b, int insn))
{
	const struct cfg *cfg = ex->e ? ex->e->cfg : NULL;
	int err = 0;

	a->ex = ex;
	a->r->all += ex->samples;
	for (int b = 0; cfg && b < cfg->exit; b++) {
		const struct cfg_block *block = &cfg->block[b];

		for (int i = 0; i < block->nr_insns && !err; i++)
			err = add(a, b, block->first_insn + i);
	}
	return err;
}

static int on_hot(void *ctx, const struct explanation *ex)
{
	struct insn_adder *a = ctx;
	int err = add_blocks(a, ex, add_hot);

	return err ? err : explainer_each_stray(a->x, add_stray, a);
}

static int on_stalls(void *ctx, const struct explanation *ex)
{
	return add_blocks(ctx, ex, add_stalls);
}

static bool may_enter(void *ctx, const struct query_image *image,
		      const struct symbol *symbol, double samples)
{
	const struct insn_adder *a = ctx;
	size_t nr;

	(void)image;
	(void)symbol;
	if (a->r->insns.limit <= SHORT_LIST)
		ranked_insns_sorted(&a->r->insns, &nr); /* raises least at once */
	return samples >= a->r->insns.least;
}

static int rank(struct insn_adder *a, uint64_t limit, explain_fn fn)
{
	const struct scope *s = explainer_scope(a->x);
	int err = scope_needs_time(s);

	*a->r = (struct ranking){ .all = 0 };
	ranked_insns_init(&a->r->insns, limit);
	explainer_leave_out(a->x, may_enter, a, false);
	if (!err)
		err = explainer_each(a->x, fn, a);
	a->r->all += scope_unknown(s);
	return err;
}

int ranking_hot(struct explainer *x, uint64_t limit, struct ranking *out)
{
	struct insn_adder a = { .r = out, .x = x };

	return rank(&a, limit, on_hot);
}

int ranking_stalls(struct explainer *x, uint64_t limit, bool words, struct ranking *out)
{
	struct insn_adder a = { .r = out, .x = x, .words = words };

	return rank(&a, limit, on_stalls);
}
