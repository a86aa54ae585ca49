/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * values.c - counts targets of indirect jumps, and iterations of loops, in windows
 *
 * A cell counts one value of one site. Cells are bounded; executions with a value that
 * found no room are unknown, like those whose window ended at the jump.
 */
#include "config.h"

#include "analysis/values/values.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "abi/window.h"
#include "analysis/math/unseen.h"
#include "analysis/values/loop_runs.h"
#include "base/hash.h"
#include "base/hmap.h"

enum { KNOWN, AT_LEAST };

struct cell {
	struct hnode node;
	struct site *site;
	uint64_t value;
	uint32_t image;
	uint32_t kind; /* KNOWN, or AT_LEAST: a run that the window's end cut */
	uint32_t last; /* window that was counted, + 1 */
	uint64_t seen, windows;
	double weight;
};

struct site {
	enum value_kind kind;
	int insn;
	struct buf cells; /* struct cell * */
	uint64_t seen, windows;
	double weight, unknown;
	double window_weight; /* of the window that is counted now */
	double squares;       /* Σ w² of the windows before it */
	uint64_t copies;      /* of that window */
	uint32_t last;        /* its number, + 1 */
};

struct counter {
	const struct cfg *cfg;
	uint32_t image;
	struct arena *arena;
	struct loop_runs *runs;
	struct site **by_insn;  /* of jumps; NULL: it is no site */
	struct site **by_block; /* of loops, by head */
	struct buf sites;       /* struct site * */
	struct hmap cells;
	size_t nr_cells;
	const struct window *window;
	uint32_t number; /* of window, + 1 */
	double weight;   /* of it */
};

static struct site *add_site(struct counter *c, enum value_kind kind, int insn)
{
	struct site *s = arena_alloc(c->arena, sizeof(*s));

	if (!s)
		return NULL;
	*s = (struct site){ .kind = kind, .insn = insn };
	buf_put(&c->sites, &s, sizeof(s));
	return c->sites.err ? NULL : s;
}

static struct site **sites_of(const struct counter *c, size_t *nr)
{
	*nr = c->sites.len / sizeof(struct site *);
	return (struct site **)c->sites.data;
}

/* Closes the account of the window that the site was in. */
static void end_window(struct site *s)
{
	if (s->copies)
		s->squares += s->window_weight * s->window_weight / (double)s->copies;
	s->window_weight = 0;
}

/* Counts an execution of a site, with its value or without. */
static void count_execution(struct counter *c, struct site *s, bool known)
{
	const uint64_t n = c->window->n;

	if (s->last != c->number) {
		end_window(s);
		s->last = c->number;
		s->copies = n;
		s->windows += n;
	}
	s->seen += n;
	s->weight += c->weight;
	s->window_weight += c->weight;
	s->unknown += known ? 0 : c->weight;
}

static struct cell *find_cell(const struct counter *c, const struct cell *key,
			      uint64_t hash)
{
	struct hnode *n = hmap_first(&c->cells, hash);

	for (; n; n = hmap_next(n)) {
		struct cell *cell = container_of(n, struct cell, node);

		if (cell->site == key->site && cell->value == key->value &&
		    cell->image == key->image && cell->kind == key->kind)
			return cell;
	}
	return NULL;
}

/* The cell like key; *out is NULL if there is no room. 0 or -ENOMEM. */
static int cell_of(struct counter *c, const struct cell *key, struct cell **out)
{
	const uint64_t place = hash_u64((uint64_t)key->site->insn << 8 |
					(uint64_t)key->site->kind << 1 | key->kind);
	const uint64_t hash = hash_u64(place ^ key->value) ^ key->image;
	struct cell *cell = find_cell(c, key, hash);

	if (!cell && c->nr_cells < VALUES_MOST) {
		cell = arena_alloc(c->arena, sizeof(*cell));
		if (!cell || hmap_insert(&c->cells, &cell->node, hash))
			return -ENOMEM;
		cell->site = key->site;
		cell->value = key->value;
		cell->image = key->image;
		cell->kind = key->kind;
		buf_put(&key->site->cells, &cell, sizeof(cell));
		c->nr_cells++;
	}
	*out = cell;
	return key->site->cells.err;
}

