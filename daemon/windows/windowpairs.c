/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowpairs.c - turns pairs of samples into loop iterations per time
 */
#include "config.h"

#include "daemon/windows/windowpairs.h"

#include <stdlib.h>
#include <sys/param.h>

#include "analysis/windows/steps.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/hmap.h"

#if defined(__aarch64__)
#define CLOBBERED STEPS_CLOBBERED_AARCH64
#define SP        CPI_REG_AARCH64_SP
#else
#define CLOBBERED STEPS_CLOBBERED_X86_64
#define SP        CPI_REG_X86_RSP
#endif

#define MOST_PER_NS 8      /* rounds: no machine is faster */
#define TRIED       8      /* pairs of a loop, after which their longest may change */
#define SHORTEST_NS 100000 /* below, interrupts take too large a part */
#define MOST_LOOPS  4096   /* judged at a time: 300 kB; then all are forgotten */

/* The pairs of a loop, by the instruction that counts its rounds. */
struct loop_pairs {
	struct hnode node;
	const struct known_image *image; /* only to be compared */
	uint64_t offset;
	uint64_t most_ns; /* longer ones are left out */
	uint64_t seen_ns; /* the longest of those below */
	int nr, nr_bad;   /* since most_ns changed, or the last TRIED */
};

struct windowpairs {
	struct steps *steps;
	struct hmap loops; /* struct loop_pairs */
	struct cpi_pair_record *record;
	size_t nr, cap;
	struct cpi_pair_counts counts; /* the kernel side's */
	uint64_t nr_by_outcome[NR_PAIR_OUTCOMES];
};

struct windowpairs *windowpairs_new(void)
{
	struct windowpairs *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->steps = steps_new();
	if (p->steps)
		return p;
	free(p);
	return NULL;
}

static void forget_loops(struct windowpairs *p)
{
	struct hnode *n, *next;

	hmap_for_each (&p->loops, n, next) {
		hmap_remove(&p->loops, n);
		free(container_of(n, struct loop_pairs, node));
	}
}

void windowpairs_free(struct windowpairs *p)
{
	if (!p)
		return;
	forget_loops(p);
	hmap_fini(&p->loops);
	steps_free(p->steps);
	free(p->record);
	free(p);
}

void windowpairs_take(struct windowpairs *p, const struct cpi_pair_record *r)
{
	struct cpi_pair_record *grown = grow(p->record, p->nr, &p->cap, sizeof(*grown));

	if (!grown) {
		p->nr_by_outcome[PAIR_NO_SPACE]++;
		return;
	}
	p->record = grown;
	p->record[p->nr++] = *r;
}

const struct cpi_pair_record *windowpairs_kept(const struct windowpairs *p, size_t *nr)
{
	*nr = p->nr;
	return p->record;
}

void windowpairs_forget(struct windowpairs *p)
{
	p->nr = 0;
}

void windowpairs_note_counts(struct windowpairs *p, const struct cpi_pair_counts *sum)
{
	p->counts = *sum;
	p->nr_by_outcome[PAIR_SWITCHED] = sum->dropped[CPI_PAIR_DROP_SWITCHED];
	p->nr_by_outcome[PAIR_RING_LOST] = sum->dropped[CPI_PAIR_DROP_RING];
}

/* ---- how long pairs of a loop may be ---- */

/* NULL: there is no memory, so that its pairs may have any length. */
static struct loop_pairs *loop_of(struct windowpairs *p, const struct tally_site *at)
{
	const uint64_t hash = hash_u64((uintptr_t)at->image ^ at->offset);
	struct loop_pairs *l;

	for (struct hnode *n = hmap_first(&p->loops, hash); n; n = hmap_next(n)) {
		l = container_of(n, struct loop_pairs, node);
		if (l->image == at->image && l->offset == at->offset)
			return l;
	}
	if (p->loops.nr == MOST_LOOPS)
		forget_loops(p);
	l = calloc(1, sizeof(*l));
	if (!l)
		return NULL;
	*l = (struct loop_pairs){ .image = at->image,
				  .offset = at->offset,
				  .most_ns = UINT64_MAX };
	if (!hmap_insert(&p->loops, &l->node, hash))
		return l;
	free(l);
	return NULL;
}

