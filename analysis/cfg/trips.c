/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trips.c - loops with a constant number of iterations
 *
 * count_crossings() finds the loops with one entry and one exit. For each of them,
 * find_test() reads the comparison in the last block, find_value() finds the value of
 * its register where the loop is entered, and count_rounds() executes only the
 * instructions that change this register, iteration by iteration, until the jump leaves
 * the loop.
 */
#include "config.h"

#include "analysis/cfg/trips.h"

#include <errno.h>
#include <math.h>

#include "analysis/cfg/loops.h"

#define MOST_BLOCKS 64        /* blocks that are searched for a counter's first value */
#define MOST_STEPS  8         /* changes of the counter in one iteration */
#define LEA_MOST    INT32_MAX /* an lea's result: it may have 32 or 64 bits */

/* A change of the counter in an iteration. */
struct trip_step {
	uint64_t add;
	uint8_t size; /* bytes of the result */
	bool is_address;
};

struct trip_test {
	uint8_t reg;
	uint8_t size;
	uint64_t with; /* what the counter is compared with */
	enum isa_condition condition;
	bool leaves; /* if the condition is met */
	struct trip_step step[MOST_STEPS];
	int nr_steps, nr_before; /* so many of them are before the compare */
};

struct trips_run {
	struct isa *isa;
	const struct cfg *cfg;
	struct loop_nest nest;
	int *nr_exits, *nr_back; /* by head: edges out of the loop, and back to it */
	bool *entered;           /* elsewhere than at its head */
	int *seen; /* by block: the number of the search that has been there */
	int search, left;
	double *out;
};

static bool is_inside(const struct trips_run *t, int b, int head)
{
	int loop = t->nest.inner[b];

	while (loop != LOOPS_NONE && loop != head)
		loop = t->nest.around[loop];
	return loop == head;
}

static void count_crossing(struct trips_run *t, const struct cfg_edge *e)
{
	for (int h = t->nest.inner[e->from]; h != LOOPS_NONE; h = t->nest.around[h]) {
		t->nr_exits[h] += !is_inside(t, e->to, h);
		t->nr_back[h] += e->to == h;
	}
	for (int h = t->nest.inner[e->to]; h != LOOPS_NONE; h = t->nest.around[h])
		t->entered[h] |= e->to != h && !is_inside(t, e->from, h);
}

static bool writes(const struct insn *insn, unsigned int reg)
{
	return isa_has(&insn->writes, reg);
}

/* Whether an instruction may change a register. */
static bool changes(const struct trips_run *t, const struct insn *insn,
		    unsigned int reg)
{
	if (writes(insn, reg) || insn->kind & (INSN_BAD | INSN_SYSCALL))
		return true;
	return insn->kind & INSN_CALL && isa_is_clobbered(t->isa, reg);
}

/* What an instruction adds to the register that it changes. */
static bool read_step(const struct trips_run *t, const struct insn *insn,
		      unsigned int reg, struct trip_step *out)
{
	const struct isa_effect e = isa_effect(t->isa, insn);

	*out = (struct trip_step){ .size = e.size };
	if (e.op == ISA_OP_ADD && e.to == reg && e.a == reg && !e.b) {
		out->add = (uint64_t)e.value;
	} else if (e.op == ISA_OP_COMPARE && e.to == reg && e.a == reg) {
		out->add = -(uint64_t)e.value;
	} else if (e.op == ISA_OP_ADDRESS && e.to == reg && insn->memory.base == reg &&
		   !insn->memory.index) {
		out->add = (uint64_t)insn->memory.displacement;
		out->is_address = true;
	} else {
		return false;
	}
	return out->is_address || out->size == 4 || out->size == 8;
}

/*
 * The last instruction before the block's jump that sets the flags; -1 if there is
 * none, or a call comes after it.
 */
static int find_compare(const struct cfg *cfg, const struct cfg_block *block)
{
	for (int i = block->first_insn + block->nr_insns - 2; i >= block->first_insn;
	     i--) {
		if (cfg->insn[i].kind & INSN_CALL)
			return -1;
		if (writes(&cfg->insn[i], ISA_FLAGS))
			return i;
	}
	return -1;
}

