/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cyclestack.c - where the cycles of weighted samples went, by kind of instruction
 *
 * A stall at the head of the reorder buffer is charged to the kind of the instruction
 * there: a load, a store or another one. The kind comes from the recording's text of
 * the instruction, or else from its decoded code.
 */
#include "config.h"

#include "report/explain/cyclestack.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace.h"
#include "base/search.h"
#include "report/explain/explainer_private.h"

#define MAX_INSN_BYTES 16

/* The sources of the kinds of an image's instructions. */
struct kinds {
	const struct query_instructions *named;
	struct image *im; /* or NULL */
	struct isa *isa;  /* or NULL */
};

static const char *name_at(const struct query_instructions *named, uint64_t offset)
{
	const size_t at = SEARCH(i, named->nr, named->instruction[i].start >= offset);

	return at < named->nr && named->instruction[at].start == offset
		       ? named->instruction[at].text
		       : NULL;
}

/*
 * Tries smaller sizes, because the image may end before the longest instruction does.
 */
static enum trace_kind decoded_kind(const struct kinds *k, uint64_t offset)
{
	uint8_t code[MAX_INSN_BYTES];
	size_t size = k->isa ? sizeof(code) : 0;
	struct insn insn;

	while (size && image_read(k->im, offset, code, size))
		size--;
	if (!size ||
	    isa_decode(k->isa, code, size, image_address(k->im, offset), &insn))
		return TRACE_ALU;
	if (insn.kind & INSN_LOAD)
		return TRACE_LOAD;
	return insn.kind & INSN_STORE ? TRACE_STORE : TRACE_ALU;
}

static enum cyclestack_row row_of(const struct kinds *k, enum weight weight,
				  uint64_t offset)
{
	static const enum cyclestack_row stalls[] = { [TRACE_ALU] = CYCLESTACK_ALU,
						      [TRACE_LOAD] = CYCLESTACK_LOAD,
						      [TRACE_STORE] =
							      CYCLESTACK_STORE };
	static const enum cyclestack_row rows[] = {
		[WEIGHT_EXECUTION] = CYCLESTACK_EXECUTION,
		[WEIGHT_FRONT_END] = CYCLESTACK_FRONT_END,
		[WEIGHT_MISPREDICT] = CYCLESTACK_MISPREDICT,
		[WEIGHT_FLUSH] = CYCLESTACK_FLUSH,
		[WEIGHT_EXCEPTION] = CYCLESTACK_FLUSH,
	};
	const char *name;

	if (weight != WEIGHT_STALL)
		return rows[weight];
	name = name_at(k->named, offset);
	return stalls[name ? trace_kind(name) : decoded_kind(k, offset)];
}

static void add_row(struct cyclestack *s, enum cyclestack_row row, double samples)
{
	s->row[row] += samples;
	s->all += samples;
}

/* A walk over the weights of the loaded image, in no particular order. */
struct image_time {
	const struct explainer *x;
	struct kinds kinds;
	uint64_t start, end;   /* the wanted offsets */
	struct image *unnamed; /* only offsets without a symbol in it; or NULL */
	int (*fn)(void *ctx, uint64_t offset, enum cyclestack_row row, double samples);
	void *ctx;
};

static bool is_wanted(const struct image_time *w, uint64_t offset)
{
	return offset >= w->start && offset < w->end &&
	       !(w->unnamed && image_symbol_at(w->unnamed, offset));
}

static int weigh_kind(const struct image_time *w, const struct profile *p,
		      enum weight weight, double worth)
{
	struct profile *weights = profile_weights(p, weight);
	size_t nr = 0;
	const struct count *c = weights ? profile_sorted(weights, &nr) : NULL;
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		if (is_wanted(w, c[i].offset))
			err = w->fn(w->ctx, c[i].offset,
				    row_of(&w->kinds, weight, c[i].offset),
				    (double)c[i].n * worth);
	}
	return err;
}

static int weigh_profile(const struct image_time *w, const struct profile *p,
			 size_t stream)
{
	const double worth = scope_amount(w->x->scope, stream, 1) / WEIGHT_UNIT;
	int err = 0;

	if (!(worth > 0) || !attribution_weighs(w->x->scope->source.asked, p))
		return 0;
	for (int weight = 0; weight < NR_WEIGHTS && !err; weight++)
		err = weigh_kind(w, p, weight, worth);
	return err;
}

static void kinds_init(struct kinds *k, const struct query_instructions *named,
		       struct image *im)
{
	*k = (struct kinds){ .named = named, .im = im };
	if (im && isa_open(image_machine(im), &k->isa))
		k->isa = NULL;
}

