/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tip.c - MICRO'21 sections 2.2 and 3.1, as one pass over the commit stage
 *
 * A cycle without a commit belongs to the next or to the last instruction, so its span
 * waits until the next commit tells which. Samples are counted a span at a time: the
 * place of a sample depends only on its number, so all policies see the same samples.
 */
#include "config.h"

#include "analysis/trace/tip.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/hmap.h"

struct tip_row_node {
	struct hnode node;
	struct tip_row r;
	bool begins_block, begins_function;
};

#define MAX_TEXT 127 /* bytes of what an instruction is called */

struct name {
	struct hnode node;
	uint64_t pc;
	char text[];
};

/* Where samples of one policy wait for the next instruction in program order. */
struct tip_stage {
	struct tip_row_node *last;
	uint64_t next; /* the first cycle that no instruction has yet */
};

struct tip {
	struct tip_sampling sampling;
	struct hmap rows, names;
	int (*tell)(void *ctx, const struct tip_sample *s); /* or NULL */
	void *tell_ctx;
	struct tip_span *waiting; /* since the last commit */
	size_t nr_waiting;
	bool begun, told;
	uint64_t first, end;  /* cycles: the first commit; behind the newest span */
	uint64_t last_commit; /* a cycle */
	uint64_t commits;
	struct tip_insn last; /* the youngest that committed */
	struct tip_stage dispatch, fetch;
	double state[TIP_NR_STATES];
	struct tip_row *sorted;
};

const char *tip_policy_str(enum tip_policy policy)
{
	static const char *const text[] = {
#define TIP_POLICY_TEXT(name, text) text,
		TIP_POLICIES(TIP_POLICY_TEXT)
#undef TIP_POLICY_TEXT
	};

	return text[policy];
}

const char *tip_state_str(enum tip_state state)
{
	static const char *const text[] = {
#define TIP_STATE_TEXT(name, text) text,
		TIP_STATES(TIP_STATE_TEXT)
#undef TIP_STATE_TEXT
	};

	return text[state];
}

const char *tip_level_str(enum tip_level level)
{
	static const char *const text[] = { "instruction", "block", "function" };

	return text[level];
}

struct tip *tip_new(const struct tip_sampling *sampling)
{
	struct tip *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->sampling = *sampling;
	t->waiting = calloc(TIP_MAX_WAIT, sizeof(*t->waiting));
	if (!t->waiting || !sampling->interval) {
		tip_free(t);
		return NULL;
	}
	return t;
}

static struct tip_row_node *row_of(struct hnode *n)
{
	return container_of(n, struct tip_row_node, node);
}

void tip_free(struct tip *t)
{
	struct hnode *n, *next;

	if (!t)
		return;
	hmap_for_each (&t->rows, n, next)
		free(row_of(n));
	hmap_for_each (&t->names, n, next)
		free(container_of(n, struct name, node));
	hmap_fini(&t->rows);
	hmap_fini(&t->names);
	free(t->waiting);
	free(t->sorted);
	free(t);
}

/* NULL when out of memory. */
static struct tip_row_node *row_at(struct tip *t, uint64_t pc)
{
	const uint64_t hash = hash_u64(pc);
	struct hnode *n;
	struct tip_row_node *r;

	for (n = hmap_first(&t->rows, hash); n; n = hmap_next(n)) {
		if (row_of(n)->r.pc == pc)
			return row_of(n);
	}
	r = calloc(1, sizeof(*r));
	if (r && hmap_insert(&t->rows, &r->node, hash)) {
		free(r);
		return NULL;
	}
	if (r)
		r->r.pc = pc;
	return r;
}

void tip_tell_samples(struct tip *t, int (*fn)(void *ctx, const struct tip_sample *s),
		      void *ctx)
{
	t->tell = fn;
	t->tell_ctx = ctx;
}

static struct name *find_name(const struct tip *t, uint64_t pc)
{
	struct hnode *n;

	for (n = hmap_first(&t->names, hash_u64(pc)); n; n = hmap_next(n)) {
		if (container_of(n, struct name, node)->pc == pc)
			return container_of(n, struct name, node);
	}
	return NULL;
}

int tip_name(struct tip *t, uint64_t pc, const char *text)
{
	const size_t len = strnlen(text, MAX_TEXT);
	struct name *name;

	if (find_name(t, pc))
		return 0;
	if (t->names.nr == TIP_MAX_NAMES)
		return 0;
	name = malloc(sizeof(*name) + len + 1);
	if (!name || hmap_insert(&t->names, &name->node, hash_u64(pc))) {
		free(name);
		return -ENOMEM;
	}
	name->pc = pc;
	memcpy(name->text, text, len);
	name->text[len] = '\0';
	return 0;
}

