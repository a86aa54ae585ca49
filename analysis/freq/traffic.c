/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each block contributes its fall-through runs, its jumps and its calls, with the
 * frequency of the block or edge. Jumps into a procedure are known from its callers
 * only when a whole image has been added, so traffic_finish() adds the missing entries.
 */
#include "config.h"

#include "analysis/freq/traffic.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct traffic_adder {
	struct traffic *t;
	struct image *im;
	const struct cfg *cfg;
	const struct freq *freq;
	struct edges *branches;
};

static uint64_t offset_of(const struct cfg *cfg, const struct insn *insn)
{
	return insn->address - cfg->bias;
}

static double at_least_0(double n)
{
	return isfinite(n) && n > 0 ? n : 0;
}

static void add_jump(struct traffic_adder *a, uint64_t from, uint64_t to, double n,
		     bool enters)
{
	const struct traffic_jump jump = { from, to, at_least_0(n), enters };

	if (jump.n > 0)
		buf_put(&a->t->jumps, &jump, sizeof(jump));
}

/* Adds the targets that branch stacks saw, by their shares. */
static void add_seen(struct traffic_adder *a, uint64_t from, double n)
{
	size_t nr = 0, first, end;
	const struct edge *e = a->branches ? edges_sorted(a->branches, &nr) : NULL;
	double seen = 0;

	first = end = edges_first_from(e, nr, from);
	for (; end < nr && e[end].from == from; end++)
		seen += (double)e[end].n;
	for (size_t i = first; i < end; i++)
		add_jump(a, from, e[i].to, n * ((double)e[i].n / seen), true);
}

/* A call, or a jump out of the procedure. */
static void add_entry(struct traffic_adder *a, const struct insn *insn, double n)
{
	const uint64_t from = offset_of(a->cfg, insn);
	uint64_t to;

	if (!insn->target)
		add_seen(a, from, n);
	else if (image_offset(a->im, insn->target, &to))
		add_jump(a, from, to, n, true);
}

static void add_edge(struct traffic_adder *a, const struct insn *last, int edge)
{
	const struct cfg_edge *e = &a->cfg->edge[edge];
	const double n = a->freq->edge[edge];

	if (e->kind == EDGE_TAKEN || e->kind == EDGE_INDIRECT)
		add_jump(a, offset_of(a->cfg, last), a->cfg->block[e->to].start, n,
			 false);
	else if (e->kind == EDGE_LEAVE && last->kind & INSN_JUMP)
		add_entry(a, last, n);
}

/* Whether one of the functions at an offset is known, but not its line there. */
static bool lacks_line(struct image *im, uint64_t offset)
{
	struct origin p[IMAGE_MAX_ORIGINS];
	const size_t nr = image_origins_at(im, offset, p);

	for (size_t i = 0; i < nr; i++) {
		if (!p[i].line)
			return true;
	}
	return false;
}

static void end_run(struct traffic_adder *a, struct traffic_run *run)
{
	if (run->first <= run->last)
		buf_put(&a->t->runs, run, sizeof(*run));
	run->first = UINT64_MAX;
}

static void add_runs(struct traffic_adder *a, const struct cfg_block *block, double n)
{
	struct traffic_run run = { .first = UINT64_MAX, .n = at_least_0(n) };

	for (int i = 0; i < block->nr_insns; i++) {
		const uint64_t at =
			offset_of(a->cfg, &a->cfg->insn[block->first_insn + i]);

		if (lacks_line(a->im, at)) {
			end_run(a, &run);
			continue;
		}
		if (run.first == UINT64_MAX)
			run.first = at;
		run.last = at;
	}
	end_run(a, &run);
}

static void add_block(struct traffic_adder *a, int b)
{
	const struct cfg_block *block = &a->cfg->block[b];
	const struct insn *insn = &a->cfg->insn[block->first_insn];
	const struct insn *last = &insn[block->nr_insns - 1];

	add_runs(a, block, a->freq->block[b]);
	for (; insn <= last; insn++) {
		if (insn->kind & INSN_CALL)
			add_entry(a, insn, a->freq->block[b]);
	}
	for (int e = block->first_out; e < block->first_out + block->nr_out; e++)
		add_edge(a, last, e);
}

static int error_of(const struct traffic *t)
{
	if (t->runs.err || t->jumps.err)
		return -ENOMEM;
	return t->entries.err;
}

int traffic_add(struct traffic *t, struct image *im, const struct cfg *cfg,
		const struct freq *freq, struct edges *branches)
{
	struct traffic_adder a = { t, im, cfg, freq, branches };
	const struct traffic_jump entry = { TRAFFIC_ELSEWHERE, cfg->block[0].start,
					    traffic_entries(cfg, freq), true };

	for (int b = 0; b < cfg->exit; b++) {
		if (cfg->block[b].nr_insns)
			add_block(&a, b);
	}
	buf_put(&t->entries, &entry, sizeof(entry));
	return error_of(t);
}

int traffic_append(struct traffic *t, const struct traffic *from)
{
	buf_put(&t->runs, from->runs.data, from->runs.len);
	buf_put(&t->jumps, from->jumps.data, from->jumps.len);
	buf_put(&t->entries, from->entries.data, from->entries.len);
	return error_of(t);
}

static int by_target(const void *va, const void *vb)
{
	const struct traffic_jump *a = va, *b = vb;

	return (a->to > b->to) - (a->to < b->to);
}

int traffic_finish(struct traffic *t)
{
	struct traffic_jump *entry = (struct traffic_jump *)t->entries.data;
	const size_t nr_entries = t->entries.len / sizeof(*entry);
	size_t nr;
	const struct traffic_jump *jump = traffic_jumps(t, &nr);

	if (nr_entries)
		qsort(entry, nr_entries, sizeof(*entry), by_target);
	for (size_t i = 0; i < nr && nr_entries; i++) {
		struct traffic_jump *to =
			bsearch(&jump[i], entry, nr_entries, sizeof(*entry), by_target);

		if (to && jump[i].enters)
			to->n -= jump[i].n;
	}
	for (size_t i = 0; i < nr_entries; i++) {
		if (entry[i].n > 0)
			buf_put(&t->jumps, &entry[i], sizeof(entry[i]));
	}
	return t->jumps.err;
}

const struct traffic_run *traffic_runs(const struct traffic *t, size_t *nr)
{
	*nr = t->runs.len / sizeof(struct traffic_run);
	return (const struct traffic_run *)t->runs.data;
}

const struct traffic_jump *traffic_jumps(const struct traffic *t, size_t *nr)
{
	*nr = t->jumps.len / sizeof(struct traffic_jump);
	return (const struct traffic_jump *)t->jumps.data;
}

void traffic_reset(struct traffic *t)
{
	buf_reset(&t->runs);
	buf_reset(&t->jumps);
	buf_reset(&t->entries);
}

void traffic_fini(struct traffic *t)
{
	buf_fini(&t->runs);
	buf_fini(&t->jumps);
	buf_fini(&t->entries);
}

double traffic_entries(const struct cfg *cfg, const struct freq *freq)
{
	const struct cfg_block *entry = &cfg->block[0];
	double n = freq->block[0];

	for (int i = entry->first_in; i < entry->first_in + entry->nr_in; i++)
		n -= freq->edge[cfg->in[i]];
	return at_least_0(n);
}