static int count_value(struct counter *c, const struct cell *key)
{
	struct cell *cell = NULL;
	int err = cell_of(c, key, &cell);

	if (err)
		return err;
	count_execution(c, key->site, cell);
	if (!cell)
		return 0;
	if (cell->last != c->number)
		cell->windows += c->window->n;
	cell->last = c->number;
	cell->seen += c->window->n;
	cell->weight += c->weight;
	return 0;
}

/* The index of the instruction at an offset, or -1. */
static int insn_at(const struct cfg *cfg, uint64_t offset)
{
	const int b = cfg_block_at(cfg, offset);

	for (int i = 0; b >= 0 && i < cfg->block[b].nr_insns; i++) {
		const int insn = cfg->block[b].first_insn + i;

		if (cfg->insn[insn].address - cfg->bias == offset)
			return insn;
	}
	return -1;
}

static struct site *jump_at(const struct counter *c, uint32_t image, uint64_t offset)
{
	const int insn = image == c->image ? insn_at(c->cfg, offset) : -1;

	return insn < 0 ? NULL : c->by_insn[insn];
}

static bool is_indirect(const struct insn *insn)
{
	return insn->kind & INSN_INDIRECT && insn->kind & (INSN_JUMP | INSN_CALL) &&
	       !(insn->kind & INSN_RETURN);
}

static int count_jumps(struct counter *c, uint32_t image)
{
	const struct window *w = c->window;
	int err = 0;

	for (uint32_t i = 0; !err && i < w->nr_jumps; i++) {
		const struct window_jump *j = &w->jump[i];
		struct cell key = { .site = jump_at(c, image, j->from),
				    .value = j->to,
				    .image = j->image };

		if (key.site)
			err = count_value(c, &key);
		image = j->image;
	}
	if (!err && w->reason == CPI_WINDOW_UNKNOWN_TARGET) {
		struct site *s = jump_at(c, image, w->end);

		if (s)
			count_execution(c, s, false);
	}
	return err;
}

static int on_run(void *ctx, const struct loop_run *run)
{
	struct counter *c = ctx;
	const struct cell key = { .site = c->by_block[run->head],
				  .value = run->iterations,
				  .kind = run->complete ? KNOWN : AT_LEAST };

	return key.site ? count_value(c, &key) : 0;
}

static int on_window(void *ctx, const struct window *w, uint32_t image, double weight)
{
	struct counter *c = ctx;
	int err;

	c->window = w;
	c->weight = weight;
	c->number++;
	err = count_jumps(c, image);
	if (!err)
		err = loop_runs_window(c->runs, w, image, on_run, c);
	return err;
}

static int find_sites(struct counter *c)
{
	const struct cfg *cfg = c->cfg;

	c->by_insn = arena_array(c->arena, cfg->nr_insns + 1, sizeof(*c->by_insn));
	c->by_block = arena_array(c->arena, cfg->nr_blocks, sizeof(*c->by_block));
	c->runs = loop_runs_new(cfg, c->image, c->arena);
	if (!c->by_insn || !c->by_block || !c->runs)
		return -ENOMEM;
	for (int i = 0; i < cfg->nr_insns; i++) {
		if (!is_indirect(&cfg->insn[i]))
			continue;
		c->by_insn[i] = add_site(c, VALUE_TARGET, i);
		if (!c->by_insn[i])
			return -ENOMEM;
	}
	for (int b = 0; b < cfg->exit; b++) {
		if (!loop_runs_has(c->runs, b))
			continue;
		c->by_block[b] =
			add_site(c, VALUE_ITERATIONS, cfg->block[b].first_insn);
		if (!c->by_block[b])
			return -ENOMEM;
	}
	return 0;
}

/* Ascending; of equal values, runs that were cut first (see put_iterations()). */
static int by_length(const void *va, const void *vb)
{
	const struct cell *a = *(struct cell *const *)va,
			  *b = *(struct cell *const *)vb;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (a->kind < b->kind) - (a->kind > b->kind);
}