/* Where in an interval its sample is. */
static uint64_t sample_at(const struct tip *t, uint64_t interval)
{
	if (!t->sampling.random)
		return 0;
	return hash_u64(t->sampling.seed ^ hash_u64(interval)) % t->sampling.interval;
}

/*
 * Returns the number of samples in the first `cycles` cycles from the first commit
 * on.
 */
static uint64_t samples_before(const struct tip *t, uint64_t cycles)
{
	const uint64_t interval = t->sampling.interval;
	const uint64_t whole = cycles / interval, rest = cycles % interval;

	return whole + (rest && sample_at(t, whole) < rest);
}

/*
 * Returns the number of samples in the cycles [from, to). Cycles before the first
 * commit have none.
 */
static uint64_t samples_in(const struct tip *t, uint64_t from, uint64_t to)
{
	from = from > t->first ? from - t->first : 0;
	to = to > t->first ? to - t->first : 0;
	return to > from ? samples_before(t, to) - samples_before(t, from) : 0;
}

/* Tells the samples of these cycles. */
static int tell(struct tip *t, uint64_t from, uint64_t nr, struct tip_sample s)
{
	uint64_t first, end;
	int err = 0;

	if (!t->tell)
		return 0;
	first = samples_before(t, from - t->first);
	end = samples_before(t, from - t->first + nr);
	for (uint64_t i = first; i < end && !err; i++) {
		s.cycle = t->first + i * t->sampling.interval + sample_at(t, i);
		err = t->tell(t->tell_ctx, &s);
	}
	return err;
}

static int give(struct tip *t, enum tip_policy policy, uint64_t pc, double weight)
{
	struct tip_row_node *r = weight > 0 ? row_at(t, pc) : NULL;

	if (weight > 0 && !r)
		return -ENOMEM;
	if (r)
		r->r.weight[policy] += weight;
	return 0;
}

/* To each that commits in a span. */
static int give_shares(struct tip *t, enum tip_policy policy,
		       const struct tip_span *group, double weight)
{
	int err = 0;

	for (unsigned int i = 0; i < group->n && !err; i++)
		err = give(t, policy, group->insn[i].pc, weight / group->n);
	return err;
}

/* Cycles without a commit: whose they are, and in what state they were spent. */
struct tip_blame {
	const struct tip_insn *insn;
	enum tip_state state;
};

/* The first instruction that is seen after the span that waits as number i. */
static const struct tip_insn *next_seen(const struct tip *t, size_t i,
					const struct tip_span *group)
{
	for (i++; i < t->nr_waiting; i++) {
		if (t->waiting[i].n)
			return &t->waiting[i].insn[0];
	}
	return &group->insn[0];
}

/* Section 3.1's offending instruction register: the last flags decide. */
static struct tip_blame blame_of(const struct tip *t, size_t i,
				 const struct tip_span *group,
				 const struct tip_insn *excepting)
{
	const struct tip_span *s = &t->waiting[i];

	if (s->what == TIP_STALLS)
		return (struct tip_blame){ &s->insn[0], TIP_IS_STALLED };
	if (s->what == TIP_EXCEPTS && s->n)
		return (struct tip_blame){ &s->insn[0], TIP_IS_EXCEPTION };
	if (excepting)
		return (struct tip_blame){ excepting, TIP_IS_EXCEPTION };
	if (s->what == TIP_EXCEPTS)
		return (struct tip_blame){ next_seen(t, i, group), TIP_IS_EXCEPTION };
	if (t->last.flags & TIP_MISPREDICTED)
		return (struct tip_blame){ &t->last, TIP_IS_MISPREDICT };
	if (t->last.flags & TIP_FLUSHES)
		return (struct tip_blame){ &t->last, TIP_IS_FLUSHED };
	return (struct tip_blame){ next_seen(t, i, group), TIP_IS_DRAINED };
}

/* Attributes the cycles that waited until the next group was known. */
static int attribute_waiting(struct tip *t, const struct tip_span *group)
{
	const struct tip_insn *excepting = NULL;
	int err = 0;

	for (size_t i = 0; i < t->nr_waiting && !err; i++) {
		const struct tip_span *s = &t->waiting[i];
		const uint64_t k = samples_in(t, s->cycle, s->cycle + s->nr);
		const struct tip_blame b = blame_of(t, i, group, excepting);

		if (s->what == TIP_EXCEPTS)
			excepting = b.insn;
		else if (s->what == TIP_STALLS)
			excepting = NULL;
		t->state[b.state] += s->nr;
		err = give(t, TIP_BY_ORACLE, b.insn->pc, s->nr);
		if (!err)
			err = give(t, TIP_BY_TIP, b.insn->pc, k);
		if (!err)
			err = give(t, TIP_BY_ILP, b.insn->pc, k);
		if (!err)
			err = give(t, TIP_BY_NCI, group->insn[0].pc, k);
		if (!err)
			err = give_shares(t, TIP_BY_NCI_ILP, group, k);
		if (!err)
			err = give(t, TIP_BY_LCI, t->last.pc, k);
		if (!err)
			err = give(t, TIP_BY_LCI_LAST, t->last.pc, k);
		if (!err)
			err = tell(t, s->cycle, s->nr,
				   (struct tip_sample){ 0, b.state, 1, b.insn });
	}
	t->nr_waiting = 0;
	return err;
}

