/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The static schedule (M_i of SOSP'97 section 6.1.3) for an out-of-order core. Samples
 * show only the time that an instruction waits at the head of the reorder buffer.
 * LLVM's model says when each instruction is dispatched, ready, issued, executed and
 * retired. This gives the time at the head and the reason of the wait.
 *
 * A loop is repeated, and the second half of the iterations counts. Long code is split
 * into pieces; each is simulated after the one before it. The schedule of a short block
 * is simulated only once (isa_seen.h).
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/isa/isa_machine.h"

#define MAX_WINDOW 512 /* instructions that are simulated together */
#define MAX_BEFORE 64  /* instructions before a piece that are simulated with it */
#define MIN_ROUNDS 4
#define MAX_ROUNDS 8   /* within 1 % of 12, on programs */
#define ENOUGH     104 /* executions that show the steady state */

struct schedule_window {
	const struct insn *list[MAX_BEFORE + MAX_WINDOW];
	int nr_before, nr; /* nr includes nr_before, which come first */
	int skipped;       /* instructions of the run before these */
	int rounds, first; /* iterations; the first that counts */
	struct llvm_model *model;
	struct llvm_times *times;
};

static unsigned int later(unsigned int a, unsigned int b)
{
	return a > b ? a : b;
}

static float at_most(float limit, unsigned int from, unsigned int to)
{
	const float cycles = to > from ? (float)(to - from) : 0;

	return cycles < limit ? cycles : limit;
}

/*
 * Splits the time at the head of one execution by cause. A wait that delayed it counts
 * even if it began after other waits, because without it the time would be shorter.
 */
static void add_execution(struct isa_timing *t, const struct llvm_times *x,
			  unsigned int retired_before)
{
	const unsigned int from = later(retired_before, x->dispatched);
	const float head = (float)(later(from, x->retired) - from);
	const float unit = at_most(head, x->ready, x->issued);
	const float dependency = at_most(head - unit, x->dispatched, x->ready);

	t->head += head;
	t->front_end += (float)(from - retired_before);
	t->unit += unit;
	t->dependency += dependency;
	t->execute += head - unit - dependency;
}

/* Returns the index of the producer of execution x in the run. */
static int culprit_of(const struct schedule_window *w, const struct llvm_times *x)
{
	const int at = x->producer % w->nr;

	if (x->producer < 0)
		return ISA_NO_CULPRIT;
	if (at >= w->nr_before)
		return at - w->nr_before + w->skipped;
	/* The instructions before a later piece are the run's own. */
	if (w->skipped)
		return at + w->skipped - w->nr_before;
	return ISA_BEFORE - at;
}

static void name_culprit(struct isa_timing *t, const struct schedule_window *w,
			 int execution)
{
	const struct llvm_times *x = &w->times[execution];

	t->culprit = culprit_of(w, x);
	t->reg = x->reg;
	t->carried = x->producer >= 0 && x->producer / w->nr != execution / w->nr;
	t->wanted = x->wanted;
}

static void summarise(const struct schedule_window *w, struct isa_timing *out)
{
	const float rounds = (float)(w->rounds - w->first);
	unsigned int retired = 0;

	for (int e = 0; e < w->nr * w->rounds; e++) {
		const int at = e % w->nr;
		struct isa_timing *t = &out[at - w->nr_before];

		if (!w->model[at].modelled)
			continue;
		if (at >= w->nr_before && e / w->nr >= w->first) {
			add_execution(t, &w->times[e], retired);
			name_culprit(t, w, e);
		}
		retired = later(retired, w->times[e].retired);
	}
	for (int i = w->nr_before; i < w->nr; i++) {
		struct isa_timing *t = &out[i - w->nr_before];

		t->modelled = w->model[i].modelled;
		t->latency = w->model[i].latency;
		t->uops = w->model[i].uops;
		t->head /= rounds;
		t->front_end /= rounds;
		t->dependency /= rounds;
		t->unit /= rounds;
		t->execute /= rounds;
		if (!t->modelled)
			t->culprit = ISA_NO_CULPRIT;
	}
}

static int simulate(struct isa *isa, struct schedule_window *w, struct isa_timing *out)
{
	const size_t executions = (size_t)w->nr * (size_t)w->rounds;

	w->model = calloc((size_t)w->nr, sizeof(*w->model));
	w->times = calloc(executions, sizeof(*w->times));
	if (w->model && w->times) {
		llvm_simulate(isa->llvm, w->list, w->nr, w->rounds, w->model, w->times);
		summarise(w, out);
	}
	free(w->times);
	free(w->model);
	return w->model && w->times ? 0 : -ENOMEM;
}

static void add_before(struct schedule_window *w, const struct insn *insn, int nr)
{
	w->nr_before = nr < MAX_BEFORE ? nr : MAX_BEFORE;
	for (int i = 0; i < w->nr_before; i++)
		w->list[i] = &insn[nr - w->nr_before + i];
	w->nr = w->nr_before;
}

/* Simulates a piece from instruction at on; returns its number of instructions. */
static int fill_window(struct schedule_window *w, const struct isa_run *run, int at)
{
	const int nr = run->nr - at < MAX_WINDOW ? run->nr - at : MAX_WINDOW;

	w->skipped = at;
	if (at)
		add_before(w, run->insn, at);
	else
		add_before(w, run->before, run->nr_before);
	for (int i = 0; i < nr; i++)
		w->list[w->nr++] = &run->insn[at + i];
	w->rounds = 1;
	w->first = 0;
	if (run->loops && run->nr <= MAX_WINDOW) {
		w->rounds = ENOUGH / w->nr;
		if (w->rounds < MIN_ROUNDS)
			w->rounds = MIN_ROUNDS;
		if (w->rounds > MAX_ROUNDS)
			w->rounds = MAX_ROUNDS;
		if (run->rough)
			w->rounds = MIN_ROUNDS;
		w->first = w->rounds / 2;
	}
	return nr;
}

static int simulate_all(struct isa *isa, const struct isa_run *run,
			struct isa_timing *out)
{
	struct schedule_window w = { 0 };
	int err = 0;

	for (int at = 0; at < run->nr && !err;) {
		const int nr = fill_window(&w, run, at);

		err = simulate(isa, &w, &out[at]);
		at += nr;
	}
	if (!err)
		isa_seen_add(&isa->seen, run, out);
	return err;
}

int isa_schedule(struct isa *isa, const struct isa_run *run, struct arena *arena,
		 struct isa_schedule *out)
{
	struct isa_schedule s = { 0 };
	int err = 0;

	if (!isa->has_model)
		err = isa_set_cpu(isa, isa->cpu);
	s.insn = arena_array(arena, (size_t)run->nr, sizeof(*s.insn));
	if (!s.insn)
		return -ENOMEM;
	if (!err && !isa_seen_find(&isa->seen, run, s.insn))
		err = simulate_all(isa, run, s.insn);
	if (err)
		return err;
	for (int i = 0; i < run->nr; i++)
		s.cycles += s.insn[i].head + s.insn[i].front_end;
	*out = s;
	return 0;
}