/* Adds a row; merge_rows() adds up the rows of one offset. */
static int note_weight(void *ctx, uint64_t offset, enum cyclestack_row row,
		       double samples)
{
	struct buf *rows = ctx;
	struct cyclestack_insn in = { .offset = offset };

	add_row(&in.stack, row, samples);
	buf_put(rows, &in, sizeof(in));
	return rows->err;
}

static int by_offset(const void *va, const void *vb)
{
	const struct cyclestack_insn *a = va, *b = vb;

	return (a->offset > b->offset) - (a->offset < b->offset);
}

/* Merges the rows of each offset to one. */
static void merge_rows(struct cyclestack_list *list)
{
	size_t nr = 0;

	qsort(list->insn, list->nr, sizeof(*list->insn), by_offset);
	for (size_t i = 0; i < list->nr; i++) {
		const struct cyclestack_insn *in = &list->insn[i];

		for (int r = 0; r < NR_CYCLESTACK_ROWS; r++)
			add_row(&list->sum, r, in->stack.row[r]);
		if (!nr || list->insn[nr - 1].offset != in->offset) {
			list->insn[nr++] = *in;
			continue;
		}
		for (int r = 0; r < NR_CYCLESTACK_ROWS; r++)
			add_row(&list->insn[nr - 1].stack, r, in->stack.row[r]);
	}
	list->nr = nr;
	for (size_t i = 0; i < nr; i++)
		list->insn[i].text = name_at(&list->named, list->insn[i].offset);
}

int cyclestack_list(const struct explainer *x, const struct explanation *ex,
		    struct cyclestack_list *out)
{
	struct cyclestack_list list = { 0 };
	struct buf rows = { 0 };
	struct image_time w = { .x = x,
				.start = ex->symbol ? ex->symbol->start : 0,
				.end = ex->symbol ? ex->symbol->end : UINT64_MAX,
				.unnamed = ex->symbol ? NULL : ex->im,
				.fn = note_weight,
				.ctx = &rows };
	int err = 0;

	if (explainer_has_weights(x, x->profile))
		err = query_instructions(x->scope->sel.db, ex->image->id, &list.named);
	if (err)
		return err;
	kinds_init(&w.kinds, &list.named, ex->im);
	for (size_t i = 0; i < x->scope->sel.streams.nr && !err; i++) {
		if (x->profile[i])
			err = weigh_profile(&w, x->profile[i], i);
	}
	for (size_t i = 0; i < list.named.nr && !err; i++) {
		const uint64_t at = list.named.instruction[i].start;

		if (is_wanted(&w, at))
			err = note_weight(&rows, at, CYCLESTACK_EXECUTION, 0);
	}
	isa_close(w.kinds.isa);
	list.insn = (struct cyclestack_insn *)rows.data;
	list.nr = rows.len / sizeof(*list.insn);
	if (err) {
		cyclestack_list_fini(&list);
		return err;
	}
	if (list.nr)
		merge_rows(&list);
	*out = list;
	return 0;
}

void cyclestack_list_fini(struct cyclestack_list *list)
{
	query_instructions_fini(&list->named);
	free(list->insn);
}

struct summing {
	const struct explainer *x;
	const struct found_place *place;
	struct cyclestack stack;
};

static int sum_weight(void *ctx, uint64_t offset, enum cyclestack_row row,
		      double samples)
{
	(void)offset;
	add_row(ctx, row, samples);
	return 0;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct summing *s = ctx;
	const struct scope *l = s->x->scope;
	const struct found_place *place = s->place;
	const struct query_stream *stream =
		query_stream_by_id(&l->sel.streams, q->stream);
	struct image_time w = { .x = s->x,
				.start = place ? place->start : 0,
				.end = place ? place->end : UINT64_MAX,
				.fn = sum_weight,
				.ctx = &s->stack };
	struct query_instructions named;
	struct image *im = NULL;
	int err;

	if (!stream || !profile_is_weighted(q->profile) ||
	    (place && place->image.id != q->image.id))
		return 0;
	err = query_instructions(l->sel.db, q->image.id, &named);
	if (err)
		return err;
	if (image_cache_get(l->images, &q->image, &im))
		im = NULL;
	if (place && place->kind == PLACE_UNNAMED)
		w.unnamed = im;
	kinds_init(&w.kinds, &named, im);
	err = weigh_profile(&w, q->profile, stream - l->sel.streams.stream);
	isa_close(w.kinds.isa);
	query_instructions_fini(&named);
	return err;
}

int cyclestack_sum(const struct explainer *x, const struct found_place *place,
		   struct cyclestack *out)
{
	struct summing s = { .x = x, .place = place };
	int err = query_profiles(x->scope->sel.db, &x->scope->sel.query, on_profile, &s,
				 NULL);

	if (err)
		select_failed(&x->scope->sel, err);
	else
		*out = s.stack;
	return err;
}