/* What is compared, and how; before the compare's own result is written. */
static bool read_compare(const struct trips_run *t, int i, struct trip_test *out)
{
	const struct isa_effect e = isa_effect(t->isa, &t->cfg->insn[i]);

	out->size = e.size;
	if (e.op == ISA_OP_COMPARE && e.a >= ISA_GENERAL) {
		out->reg = e.a;
		out->with = (uint64_t)e.value;
		return e.size > 0 && e.size <= 8;
	}
	/* Flags of a sum: as if its result was compared with 0. */
	if (e.op != ISA_OP_ADD || e.a != e.to || e.b || e.to < ISA_GENERAL ||
	    (out->condition != ISA_IF_EQUAL && out->condition != ISA_IF_NOT_EQUAL))
		return false;
	out->reg = e.to;
	out->with = -(uint64_t)e.value; /* before it is added */
	return e.size == 4 || e.size == 8;
}

static bool read_steps(const struct trips_run *t, const struct cfg_block *block,
		       int compare, struct trip_test *out)
{
	for (int i = block->first_insn; i < block->first_insn + block->nr_insns; i++) {
		const struct insn *insn = &t->cfg->insn[i];

		if (i == compare)
			out->nr_before = out->nr_steps;
		if (!changes(t, insn, out->reg))
			continue;
		if (out->nr_steps == MOST_STEPS || insn->kind & INSN_CALL ||
		    !read_step(t, insn, out->reg, &out->step[out->nr_steps]))
			return false;
		out->nr_steps++;
	}
	return out->nr_steps > 0;
}

/* The test at the end of block b, which edge back repeats. */
static bool find_test(const struct trips_run *t, int b, int back, struct trip_test *out)
{
	const struct cfg_block *block = &t->cfg->block[b];
	const struct insn *jump =
		&t->cfg->insn[block->first_insn + block->nr_insns - 1];
	const int compare = find_compare(t->cfg, block);

	*out = (struct trip_test){ .condition = isa_condition(t->isa, jump) };
	if (compare < 0 || out->condition == ISA_IF_OTHER)
		return false;
	out->leaves = t->cfg->edge[back].kind == EDGE_FALL;
	return read_compare(t, compare, out) && read_steps(t, block, compare, out);
}

/* Whether other blocks of the loop change the counter. */
static bool is_changed_elsewhere(const struct trips_run *t, int head, int last,
				 unsigned int reg)
{
	for (int b = 0; b < t->cfg->exit; b++) {
		const struct cfg_block *block = &t->cfg->block[b];

		if (b == last || !is_inside(t, b, head))
			continue;
		for (int i = 0; i < block->nr_insns; i++) {
			if (changes(t, &t->cfg->insn[block->first_insn + i], reg))
				return true;
		}
	}
	return false;
}

/*
 * Finds the constant that a register has at the end of block b on all paths to it. A
 * block that was already searched adds no other value. *known: value has been found.
 */
static bool find_value(struct trips_run *t, int b, unsigned int reg, bool *known,
		       int64_t *value)
{
	const struct cfg_block *block = &t->cfg->block[b];

	if (t->seen[b] == t->search)
		return true;
	t->seen[b] = t->search;
	if (!t->left--)
		return false;
	for (int i = block->first_insn + block->nr_insns - 1; i >= block->first_insn;
	     i--) {
		struct isa_effect e;

		if (!changes(t, &t->cfg->insn[i], reg))
			continue;
		e = isa_effect(t->isa, &t->cfg->insn[i]);
		if (e.op != ISA_OP_SET || e.to != reg || (*known && *value != e.value))
			return false;
		*value = e.value;
		*known = true;
		return true;
	}
	if (!b || block->landing_pad || !block->nr_in)
		return false;
	for (int i = 0; i < block->nr_in; i++) {
		const int e = t->cfg->in[block->first_in + i];

		if (!find_value(t, t->cfg->edge[e].from, reg, known, value))
			return false;
	}
	return true;
}

/* The counter's value where the loop is entered. */
static bool find_first(struct trips_run *t, int head, unsigned int reg, uint64_t *out)
{
	const struct cfg_block *block = &t->cfg->block[head];
	bool known = false;
	int64_t value = 0;

	if (!head || block->landing_pad)
		return false;
	t->search++;
	t->left = MOST_BLOCKS;
	for (int i = 0; i < block->nr_in; i++) {
		const int from = t->cfg->edge[t->cfg->in[block->first_in + i]].from;

		if (!is_inside(t, from, head) &&
		    !find_value(t, from, reg, &known, &value))
			return false;
	}
	/* Whether a negative one was extended is not known. */
	if (!known || value < 0 || value > INT32_MAX)
		return false;
	*out = (uint64_t)value;
	return true;
}