/*
 * Blocks begin behind control flow, functions behind calls; and behind the first
 * instruction of all where that jumps, for a reset vector jumps to the entry point.
 */
static int note_begins(struct tip *t, const struct tip_span *group)
{
	const struct tip_insn *before = t->commits ? &t->last : NULL;

	for (unsigned int i = 0; i < group->n; i++) {
		const bool is_second = t->commits + i == 1;
		struct tip_row_node *r = row_at(t, group->insn[i].pc);
		bool called, jumped;

		if (!r)
			return -ENOMEM;
		/* Operations of one instruction have its PC, and all of its flags. */
		called = before && before->flags & TIP_CALLS &&
			 before->pc != group->insn[i].pc;
		jumped = before && before->flags & TIP_BRANCHES;
		r->begins_block |= !before || jumped;
		r->begins_function |= !before || called || (is_second && jumped);
		t->told |= !!(group->insn[i].flags & TIP_TOLD);
		before = &group->insn[i];
	}
	return 0;
}

static int commit(struct tip *t, const struct tip_span *group)
{
	const struct tip_insn *oldest = &group->insn[0];
	const struct tip_insn *youngest = &group->insn[group->n - 1];
	double k;
	int err;

	if (!t->begun)
		t->first = t->dispatch.next = t->fetch.next = group->cycle;
	t->begun = true;
	k = samples_in(t, group->cycle, group->cycle + 1);
	err = attribute_waiting(t, group);
	if (!err)
		err = note_begins(t, group);
	if (!err)
		err = give_shares(t, TIP_BY_ORACLE, group, 1);
	if (!err)
		err = give_shares(t, TIP_BY_TIP, group, k);
	if (!err)
		err = give(t, TIP_BY_ILP, oldest->pc, k);
	if (!err)
		err = give(t, TIP_BY_NCI, oldest->pc, k);
	if (!err)
		err = give_shares(t, TIP_BY_NCI_ILP, group, k);
	if (!err)
		err = give(t, TIP_BY_LCI, oldest->pc, k);
	if (!err)
		err = give(t, TIP_BY_LCI_LAST, youngest->pc, k);
	if (!err)
		err = tell(t, group->cycle, 1,
			   (struct tip_sample){ 0, TIP_IS_COMPUTING, group->n,
						group->insn });
	t->state[TIP_IS_COMPUTING]++;
	t->commits += group->n;
	t->last = *youngest;
	t->last_commit = group->cycle;
	return err;
}

static bool can_join(const struct tip_span *a, const struct tip_span *b)
{
	return a->what == b->what && a->n == b->n && a->cycle + a->nr == b->cycle &&
	       (!a->n || a->insn[0].pc == b->insn[0].pc);
}

static int wait_for_commit(struct tip *t, const struct tip_span *s)
{
	struct tip_span *last = t->nr_waiting ? &t->waiting[t->nr_waiting - 1] : NULL;

	if (last && can_join(last, s)) {
		last->nr += s->nr;
		return 0;
	}
	if (t->nr_waiting == TIP_MAX_WAIT)
		return -CPI_ELIMIT;
	t->waiting[t->nr_waiting++] = *s;
	return 0;
}

static bool is_span(const struct tip *t, const struct tip_span *s)
{
	if (!s->nr || s->cycle < t->end || s->cycle + s->nr < s->cycle)
		return false;
	switch (s->what) {
	case TIP_COMMITS:
		return s->nr == 1 && s->n >= 1 && s->n <= TIP_MAX_WIDTH;
	case TIP_STALLS:
		return s->n == 1;
	case TIP_EMPTY:
		return !s->n;
	case TIP_EXCEPTS:
		return s->n <= 1;
	}
	return false;
}

int tip_add(struct tip *t, const struct tip_span *span)
{
	const struct tip_span hole = { .cycle = t->end,
				       .nr = span->cycle - t->end,
				       .what = TIP_EMPTY };
	int err = is_span(t, span) ? 0 : -EINVAL;

	if (!err && t->begun && hole.nr)
		err = wait_for_commit(t, &hole);
	if (err)
		return err;
	t->end = span->cycle + span->nr;
	if (span->what == TIP_COMMITS)
		return commit(t, span);
	return t->begun ? wait_for_commit(t, span) : 0;
}

