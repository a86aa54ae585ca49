/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calc_json.c - cpi calc as JSON: blocks, instructions, stalls, edges; cpi cfg, which
 * has the places of blocks in its picture as well
 *
 * The members are documented in cpi-calc(1) and cpi-cfg(1). Do not rename or remove
 * them.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "report/explain/calc.h"
#include "report/explain/culprits.h"
#include "report/explain/data_text.h"
#include "tools/ui/graphviz.h"
#include "tools/write/cfg_dot.h"
#include "tools/write/explain.h"
#include "tools/write/report.h"

static uint64_t offset_of(const struct cfg *cfg, int insn)
{
	return cfg->insn[insn].address - cfg->bias;
}

static void json_culprits(struct json *j, const struct explained *e,
			  const struct stall *s)
{
	json_array(j, "culprits");
	for (int i = 0; i < s->nr; i++) {
		json_object(j, NULL);
		json_string(j, "reason", blame_name(s->culprit[i].reason));
		if (s->culprit[i].insn >= 0)
			json_hex(j, "offset", offset_of(e->cfg, s->culprit[i].insn));
		else
			json_null(j, "offset");
		json_real(j, "most", s->culprit[i].most, 3);
		json_string(j, "usually_helps", culprits_usual_help(e, &s->culprit[i]));
		json_end(j);
	}
	json_end(j);
}

static void json_stall(struct json *j, const struct explained *e, int insn,
		       const struct stall *s)
{
	json_object(j, NULL);
	json_string(j, "kind", s->dynamic ? "dynamic" : "static");
	json_real(j, "cycles", s->cycles, 3);
	json_interval(j, "cycles_interval", calc_stall_range(e, insn, s), 1, 3);
	json_culprits(j, e, s);
	json_end(j);
}

static void json_possible(struct json *j, const struct explained *e, int insn)
{
	const struct stall *s = &e->blame->insn[insn].possible;

	if (!s->nr)
		return;
	json_object(j, "possible_stall");
	json_real(j, "cycles", s->cycles, 3);
	json_culprits(j, e, s);
	json_end(j);
}

/* Of a branch that is in enough windows. */
static void json_mispredicts(struct json *j, const struct explained *e, int i)
{
	const struct mispredicts *m = e->mispredicts ? &e->mispredicts[i] : NULL;

	if (!m || !m->executions)
		return;
	json_object(j, "mispredicts");
	json_real(j, "low", m->low, 5);
	json_real(j, "likely", m->likely, 5);
	json_real(j, "high", m->high, 5);
	json_end(j);
}

static void json_estimate(struct json *j, const char *name,
			  const struct data_estimate *e, int decimals)
{
	json_object(j, name);
	json_real(j, "low", e->low, decimals);
	json_real(j, "likely", e->value, decimals);
	json_real(j, "high", e->high, decimals);
	json_end(j);
}

/* Of a load or store whose addresses are in enough windows. */
static void json_data(struct json *j, const struct explained *e, int i)
{
	const struct data_insn *d = e->data ? e->data[i] : NULL;

	if (!d)
		return;
	json_object(j, "data");
	json_number(j, "executions", d->from->known);
	json_object(j, "misses");
	for (int l = 0; l < DATA_NR_LEVELS; l++)
		json_estimate(j, data_level_name(l), &d->miss[l], 5);
	json_end(j);
	json_estimate(j, "lines", &d->distinct[ACCESSES_LINES], 0);
	json_estimate(j, "pages", &d->distinct[ACCESSES_PAGES], 0);
	if (data_has_stride(d))
		json_signed(j, "stride", d->from->stride[0].bytes);
	else
		json_null(j, "stride");
	json_number(j, "line_splits", d->from->splits);
	json_real(j, "shared", d->shared, 3);
	json_array(j, "forwarded");
	for (int k = 0; k < ACCESSES_AGES; k++)
		json_number(j, NULL, d->from->forwarded[k]);
	json_end(j);
	json_number(j, "forwarded_in_part", d->from->partial);
	json_end(j);
}