static bool is_met(enum isa_condition condition, uint64_t a, uint64_t b, uint8_t size)
{
	const int unused = 64 - 8 * size;
	const int64_t x = (int64_t)(a << unused), y = (int64_t)(b << unused);

	switch (condition) {
	case ISA_IF_EQUAL:
		return x == y;
	case ISA_IF_NOT_EQUAL:
		return x != y;
	case ISA_IF_ABOVE:
		return (uint64_t)x > (uint64_t)y;
	case ISA_IF_NOT_ABOVE:
		return (uint64_t)x <= (uint64_t)y;
	case ISA_IF_BELOW:
		return (uint64_t)x < (uint64_t)y;
	case ISA_IF_NOT_BELOW:
		return (uint64_t)x >= (uint64_t)y;
	case ISA_IF_GREATER:
		return x > y;
	case ISA_IF_NOT_GREATER:
		return x <= y;
	case ISA_IF_LESS:
		return x < y;
	case ISA_IF_NOT_LESS:
		return x >= y;
	case ISA_IF_OTHER:
		break;
	}
	return false;
}

static bool step_counter(const struct trip_step *s, uint64_t *counter)
{
	*counter += s->add;
	if (s->is_address)
		return *counter <= LEA_MOST;
	if (s->size == 4)
		*counter = (uint32_t)*counter;
	return true;
}

/* Returns the iterations until the jump leaves; 0: unknown, or more than TRIPS_MAX. */
static int count_rounds(const struct trip_test *test, uint64_t counter)
{
	for (int round = 1; round <= TRIPS_MAX; round++) {
		bool leaves = false;

		for (int i = 0; i <= test->nr_steps; i++) {
			if (i == test->nr_before)
				leaves = is_met(test->condition, counter, test->with,
						test->size) == test->leaves;
			if (i < test->nr_steps &&
			    !step_counter(&test->step[i], &counter))
				return 0;
		}
		if (leaves)
			return round;
	}
	return 0;
}

/* An edge back to a head, from a block that ends with a conditional jump. */
static void look_at(struct trips_run *t, int back)
{
	const struct cfg_edge *e = &t->cfg->edge[back];
	const struct cfg_block *last = &t->cfg->block[e->from];
	const int out = back == last->first_out ? back + 1 : last->first_out;
	struct trip_test test;
	uint64_t first;
	int rounds;

	if (last->nr_out != 2 || !is_inside(t, e->from, e->to) ||
	    is_inside(t, t->cfg->edge[out].to, e->to) || t->nr_exits[e->to] != 1 ||
	    t->nr_back[e->to] != 1 || t->entered[e->to])
		return;
	if (!find_test(t, e->from, back, &test) ||
	    is_changed_elsewhere(t, e->to, e->from, test.reg) ||
	    !find_first(t, e->to, test.reg, &first))
		return;
	rounds = count_rounds(&test, first);
	if (rounds < 2)
		return;
	t->out[back] = 1 - 1.0 / rounds;
	t->out[out] = 1.0 / rounds;
}

int trips_find(struct isa *isa, const struct cfg *cfg, struct arena *arena,
	       double **out)
{
	const int nr = cfg->nr_blocks;
	struct trips_run t = { .isa = isa, .cfg = cfg };
	int err = loops_nest(cfg, arena, &t.nest);

	t.nr_exits = arena_array(arena, nr, sizeof(*t.nr_exits));
	t.nr_back = arena_array(arena, nr, sizeof(*t.nr_back));
	t.entered = arena_array(arena, nr, sizeof(*t.entered));
	t.seen = arena_array(arena, nr, sizeof(*t.seen));
	t.out = arena_array(arena, cfg->nr_edges, sizeof(*t.out));
	if (err || !t.nr_exits || !t.nr_back || !t.entered || !t.seen || !t.out)
		return -ENOMEM;
	for (int e = 0; e < cfg->nr_edges; e++) {
		t.out[e] = NAN;
		count_crossing(&t, &cfg->edge[e]);
	}
	for (int e = 0; e < cfg->nr_edges && !cfg->missing_edges; e++) {
		if (t.nest.inner[cfg->edge[e].to] == cfg->edge[e].to)
			look_at(&t, e);
	}
	*out = t.out;
	return 0;
}