static void judge(struct loop_pairs *l, uint64_t ns, bool is_bad)
{
	l->nr++;
	l->nr_bad += is_bad;
	l->seen_ns = MAX(l->seen_ns, ns);
	if (l->nr < TRIED)
		return;
	if (2 * l->nr_bad >= l->nr)
		l->most_ns = MAX(l->seen_ns / 2, SHORTEST_NS);
	else if (!l->nr_bad)
		l->most_ns = l->most_ns > UINT64_MAX / 2 ? UINT64_MAX : 2 * l->most_ns;
	l->nr = l->nr_bad = 0;
	l->seen_ns = 0;
}

/* ---- what a pair tells ---- */

/* Steps of the loops around the instruction where a pair began. */
struct inner_steps {
	uint64_t at[STEPS_MAX];
	uint32_t nr;
};

/*
 * How often the block of a step ran. False if it cannot have: the register went the
 * other way, by no multiple of its step, or too fast.
 */
static bool count_rounds(const struct cpi_pair_record *r, const struct step *s,
			 uint64_t *out)
{
	const uint64_t raw = r->change[s->reg];
	int64_t change = s->narrow ? (int32_t)(uint32_t)raw : (int64_t)raw;
	int64_t by = s->by;

	if (by < 0) {
		if (change == INT64_MIN || by == INT64_MIN)
			return false;
		change = -change;
		by = -by;
	}
	if (change < 0 || (uint64_t)change % s->unit)
		return false;
	*out = (uint64_t)change / (uint64_t)by;
	return *out <= r->ns * MOST_PER_NS;
}

/* Adds a pair of so many rounds to what is known of an instruction. */
static int add_pace(struct windowtally *to, const struct tally_site *at,
		    const struct tally_site *start, uint32_t class, uint64_t ns,
		    uint64_t rounds)
{
	struct edge e = { .from = at->offset,
			  .to = class,
			  .n = rounds + 1,
			  .cycles = ns,
			  .nr_timed = 1 };
	int err = tally_add_edge(to->tally, 0, EDGES_PACE, at->image, at->image, &e);

	if (err || class > EDGES_PACE_NONE)
		return err;
	e.to = start->offset;
	return tally_add_edge(to->tally, 0, EDGES_PACE_START, at->image, start->image,
			      &e);
}

/* What a pair is in the histogram of a step, and the rounds that it counts. */
static uint32_t classify(const struct cpi_pair_record *r, const struct step *s,
			 uint64_t *rounds)
{
	const int64_t sp = (int64_t)r->change[SP];

	*rounds = 0;
	if (s->second == STEP_OUTSIDE)
		return s->calls && sp < 0 ? EDGES_PACE_BELOW : EDGES_PACE_LEFT;
	if (s->first == STEP_INSIDE && s->second == STEP_INSIDE && sp)
		return EDGES_PACE_LEFT; /* for another call of the procedure */
	if (count_rounds(r, s, rounds))
		return edges_pace_class(r->ns, *rounds);
	*rounds = 0;
	return EDGES_PACE_DISAGREES;
}

/* The evidence of a pair about one register. */
static enum windowpairs_outcome
add_step(struct windowpairs *p, const struct cpi_pair_record *r, const struct step *s,
	 const struct windowpairs_code *code, struct windowtally *to)
{
	struct tally_site at, start;
	struct loop_pairs *loop;
	uint64_t rounds;
	uint32_t class;

	if (s->reg == SP || s->first == STEP_OUTSIDE)
		return PAIR_NO_COUNTER;
	if (!code->find(code->ctx, r->from, &start) ||
	    !code->find(code->ctx, s->at, &at))
		return PAIR_STALE;
	loop = loop_of(p, &at);
	if (loop && r->ns > loop->most_ns)
		return PAIR_LONG;
	class = classify(r, s, &rounds);
	if (loop)
		judge(loop, r->ns,
		      class == EDGES_PACE_LEFT || class == EDGES_PACE_DISAGREES);
	if (add_pace(to, &at, &start, class, r->ns, rounds))
		return PAIR_NO_SPACE;
	if (class == EDGES_PACE_LEFT)
		return PAIR_LEFT;
	return class == EDGES_PACE_DISAGREES ? PAIR_DISAGREES : PAIR_STORED;
}

/*
 * Whether another step with the same block and positions tells as much, or more: a
 * pointer that goes on while an outer loop sets the index anew has a larger region, and
 * still agrees if the inner loop was left. Of equal steps the first one is used.
 */