/* The samples of the cycles before end that no earlier instruction has. */
static void assign_samples(struct tip *t, struct tip_stage *e, enum tip_policy policy,
			   struct tip_row_node *r, uint64_t end)
{
	e->last = r;
	if (end > t->end) /* a damaged trace: it had committed before */
		end = t->end;
	if (end <= e->next)
		return;
	r->r.weight[policy] += samples_in(t, e->next, end);
	e->next = end;
}

int tip_add_entry(struct tip *t, uint64_t pc, uint64_t fetched, uint64_t dispatched)
{
	struct tip_row_node *r = row_at(t, pc);

	if (!r)
		return -ENOMEM;
	assign_samples(t, &t->dispatch, TIP_BY_DISPATCH, r, dispatched + 1);
	assign_samples(t, &t->fetch, TIP_BY_SOFTWARE, r, fetched);
	return 0;
}

static int by_pc(const void *va, const void *vb)
{
	const struct tip_row_node *a = *(struct tip_row_node *const *)va,
				  *b = *(struct tip_row_node *const *)vb;

	return (a->r.pc > b->r.pc) - (a->r.pc < b->r.pc);
}

/* Rows in order, each with the block and the function that it is in. */
static int sort_rows(struct tip *t)
{
	struct tip_row_node **row =
		calloc(t->rows.nr + 1, sizeof(struct tip_row_node *));
	uint64_t block = 0, function = 0;
	const struct name *name;
	struct hnode *n, *next;
	size_t nr = 0;

	t->sorted = calloc(t->rows.nr + 1, sizeof(*t->sorted));
	if (!row || !t->sorted) {
		free(row);
		return -ENOMEM;
	}
	hmap_for_each (&t->rows, n, next)
		row[nr++] = row_of(n);
	qsort(row, nr, sizeof(struct tip_row_node *), by_pc);
	for (size_t i = 0; i < nr; i++) {
		if (!i || row[i]->begins_block || row[i]->begins_function)
			block = row[i]->r.pc;
		if (!i || row[i]->begins_function)
			function = row[i]->r.pc;
		t->sorted[i] = row[i]->r;
		t->sorted[i].block = block;
		t->sorted[i].function = function;
		name = find_name(t, row[i]->r.pc);
		t->sorted[i].text = name ? name->text : NULL;
	}
	free(row);
	return 0;
}

static uint64_t unit_of(const struct tip_row *r, enum tip_level level)
{
	return level == TIP_BLOCK      ? r->block
	       : level == TIP_FUNCTION ? r->function
				       : r->pc;
}

static double error_of(const struct tip_result *r, enum tip_level level,
		       enum tip_policy policy)
{
	double agree = 0, all = 0, ours = 0, oracle = 0;

	for (size_t i = 0; i < r->nr_rows; i++)
		all += r->row[i].weight[policy];
	if (!(all > 0))
		return NAN;
	/* A unit's rows stand side by side. */
	for (size_t i = 0; i < r->nr_rows; i++) {
		ours += r->row[i].weight[policy] / all;
		oracle += r->row[i].weight[TIP_BY_ORACLE] / r->cycles;
		if (i + 1 == r->nr_rows ||
		    unit_of(&r->row[i], level) != unit_of(&r->row[i + 1], level)) {
			agree += ours < oracle ? ours : oracle;
			ours = oracle = 0;
		}
	}
	return agree < 1 ? 1 - agree : 0;
}

int tip_end(struct tip *t, struct tip_result *out)
{
	struct tip_result r = { 0 };
	int err;

	if (!t->begun)
		return -CPI_EEMPTY;
	r.has_entries = t->dispatch.last != NULL;
	/*
	 * No later instruction enters: the last one that did gets the remaining cycles.
	 */
	if (r.has_entries) {
		assign_samples(t, &t->dispatch, TIP_BY_DISPATCH, t->dispatch.last,
			       t->last_commit + 1);
		assign_samples(t, &t->fetch, TIP_BY_SOFTWARE, t->fetch.last,
			       t->last_commit + 1);
	}
	err = sort_rows(t);
	if (err)
		return err;
	r.cycles = t->last_commit + 1 - t->first;
	r.commits = t->commits;
	r.samples = samples_in(t, t->first, t->last_commit + 1);
	memcpy(r.state, t->state, sizeof(r.state));
	r.row = t->sorted;
	r.nr_rows = t->rows.nr;
	r.has_blocks = t->told;
	for (int level = 0; level < TIP_NR_LEVELS; level++) {
		for (int policy = 0; policy < TIP_NR_POLICIES; policy++)
			r.error[level][policy] = level && !r.has_blocks
							 ? NAN
							 : error_of(&r, level, policy);
	}
	*out = r;
	return 0;
}