static void json_insn(struct json *j, const struct explainer *x,
		      const struct explanation *ex, int block, int i)
{
	const struct explained *e = ex->e;
	const struct blame_insn *why = &e->blame->insn[i];
	struct event_sum tally[EVENTS_MAX];
	struct buf text = { 0 };

	json_object(j, NULL);
	json_hex(j, "offset", offset_of(e->cfg, i));
	json_string(j, "text", explainer_text(x, ex, i, &text));
	buf_fini(&text);
	explainer_tally(x, offset_of(e->cfg, i), tally);
	report_json_samples(j, "samples", &explainer_scope(x)->ev, tally);
	json_real(j, "blamed_samples", e->blamed[i], 3);
	json_real(j, "frequency", e->freq->block[block], 1);
	json_interval(j, "frequency_interval", e->freq->block_range[block], 1, 1);
	json_real(j, "cpi", why->cycles, 3);
	json_interval(j, "cpi_interval", calc_insn_range(e, i), 1, 3);
	json_real(j, "min_cycles", why->best, 3);
	json_array(j, "stalls");
	for (int k = 0; k < why->nr_stalls; k++)
		json_stall(j, e, i, &why->stall[k]);
	json_end(j);
	json_mispredicts(j, e, i);
	json_data(j, e, i);
	json_possible(j, e, i);
	json_end(j);
}

static void json_block(struct json *j, const struct explainer *x,
		       const struct explanation *ex, int b)
{
	const struct explained *e = ex->e;
	const struct cfg_block *block = &e->cfg->block[b];

	json_object(j, NULL);
	json_hex(j, "start", block->start);
	json_hex(j, "end", block->end);
	json_real(j, "frequency", e->freq->block[b], 1);
	json_interval(j, "frequency_interval", e->freq->block_range[b], 1, 1);
	json_object(j, "confidence");
	json_string(j, "shape", confidence_name(e->freq->shape[b]));
	json_string(j, "scale", confidence_name(e->freq->scale));
	json_end(j);
	json_real(j, "best_case_cpi", e->block_cycles[b] / block->nr_insns, 4);
	json_real(j, "actual_cpi", calc_block_cycles(e, b) / block->nr_insns, 4);
	json_interval(j, "actual_cpi_interval", calc_block_range(e, b),
		      1.0 / block->nr_insns, 4);
	json_bool(j, "faster_than_best", calc_is_too_fast(e, b));
	json_array(j, "instructions");
	for (int i = 0; i < block->nr_insns; i++)
		json_insn(j, x, ex, b, block->first_insn + i);
	json_end(j);
	json_end(j);
}

static const char *kind_name(enum edge_kind kind)
{
	switch (kind) {
	case EDGE_FALL:
		return "fall";
	case EDGE_TAKEN:
		return "taken";
	case EDGE_INDIRECT:
		return "indirect";
	case EDGE_RETURN:
		return "return";
	case EDGE_LEAVE:
		return "leave";
	}
	return "";
}

/* With kind set, the edge also has the member "kind", for cpi cfg. */
static void json_edge(struct json *j, const struct explained *e, int i, bool has_time,
		      bool kind)
{
	const struct cfg_edge *edge = &e->cfg->edge[i];
	const struct outcomes outcomes = calc_outcomes(e, edge);

	json_object(j, NULL);
	json_hex(j, "from", e->cfg->block[edge->from].start);
	if (edge->to == e->cfg->exit)
		json_null(j, "to");
	else
		json_hex(j, "to", e->cfg->block[edge->to].start);
	if (kind)
		json_string(j, "kind", kind_name(edge->kind));
	if (has_time) {
		json_real(j, "frequency", e->freq->edge[i], 1);
		json_interval(j, "frequency_interval", e->freq->edge_range[i], 1, 1);
		json_string(j, "confidence", confidence_name(e->freq->edge_shape[i]));
	}
	json_number(j, "taken_samples", outcomes.taken);
	json_number(j, "not_taken_samples", outcomes.not_taken);
	json_end(j);
}

static void json_summary(struct json *j, const struct explainer *x,
			 const struct explanation *ex)
{
	const struct explained *e = ex->e;
	struct summary s = { 0 };

	summary_add(&s, ex);
	json_object(j, "summary");
	explainer_json_unit(x, j);
	json_bool(j, "deferred", ex->state == EXPLAIN_DEFERRED);
	json_bool(j, "missing_edges", e->cfg->missing_edges);
	summary_json(j, &s);
	json_end(j);
}

