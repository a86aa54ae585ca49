/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pairs.c - one sum over all pairs, or over random pairs that stand for all
 *
 * Deviations from the paper: the width of the machine and its window are taken from the
 * trace; the first of a pair is chosen at random among fetched operations, because a
 * trace does not have empty fetch opportunities.
 */
#include "config.h"

#include "analysis/trace/pairs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"

struct pairs_op {
	uint64_t id, pc, fetched, issued, ready; /* cycles; issued 0: never */
	size_t row;
	bool retired;
};

struct pairs {
	struct pairs_op *op; /* by id, once it is prepared */
	size_t nr;
	struct pairs_row *row; /* zeroed but for their PCs */
	size_t nr_rows;
	unsigned int width, window;
};

struct pairs *pairs_new(void)
{
	return calloc(1, sizeof(struct pairs));
}

void pairs_free(struct pairs *p)
{
	if (!p)
		return;
	free(p->op);
	free(p->row);
	free(p);
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int pairs_add(struct pairs *p, const struct trace_op *op)
{
	if (p->nr == PAIRS_MAX_OPS)
		return -CPI_ELIMIT;
	if (GROW(p->op, p->nr))
		return -ENOMEM;
	p->op[p->nr++] = (struct pairs_op){
		.id = op->id,
		.pc = op->pc,
		.fetched = op->fetched,
		.issued = op->issued,
		.ready = later(op->completed, op->fetched),
		.retired = op->committed,
	};
	return 0;
}

static int by_id(const void *va, const void *vb)
{
	const struct pairs_op *a = va, *b = vb;

	return (a->id > b->id) - (a->id < b->id);
}

static int by_number(const void *va, const void *vb)
{
	const uint64_t a = *(const uint64_t *)va, b = *(const uint64_t *)vb;

	return (a > b) - (a < b);
}

static int by_pc(const void *va, const void *vb)
{
	const struct pairs_row *a = va, *b = vb;

	return (a->pc > b->pc) - (a->pc < b->pc);
}

static int make_rows(struct pairs *p)
{
	uint64_t *pc = calloc(p->nr + 1, sizeof(*pc));

	p->row = calloc(p->nr + 1, sizeof(*p->row));
	if (!pc || !p->row) {
		free(pc);
		return -ENOMEM;
	}
	for (size_t i = 0; i < p->nr; i++)
		pc[i] = p->op[i].pc;
	qsort(pc, p->nr, sizeof(*pc), by_number);
	for (size_t i = 0; i < p->nr; i++) {
		if (!i || pc[i] != pc[i - 1])
			p->row[p->nr_rows++].pc = pc[i];
	}
	for (size_t i = 0; i < p->nr; i++) {
		const struct pairs_row key = { .pc = p->op[i].pc }, *found;

		found = bsearch(&key, p->row, p->nr_rows, sizeof(key), by_pc);
		p->op[i].row = found - p->row;
	}
	free(pc);
	return 0;
}

/* The most that issue in one cycle. */
static int find_width(struct pairs *p)
{
	uint64_t *cycle = calloc(p->nr + 1, sizeof(*cycle));
	unsigned int n = 0;
	size_t nr = 0;

	if (!cycle)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr; i++) {
		if (p->op[i].issued)
			cycle[nr++] = p->op[i].issued;
	}
	qsort(cycle, nr, sizeof(*cycle), by_number);
	for (size_t i = 0; i < nr; i++) {
		n = i && cycle[i] == cycle[i - 1] ? n + 1 : 1;
		p->width = n > p->width ? n : p->width;
	}
	free(cycle);
	return nr ? 0 : -CPI_EEMPTY;
}

/*
 * Finds the window: the most operations that are fetched after one until it has
 * issued and is ready.
 */
static void find_window(struct pairs *p)
{
	p->window = 1;
	for (size_t i = 0; i < p->nr; i++) {
		const uint64_t end = later(p->op[i].ready, p->op[i].issued + 1);
		size_t to = i + p->window;

		while (p->window < PAIRS_MAX_WINDOW && to + 1 < p->nr &&
		       p->op[to + 1].fetched < end) {
			to++;
			p->window++;
		}
	}
}

static int prepare(struct pairs *p)
{
	int err;

	if (p->row)
		return 0;
	if (p->nr)
		qsort(p->op, p->nr, sizeof(*p->op), by_id);
	err = find_width(p);
	if (!err)
		err = make_rows(p);
	if (!err)
		find_window(p);
	return err;
}

/* Whether b overlaps usefully with a. */
static bool is_useful(const struct pairs_op *a, const struct pairs_op *b)
{
	return b->retired && b->issued && b->issued >= a->fetched &&
	       b->issued < a->ready;
}

static void count_op(struct pairs_row *row, const struct pairs_op *op, double weight)
{
	row[op->row].fetched += weight;
	row[op->row].retired += op->retired ? weight : 0;
	row[op->row].latency += (double)(op->ready - op->fetched) * weight;
}

static int begin_result(struct pairs *p, struct pairs_result *out)
{
	int err = prepare(p);

	if (err)
		return err;
	*out = (struct pairs_result){ .nr = p->nr_rows,
				      .operations = p->nr,
				      .width = p->width,
				      .window = p->window };
	out->row = calloc(p->nr_rows, sizeof(*out->row));
	if (!out->row)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_rows; i++)
		out->row[i].pc = p->row[i].pc;
	return 0;
}

static void end_result(struct pairs_result *r)
{
	for (size_t i = 0; i < r->nr; i++)
		r->row[i].wasted = r->row[i].latency * r->width - r->row[i].useful;
}

int pairs_exact(struct pairs *p, struct pairs_result *out)
{
	struct pairs_result r;
	int err = begin_result(p, &r);

	if (err)
		return err;
	for (size_t i = 0; i < p->nr; i++) {
		count_op(r.row, &p->op[i], 1);
		for (size_t k = i + 1; k < p->nr && k <= i + p->window; k++) {
			r.row[p->op[i].row].useful += is_useful(&p->op[i], &p->op[k]);
			r.row[p->op[k].row].useful += is_useful(&p->op[k], &p->op[i]);
		}
	}
	end_result(&r);
	*out = r;
	return 0;
}

/* Uniform in 1 .. n. */
static uint64_t draw_below(uint64_t *state, uint64_t n)
{
	*state += 0x9e3779b97f4a7c15;
	return 1 + hash_u64(*state) % n;
}

int pairs_estimate(struct pairs *p, uint64_t interval, uint64_t seed,
		   struct pairs_result *out)
{
	struct pairs_result r;
	int err = begin_result(p, &r);

	if (err)
		return err;
	for (size_t i = draw_below(&seed, interval) - 1; i < p->nr;
	     i += draw_below(&seed, 2 * interval - 1)) {
		const size_t k = i + draw_below(&seed, p->window);
		const double weight = (double)interval * p->window;

		if (k >= p->nr)
			continue;
		count_op(r.row, &p->op[i], interval / 2.0);
		count_op(r.row, &p->op[k], interval / 2.0);
		r.row[p->op[i].row].useful +=
			is_useful(&p->op[i], &p->op[k]) ? weight : 0;
		r.row[p->op[k].row].useful +=
			is_useful(&p->op[k], &p->op[i]) ? weight : 0;
	}
	end_result(&r);
	*out = r;
	return 0;
}