static bool is_told(const struct step *step, uint32_t nr, uint32_t i)
{
	for (uint32_t k = 0; k < nr; k++) {
		if (k == i || step[k].reg == SP || step[k].block != step[i].block ||
		    step[k].first != step[i].first || step[k].second != step[i].second)
			continue;
		if (step[k].nr_blocks > step[i].nr_blocks ||
		    (step[k].nr_blocks == step[i].nr_blocks && k < i))
			return true;
	}
	return false;
}

/* Whether the loops around the pair's own instruction have this step. */
static bool is_inner(const struct inner_steps *inner, uint64_t at)
{
	for (uint32_t i = 0; i < inner->nr; i++) {
		if (inner->at[i] == at)
			return true;
	}
	return false;
}

/* Finds the best evidence of a pair about the loops around an instruction. */
static enum windowpairs_outcome
add_loops(struct windowpairs *p, const struct cpi_pair_record *r, uint64_t around,
	  const struct windowpairs_code *code, struct inner_steps *inner,
	  struct windowtally *to)
{
	const struct steps_code steps = { code->code, code->ctx, CLOBBERED };
	enum windowpairs_outcome best = PAIR_NO_COUNTER;
	struct step step[STEPS_MAX];
	const uint32_t nr = steps_find(p->steps, &steps, around, r->from, r->to, step);

	for (uint32_t i = 0; i < nr; i++) {
		enum windowpairs_outcome one;

		if (is_told(step, nr, i) || is_inner(inner, step[i].at))
			continue;
		one = add_step(p, r, &step[i], code, to);
		if (best == PAIR_NO_COUNTER || one == PAIR_STORED)
			best = one;
		if (around == r->from)
			inner->at[inner->nr++] = step[i].at;
	}
	return best;
}

static bool was_tried(const struct cpi_pair_record *r, int i)
{
	for (int k = 0; k < i; k++) {
		if (r->back[k] == r->back[i])
			return true;
	}
	return r->back[i] == r->from;
}

/*
 * In a small procedure, the loop may be the nearest one around the calls that led to
 * it. If the pair began in the loop itself, the returns lead to the same loop.
 */
static enum windowpairs_outcome add_pair(struct windowpairs *p,
					 const struct cpi_pair_record *r,
					 const struct windowpairs_code *code,
					 struct windowtally *to)
{
	struct inner_steps told = { .nr = 0 };
	const enum windowpairs_outcome inner =
		add_loops(p, r, r->from, code, &told, to);
	enum windowpairs_outcome outer = PAIR_NO_COUNTER;

	for (int i = 0; i < CPI_PAIR_BACK && r->back[i] && outer == PAIR_NO_COUNTER;
	     i++) {
		if (!was_tried(r, i))
			outer = add_loops(p, r, r->back[i], code, &told, to);
	}
	return inner == PAIR_NO_COUNTER || outer == PAIR_STORED ? outer : inner;
}

void windowpairs_add(struct windowpairs *p, const struct cpi_pair_record *r,
		     const struct windowpairs_code *code, struct windowtally *to)
{
	p->nr_by_outcome[code ? add_pair(p, r, code, to) : PAIR_STALE]++;
}

void windowpairs_status(const struct windowpairs *p, struct buf *out)
{
	static const char *const names[NR_PAIR_OUTCOMES] = {
#define OUTCOME_NAME(name, text) [PAIR_##name] = text,
		WINDOWPAIRS_OUTCOMES(OUTCOME_NAME)
#undef OUTCOME_NAME
	};
	uint64_t done = 0;

	for (int i = 0; i < NR_PAIR_OUTCOMES; i++)
		done += p->nr_by_outcome[i];
	buf_printf(out, "pairs_received %llu\n",
		   (unsigned long long)p->counts.received);
	buf_printf(out, "pairs_pending %llu\n",
		   (unsigned long long)(p->counts.received - done));
	buf_printf(out, "pairs_stolen_ns %llu\n",
		   (unsigned long long)p->counts.stolen_ns);
	for (int i = 0; i < NR_PAIR_OUTCOMES; i++) {
		if (p->nr_by_outcome[i] || i == PAIR_STORED)
			buf_printf(out, "pairs_%s%s %llu\n",
				   i == PAIR_STORED ? "" : "lost.", names[i],
				   (unsigned long long)p->nr_by_outcome[i]);
	}
}