void calc_print_json(struct explainer *x, const struct explanation *ex, bool one_line)
{
	const struct explained *e = ex->e;
	char build_id[REPORT_BUILD_ID_SIZE];
	struct json j = { .one_line = one_line };

	report_build_id(&ex->image->desc, build_id);
	json_object(&j, NULL);
	json_string(&j, "procedure", ex->symbol->name);
	json_string(&j, "image", ex->image->desc.name);
	json_string(&j, "build_id", *build_id ? build_id : NULL);
	json_string(&j, "frequency_unit", "executions");
	explained_json_source(e, &j);
	time_source_json(&explainer_scope(x)->source, &j, explainer_attribution(x));
	json_array(&j, "blocks");
	for (int b = 0; b < e->cfg->exit; b++)
		json_block(&j, x, ex, b);
	json_end(&j);
	json_array(&j, "edges");
	for (int i = 0; i < e->cfg->nr_edges; i++)
		json_edge(&j, e, i, true, false);
	json_end(&j);
	json_summary(&j, x, ex);
	values_json_operands(&j, x, ex);
	json_end(&j);
}

static void json_box(struct json *j, const struct graphviz_box *box)
{
	if (!box || !(box->width > 0)) {
		json_null(j, "box");
		return;
	}
	json_object(j, "box");
	json_real(j, "x", box->x, 5);
	json_real(j, "y", box->y, 5);
	json_real(j, "width", box->width, 5);
	json_real(j, "height", box->height, 5);
	json_end(j);
}

/* Executions and CPI are known only if an event measures time. */
static void json_rate(struct json *j, const struct cfg_picture *p, int b)
{
	const struct explained *e = p->e;
	const int nr_insns = e->cfg->block[b].nr_insns;

	json_real(j, "frequency", e->freq->block[b], 1);
	json_interval(j, "frequency_interval", e->freq->block_range[b], 1, 1);
	json_real(j, "best_case_cpi", e->block_cycles[b] / nr_insns, 4);
	json_real(j, "actual_cpi", calc_block_cycles(e, b) / nr_insns, 4);
	json_interval(j, "actual_cpi_interval", calc_block_range(e, b), 1.0 / nr_insns,
		      4);
}

static void json_graph_block(struct json *j, const struct cfg_picture *p, int b,
			     const struct graphviz_box *box)
{
	const struct cfg_block *block = &p->e->cfg->block[b];
	const struct event_sum *tally = &p->tally[(size_t)b * p->ev->nr];

	json_object(j, NULL);
	json_hex(j, "start", block->start);
	json_hex(j, "end", block->end);
	json_number(j, "instructions", (uint64_t)block->nr_insns);
	report_json_samples(j, "samples", p->ev, tally);
	json_real(j, "percent", p->total > 0 ? 100 * tally->weight / p->total : 0, 2);
	if (p->has_time)
		json_rate(j, p, b);
	json_bool(j, "landing_pad", block->landing_pad);
	json_bool(j, "missing_edges", block->missing_out);
	json_box(j, box);
	json_end(j);
}

static void print_graph(const struct cfg_picture *p, const struct graphviz_box *box)
{
	const struct cfg *g = p->e->cfg;
	char build_id[REPORT_BUILD_ID_SIZE];
	struct json j = { 0 };

	report_build_id(p->image, build_id);
	json_object(&j, NULL);
	json_string(&j, "procedure", g->procedure->name);
	json_string(&j, "image", p->image->name);
	json_string(&j, "build_id", *build_id ? build_id : NULL);
	explained_json_source(p->e, &j);
	json_bool(&j, "missing_edges", g->missing_edges);
	report_json_samples(&j, "in_no_block", p->ev,
			    &p->tally[(size_t)g->nr_blocks * p->ev->nr]);
	json_array(&j, "blocks");
	for (int b = 0; b < g->exit; b++)
		json_graph_block(&j, p, b, box ? &box[b] : NULL);
	json_end(&j);
	json_array(&j, "edges");
	for (int i = 0; i < g->nr_edges; i++)
		json_edge(&j, p->e, i, p->has_time, true);
	json_end(&j);
	json_end(&j);
}

int cfg_print_json(const struct cfg_picture *p, const struct buf *dot)
{
	const size_t nr = (size_t)p->e->cfg->exit;
	struct graphviz_box *box = calloc(nr ? nr : 1, sizeof(*box));

	if (!box)
		return -ENOMEM;
	print_graph(p, graphviz_boxes(dot, nr, box) ? NULL : box);
	free(box);
	return 0;
}