static int by_share(const void *va, const void *vb)
{
	const struct value *a = va, *b = vb;

	if (a->share.value != b->share.value)
		return a->share.value < b->share.value ? 1 : -1;
	if (a->image != b->image)
		return a->image < b->image ? -1 : 1;
	return (a->value > b->value) - (a->value < b->value);
}

/* Adds a value with its share; all: the weight of the site. */
static void put_value(struct value_site *out, const struct site *s,
		      const struct cell *cell, double share)
{
	const double worth = s->squares > 0 ? s->weight * s->weight / s->squares : 0;
	const double estimated = share * s->weight;
	const double windows =
		estimated > 0 ? worth * fmin(cell->weight / estimated, 1) : worth;

	out->value[out->nr++] = (struct value){
		.value = cell->value,
		.image = cell->image,
		.seen = cell->seen,
		.windows = cell->windows,
		.share = interval_share(share * windows, windows),
	};
}

/*
 * The product limit. A run that was cut at k iterations may have had k, so it leaves
 * the runs that are left before those with k complete iterations are looked at.
 */
static void put_iterations(struct value_site *out, const struct site *s,
			   struct cell *const *cell, size_t nr)
{
	double left = s->weight - s->unknown;
	/* Runs for which there was no room are unknown, whatever the others say. */
	double survive = s->weight > 0 ? left / s->weight : 1;

	for (size_t i = 0; i < nr; i++) {
		if (cell[i]->kind == KNOWN && left > 0) {
			const double ended = fmin(cell[i]->weight / left, 1);

			put_value(out, s, cell[i], survive * ended);
			survive *= 1 - ended;
		}
		left -= cell[i]->weight;
	}
	out->unknown = survive > 1e-12 ? survive : 0;
}

static void put_targets(struct value_site *out, const struct site *s,
			struct cell *const *cell, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		put_value(out, s, cell[i], cell[i]->weight / s->weight);
	out->unknown = s->unknown / s->weight;
}

static void find_distinct(struct value_site *out)
{
	double once = 0, twice = 0;

	for (size_t i = 0; i < out->nr; i++) {
		once += out->value[i].windows == 1;
		twice += out->value[i].windows == 2;
	}
	out->distinct = (double)out->nr + unseen_kinds(once, twice);
}

static int put_site(struct counter *c, struct values *out, struct site *s)
{
	struct cell **cell = (struct cell **)s->cells.data;
	const size_t nr = s->cells.len / sizeof(*cell);
	struct value_site *to = &out->site[out->nr++];

	*to = (struct value_site){
		.kind = s->kind, .insn = s->insn, .seen = s->seen, .windows = s->windows
	};
	to->value = arena_array(c->arena, nr + 1, sizeof(*to->value));
	if (!to->value)
		return -ENOMEM;
	end_window(s);
	if (nr)
		qsort(cell, nr, sizeof(*cell), by_length);
	if (s->kind == VALUE_ITERATIONS)
		put_iterations(to, s, cell, nr);
	else
		put_targets(to, s, cell, nr);
	qsort(to->value, to->nr, sizeof(*to->value), by_share);
	find_distinct(to);
	return 0;
}

static int put_sites(struct counter *c, struct values *out)
{
	size_t nr;
	struct site **site = sites_of(c, &nr);
	int err = 0;

	out->site = arena_array(c->arena, nr + 1, sizeof(*out->site));
	if (!out->site)
		return -ENOMEM;
	for (size_t i = 0; !err && i < nr; i++) {
		if (site[i]->weight > 0)
			err = put_site(c, out, site[i]);
	}
	return err;
}

int values_find(const struct cfg *cfg, const struct window_weights *ww, uint32_t image,
		struct arena *arena, struct values *out)
{
	struct counter c = { .cfg = cfg, .image = image, .arena = arena };
	struct values found = { 0 };
	size_t nr;
	struct site **site;
	int err = find_sites(&c);

	if (!err && c.sites.len)
		err = window_weights_each(ww, on_window, &c);
	if (!err)
		err = put_sites(&c, &found);
	site = sites_of(&c, &nr);
	for (size_t i = 0; i < nr; i++)
		buf_fini(&site[i]->cells);
	buf_fini(&c.sites);
	hmap_fini(&c.cells);
	if (!err)
		*out = found;
	return err;
}
