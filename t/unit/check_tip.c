/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/trace/tip.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/trace/trace.h"
#include "base/err.h"
#include "t/unit/unit.h"

enum {
	I1 = 0x10,
	I2 = 0x20,
	LOAD = 0x30,
	I3 = 0x40,
	BRANCH = 0x50,
	I4 = 0x60,
	I5 = 0x70
};

#define COMMIT(c, n, ...)                 \
	{                                 \
		(c), 1, TIP_COMMITS, (n), \
		{                         \
			__VA_ARGS__       \
		}                         \
	}
#define STALL(c, nr, pc)                  \
	{                                 \
		(c), (nr), TIP_STALLS, 1, \
		{                         \
			{                 \
				(pc), 0   \
			}                 \
		}                         \
	}
#define EMPTY(c, nr)                     \
	{                                \
		(c), (nr), TIP_EMPTY, 0, \
		{                        \
		}                        \
	}

struct want {
	uint64_t pc;
	double oracle, nci, lci, ilp;
};

/* MICRO'21 Figure 4 and section 2.2, each in a processor that commits two a cycle. */
static const struct {
	const char *what;
	struct tip_span span[8];
	struct want want[6];
	double state[TIP_NR_STATES];
} examples[] = {
	{ "4a: computing",
	  { COMMIT(1, 2, { I1, 0 }, { I2, 0 }) },
	  { { I1, .5, 1, 1, 1 }, { I2, .5, 0, 0, 0 } },
	  { [TIP_IS_COMPUTING] = 1 } },
	{ "4b: stalled on a load",
	  { COMMIT(1, 1, { I1, 0 }), STALL(2, 40, LOAD),
	    COMMIT(42, 2, { LOAD, 0 }, { I3, 0 }) },
	  { { I1, 1, 1, 41, 1 }, { LOAD, 40.5, 41, 1, 41 }, { I3, .5, 0, 0, 0 } },
	  { [TIP_IS_COMPUTING] = 2, [TIP_IS_STALLED] = 40 } },
	{ "4c: flushed by a mispredicted branch",
	  { COMMIT(1, 2, { I1, 0 }, { BRANCH, TIP_MISPREDICTED }), EMPTY(2, 4),
	    STALL(6, 1, I5), COMMIT(7, 1, { I5, 0 }) },
	  { { I1, .5, 1, 1, 1 }, { BRANCH, 4.5, 0, 5, 4 }, { I5, 2, 6, 1, 2 } },
	  { [TIP_IS_COMPUTING] = 2, [TIP_IS_MISPREDICT] = 4, [TIP_IS_STALLED] = 1 } },
	{ "4d: drained, since I3 missed in the instruction cache",
	  { COMMIT(1, 2, { I1, 0 }, { I2, 0 }), EMPTY(2, 40), STALL(42, 1, I3),
	    COMMIT(43, 1, { I3, 0 }) },
	  { { I1, .5, 1, 1, 1 }, { I2, .5, 0, 41, 0 }, { I3, 42, 42, 1, 42 } },
	  { [TIP_IS_COMPUTING] = 2, [TIP_IS_DRAINED] = 40, [TIP_IS_STALLED] = 1 } },
	{ "an instruction that flushes what is younger: a load before its store",
	  { COMMIT(1, 1, { LOAD, TIP_FLUSHES }), EMPTY(2, 3), COMMIT(5, 1, { I3, 0 }) },
	  { { LOAD, 4, 1, 4, 4 }, { I3, 1, 4, 1, 1 } },
	  { [TIP_IS_COMPUTING] = 2, [TIP_IS_FLUSHED] = 3 } },
	/* The load waits for its page, excepts, and runs again behind the handler. */
	{ "a page fault",
	  { COMMIT(1, 1, { I1, 0 }),
	    STALL(2, 10, LOAD),
	    { 12, 1, TIP_EXCEPTS, 1, { { LOAD, 0 } } },
	    EMPTY(13, 5),
	    STALL(18, 2, I4),
	    COMMIT(20, 1, { I4, TIP_FLUSHES }),
	    EMPTY(21, 3),
	    COMMIT(24, 1, { LOAD, 0 }) },
	  { { I1, 1, 1, 19, 1 }, { I4, 6, 19, 4, 6 }, { LOAD, 17, 4, 1, 17 } },
	  { [TIP_IS_COMPUTING] = 3,
	    [TIP_IS_STALLED] = 12,
	    [TIP_IS_EXCEPTION] = 6,
	    [TIP_IS_FLUSHED] = 3 } },
	/* A load misses its page with older ones in flight: they have their own time.
	 */
	{ "a page fault behind a stall",
	  { COMMIT(1, 1, { I1, 0 }),
	    STALL(2, 5, I2),
	    COMMIT(7, 1, { I2, 0 }),
	    STALL(8, 3, LOAD),
	    { 11, 1, TIP_EXCEPTS, 1, { { LOAD, 0 } } },
	    EMPTY(12, 4),
	    COMMIT(16, 2, { I3, 0 }, { I4, 0 }) },
	  { { I1, 1, 1, 6, 1 },
	    { I2, 6, 6, 9, 6 },
	    { LOAD, 8, 0, 0, 8 },
	    { I3, .5, 9, 1, 1 },
	    { I4, .5, 0, 0, 0 } },
	  { [TIP_IS_COMPUTING] = 3, [TIP_IS_STALLED] = 8, [TIP_IS_EXCEPTION] = 5 } },
	/* A trap that commits nothing of its own: the flag outlives a mispredict's. */
	{ "an exception behind a mispredicted branch",
	  { COMMIT(1, 1, { BRANCH, TIP_MISPREDICTED }),
	    EMPTY(2, 2),
	    STALL(4, 1, I5),
	    { 5, 1, TIP_EXCEPTS, 1, { { I5, 0 } } },
	    EMPTY(6, 3),
	    COMMIT(9, 1, { I1, 0 }) },
	  { { BRANCH, 3, 1, 8, 3 }, { I5, 5, 0, 0, 5 }, { I1, 1, 8, 1, 1 } },
	  { [TIP_IS_COMPUTING] = 2,
	    [TIP_IS_MISPREDICT] = 2,
	    [TIP_IS_STALLED] = 1,
	    [TIP_IS_EXCEPTION] = 4 } },
	{ "an exception of nobody that is known: of the next that is seen",
	  { COMMIT(1, 1, { I1, 0 }),
	    { 2, 2, TIP_EXCEPTS, 0, {} },
	    STALL(4, 1, I2),
	    COMMIT(5, 1, { I3, 0 }) },
	  { { I1, 1, 1, 4, 1 }, { I2, 3, 0, 0, 3 }, { I3, 1, 4, 1, 1 } },
	  { [TIP_IS_COMPUTING] = 2, [TIP_IS_STALLED] = 1, [TIP_IS_EXCEPTION] = 2 } },
	/* A fence waits until the buffer is empty; none enters before it has committed.
	 */
	{ "a fence: those before it stall, then it, then those behind",
	  { COMMIT(1, 1, { I1, 0 }), STALL(2, 4, LOAD), COMMIT(6, 1, { LOAD, 0 }),
	    EMPTY(7, 1), STALL(8, 2, I2), COMMIT(10, 1, { I2, 0 }), EMPTY(11, 1),
	    COMMIT(12, 2, { I3, 0 }, { I4, 0 }) },
	  { { I1, 1, 1, 5, 1 },
	    { LOAD, 5, 5, 4, 5 },
	    { I2, 4, 4, 2, 4 },
	    { I3, 1.5, 2, 1, 2 },
	    { I4, .5, 0, 0, 0 } },
	  { [TIP_IS_COMPUTING] = 4, [TIP_IS_STALLED] = 6, [TIP_IS_DRAINED] = 2 } },
	/* frflags and its like on a core that does not rename status registers. */
	{ "instructions that flush, one behind the other",
	  { COMMIT(1, 1, { I1, TIP_FLUSHES }), EMPTY(2, 6), STALL(8, 1, I2),
	    COMMIT(9, 1, { I2, TIP_FLUSHES }), EMPTY(10, 6), COMMIT(16, 1, { I3, 0 }) },
	  { { I1, 7, 1, 8, 7 }, { I2, 8, 8, 7, 8 }, { I3, 1, 7, 1, 1 } },
	  { [TIP_IS_COMPUTING] = 3, [TIP_IS_FLUSHED] = 12, [TIP_IS_STALLED] = 1 } },
	/* It enters an empty buffer, and so does what follows it. */
	{ "a serialising instruction",
	  { COMMIT(1, 1, { I1, 0 }), STALL(2, 7, I2), COMMIT(9, 1, { I2, 0 }),
	    STALL(10, 3, I3), COMMIT(13, 1, { I3, 0 }) },
	  { { I1, 1, 1, 8, 1 }, { I2, 8, 8, 4, 8 }, { I3, 4, 4, 1, 4 } },
	  { [TIP_IS_COMPUTING] = 3, [TIP_IS_STALLED] = 10 } },
};

static const struct tip_sampling each = { .interval = 1 };

static const struct tip_row *row_at(const struct tip_result *r, uint64_t pc)
{
	for (size_t i = 0; i < r->nr_rows; i++) {
		if (r->row[i].pc == pc)
			return &r->row[i];
	}
	ck_abort_msg("no row of %#llx", (unsigned long long)pc);
	return NULL;
}

START_TEST(cycles_are_whose_figure_4_says)
{
	struct tip *t = tip_new(&each);
	struct tip_result r;
	double sum = 0;

	for (int i = 0; i < 8 && examples[_i].span[i].nr; i++)
		ck_assert_int_eq(tip_add(t, &examples[_i].span[i]), 0);
	ck_assert_int_eq(tip_end(t, &r), 0);
	for (int i = 0; i < 6 && examples[_i].want[i].pc; i++) {
		const struct want *w = &examples[_i].want[i];
		const struct tip_row *row = row_at(&r, w->pc);

		ck_assert_msg(row->weight[TIP_BY_ORACLE] == w->oracle &&
				      row->weight[TIP_BY_TIP] == w->oracle &&
				      row->weight[TIP_BY_NCI] == w->nci &&
				      row->weight[TIP_BY_LCI] == w->lci &&
				      row->weight[TIP_BY_ILP] == w->ilp,
			      "%s: %#llx: Oracle %g NCI %g LCI %g TIP-ILP %g",
			      examples[_i].what, (unsigned long long)w->pc,
			      row->weight[TIP_BY_ORACLE], row->weight[TIP_BY_NCI],
			      row->weight[TIP_BY_LCI], row->weight[TIP_BY_ILP]);
	}
	for (int i = 0; i < TIP_NR_STATES; i++) {
		ck_assert_msg(r.state[i] == examples[_i].state[i], "%s: %s: %g",
			      examples[_i].what, tip_state_str(i), r.state[i]);
		sum += r.state[i];
	}
	ck_assert_double_eq(sum, r.cycles);
	tip_free(t);
}
END_TEST

/* A random trace, cycle by cycle, and the same answers made the long way. */
#define CYCLES 3000
#define PCS    12

struct cycle {
	int what, n;
	struct tip_insn insn[2];
};

static void make_trace(struct cycle *c, uint64_t *state)
{
	static const unsigned int flags[] = { 0, 0, 0, TIP_MISPREDICTED, TIP_FLUSHES };

	for (int i = 0; i < CYCLES; i++) {
		c[i].what = i && i < CYCLES - 1 ? unit_random(state) % 3 : TIP_COMMITS;
		c[i].n = c[i].what == TIP_COMMITS ? 1 + unit_random(state) % 2
						  : c[i].what == TIP_STALLS;
		for (int k = 0; k < c[i].n; k++)
			c[i].insn[k] = (struct tip_insn){
				unit_random(state) % PCS,
				c[i].what == TIP_COMMITS ? flags[unit_random(state) % 5]
							 : 0
			};
	}
}

/* Whose cycle i is when it commits nothing: MICRO'21 section 2.2, word for word. */
static uint64_t blamed(const struct cycle *c, int i)
{
	int before = i, after = i;

	if (c[i].what == TIP_STALLS)
		return c[i].insn[0].pc;
	while (c[before].what != TIP_COMMITS)
		before--;
	if (c[before].insn[c[before].n - 1].flags)
		return c[before].insn[c[before].n - 1].pc;
	while (!c[after].n)
		after++;
	return c[after].insn[0].pc;
}

static void count(const struct cycle *c, int i, double want[TIP_NR_POLICIES][PCS],
		  bool sampled)
{
	int next = i, before = i;

	while (c[next].what != TIP_COMMITS)
		next++;
	while (c[before].what != TIP_COMMITS)
		before--;
	for (int k = 0; k < c[i].n && c[i].what == TIP_COMMITS; k++) {
		want[TIP_BY_ORACLE][c[i].insn[k].pc] += 1. / c[i].n;
		want[TIP_BY_TIP][c[i].insn[k].pc] += sampled ? 1. / c[i].n : 0;
	}
	if (c[i].what != TIP_COMMITS) {
		want[TIP_BY_ORACLE][blamed(c, i)]++;
		want[TIP_BY_TIP][blamed(c, i)] += sampled;
	}
	want[TIP_BY_ILP][c[i].what == TIP_COMMITS ? c[i].insn[0].pc : blamed(c, i)] +=
		sampled;
	want[TIP_BY_NCI][c[next].insn[0].pc] += sampled;
	for (int k = 0; k < c[next].n; k++)
		want[TIP_BY_NCI_ILP][c[next].insn[k].pc] += sampled * 1. / c[next].n;
	want[TIP_BY_LCI][c[before].insn[before == i ? 0 : c[before].n - 1].pc] +=
		sampled;
	want[TIP_BY_LCI_LAST][c[before].insn[c[before].n - 1].pc] += sampled;
}

static double want_error(const double ours[PCS], const double oracle[PCS])
{
	double agree = 0, all = 0;

	for (int i = 0; i < PCS; i++)
		all += ours[i];
	for (int i = 0; i < PCS; i++)
		agree += fmin(ours[i] / all, oracle[i] / CYCLES);
	return 1 - agree;
}

START_TEST(a_pass_over_a_trace_is_right_in_each_cycle)
{
	static const uint64_t intervals[] = { 1, 2, 7, 101 };
	uint64_t seed = unit_seed(), state = seed | 1;
	struct tip_sampling sampling = { .interval = intervals[_i] };
	struct tip *t = tip_new(&sampling);
	double want[TIP_NR_POLICIES][PCS] = { 0 };
	struct tip_result r;
	struct cycle *c = calloc(CYCLES, sizeof(*c));

	make_trace(c, &state);
	for (int i = 0; i < CYCLES; i++) {
		struct tip_span s = { 1000 + i, 1, c[i].what, c[i].n, {} };

		memcpy(s.insn, c[i].insn, c[i].n * sizeof(s.insn[0]));
		ck_assert_int_eq(tip_add(t, &s), 0);
		count(c, i, want, i % intervals[_i] == 0);
	}
	ck_assert_int_eq(tip_end(t, &r), 0);
	ck_assert_uint_eq(r.cycles, CYCLES);
	for (int p = 0; p < TIP_BY_DISPATCH; p++) {
		for (size_t i = 0; i < r.nr_rows; i++)
			ck_assert_msg(fabs(r.row[i].weight[p] - want[p][r.row[i].pc]) <
					      1e-9,
				      "seed %llu: %s of %d: %g, wanted %g",
				      (unsigned long long)seed, tip_policy_str(p),
				      (int)r.row[i].pc, r.row[i].weight[p],
				      want[p][r.row[i].pc]);
		ck_assert_double_eq_tol(r.error[TIP_INSTRUCTION][p],
					want_error(want[p], want[0]), 1e-9);
	}
	ck_assert(isnan(r.error[TIP_BLOCK][TIP_BY_NCI]));
	ck_assert(isnan(r.error[TIP_INSTRUCTION][TIP_BY_SOFTWARE]));
	free(c);
	tip_free(t);
}
END_TEST

/* What is told of the samples, as sums. */
struct told {
	double at[PCS], state[TIP_NR_STATES];
	uint64_t nr, cycle;
};

static int take_sample(void *ctx, const struct tip_sample *s)
{
	struct told *told = ctx;

	ck_assert(!told->nr || s->cycle > told->cycle);
	ck_assert(s->n == 1 || s->state == TIP_IS_COMPUTING);
	told->cycle = s->cycle;
	told->nr++;
	told->state[s->state]++;
	for (unsigned int i = 0; i < s->n; i++)
		told->at[s->insn[i].pc] += 1. / s->n;
	return 0;
}

START_TEST(what_is_told_of_samples_adds_up_to_tip)
{
	static const struct tip_sampling how[] = {
		{ 1, false, 0 }, { 7, false, 0 }, { 7, true, 3 }, { 101, true, 4 }
	};
	uint64_t seed = unit_seed(), state = seed | 1;
	struct tip *t = tip_new(&how[_i]);
	struct cycle *c = calloc(CYCLES, sizeof(*c));
	struct told told = { .nr = 0 };
	struct tip_result r;

	make_trace(c, &state);
	tip_tell_samples(t, take_sample, &told);
	for (int i = 0; i < CYCLES; i++) {
		struct tip_span s = { 1000 + i, 1, c[i].what, c[i].n, {} };

		memcpy(s.insn, c[i].insn, c[i].n * sizeof(s.insn[0]));
		ck_assert_int_eq(tip_add(t, &s), 0);
	}
	ck_assert_int_eq(tip_end(t, &r), 0);
	ck_assert_uint_eq(told.nr, r.samples);
	for (size_t i = 0; i < r.nr_rows; i++)
		ck_assert_msg(fabs(told.at[r.row[i].pc] - r.row[i].weight[TIP_BY_TIP]) <
				      1e-9,
			      "seed %llu: %d", (unsigned long long)seed,
			      (int)r.row[i].pc);
	for (int i = 0; i < TIP_NR_STATES && how[_i].interval == 1; i++)
		ck_assert_double_eq(told.state[i], r.state[i]);
	free(c);
	tip_free(t);
}
END_TEST

START_TEST(what_a_reset_vector_jumps_to_is_a_function)
{
	const unsigned int jump = TIP_TOLD | TIP_BRANCHES;
	const struct tip_span span[] = { COMMIT(1, 1, { I1, jump }),
					 COMMIT(2, 1, { I3, jump }),
					 COMMIT(3, 1, { I5, jump | TIP_CALLS }),
					 COMMIT(4, 1, { LOAD, jump }),
					 COMMIT(5, 1, { I3, jump }) };
	struct tip *t = tip_new(&each);
	struct tip_result r;

	for (size_t i = 0; i < NR(span); i++)
		ck_assert_int_eq(tip_add(t, &span[i]), 0);
	ck_assert_int_eq(tip_name(t, I3, "j 0x70"), 0);
	ck_assert_int_eq(tip_name(t, I3, "never"), 0);
	ck_assert_int_eq(tip_end(t, &r), 0);
	ck_assert_uint_eq(row_at(&r, I1)->function, I1);
	ck_assert_uint_eq(row_at(&r, I3)->function, I3);
	ck_assert_uint_eq(row_at(&r, LOAD)->function, LOAD);
	ck_assert_uint_eq(row_at(&r, I5)->function, I3);
	ck_assert_str_eq(row_at(&r, I3)->text, "j 0x70");
	ck_assert_ptr_null(row_at(&r, I5)->text);
	tip_free(t);
}
END_TEST

static const struct {
	const char *text;
	enum trace_kind kind;
} kinds[] = {
	{ "lw a0, 0(a1)", TRACE_LOAD },
	{ "LD a0, 0(a1)", TRACE_LOAD },
	{ "sw a0, 0(a1)", TRACE_STORE },
	{ "stp x0, x1, [sp]", TRACE_STORE },
	{ "lui a0, 0x10", TRACE_ALU },
	{ "sub a0, a1, a2", TRACE_ALU },
	{ "slli a0, a0, 2", TRACE_ALU },
	{ "fadd.s f0, f1, f2", TRACE_ALU },
	{ "flw f0, 0(a0)", TRACE_LOAD },
	{ "fsw f0, 0(a0)", TRACE_STORE },
	{ "MOV_R_M : ld   eax, DS:[rbx]", TRACE_LOAD },
	{ "CALL_NEAR_I : st   t1, SS:[rsp + 0xfff8]", TRACE_STORE },
	{ "ADD_R_I : addi   eax, eax, 0x1", TRACE_ALU },
	{ "ldr x0, [x1]", TRACE_LOAD },
	{ "", TRACE_ALU },
};

START_TEST(loads_and_stores_are_known_by_their_names)
{
	ck_assert_msg(trace_kind(kinds[_i].text) == kinds[_i].kind, "%s",
		      kinds[_i].text);
}
END_TEST

START_TEST(random_samples_are_one_in_each_interval)
{
	struct tip_sampling sampling = { .interval = 10, .random = true, .seed = 3 };
	struct tip *t = tip_new(&sampling);
	struct tip_result r;
	double sum = 0;

	for (int i = 0; i < 1000; i++) {
		struct tip_span s = COMMIT(i, 1, { i, 0 });

		ck_assert_int_eq(tip_add(t, &s), 0);
	}
	ck_assert_int_eq(tip_end(t, &r), 0);
	ck_assert_uint_eq(r.samples, 100);
	for (size_t i = 0; i < r.nr_rows; i++) {
		sum += r.row[i].weight[TIP_BY_TIP];
		if (i % 10 == 9)
			ck_assert_double_eq(sum, i / 10 + 1);
	}
	tip_free(t);
}
END_TEST

static const struct {
	const char *what;
	struct tip_span span[2];
	int err;
} wrong[] = {
	{ "going back", { COMMIT(5, 1, { I1, 0 }), COMMIT(5, 1, { I1, 0 }) }, -EINVAL },
	{ "a commit of none", { COMMIT(5, 1, { I1, 0 }), COMMIT(6, 0, {}) }, -EINVAL },
	{ "too wide", { COMMIT(5, 1, { I1, 0 }), COMMIT(6, 17, {}) }, -EINVAL },
	{ "the end of time",
	  { COMMIT(5, 1, { I1, 0 }), EMPTY(6, UINT64_MAX) },
	  -EINVAL },
};

START_TEST(what_is_no_trace_is_refused)
{
	struct tip *t = tip_new(&each);

	ck_assert_int_eq(tip_add(t, &wrong[_i].span[0]), 0);
	ck_assert_int_eq(tip_add(t, &wrong[_i].span[1]), wrong[_i].err);
	tip_free(t);
}
END_TEST

/* A branch and its wrong path; the jump it should have been is a call. */
static const char kanata[] = "Kanata\t0004\nC=\t-1\nC\t1\n"
			     "I\t0\t0\t0\nL\t0\t0\t00001000: jal ra, 0x1010\n"
			     "C\t1\nS\t0\t0\tDs\n"
			     "I\t1\t1\t0\nL\t1\t0\t00001004: add a0, a0, a1\n"
			     "C\t1\nS\t1\t0\tDs\n"
			     "I\t2\t2\t0\nL\t2\t0\t00001010: lw a0, 0(a1)\n"
			     "L\t0\t1\tBr-pred-miss-ex\nC\t1\n"
			     "S\t0\t0\tCm\nR\t1\t1\t1\nC\t3\n"
			     "S\t2\t0\tDs\nR\t0\t0\t0\nC\t2\nS\t2\t0\tCm\n";

#define O3_JUMP                                             \
	"O3PipeView:fetch:500:0x00001000:0:1: jal ra, 16\n" \
	"O3PipeView:decode:500\nO3PipeView:rename:500\n"    \
	"O3PipeView:dispatch:1000\nO3PipeView:issue:1000\n" \
	"O3PipeView:complete:1000\nO3PipeView:retire:2000:store:0\n"
#define O3_WRONG                                                 \
	"O3PipeView:fetch:1000:0x00001004:0:2: add a0, a0, a1\n" \
	"O3PipeView:decode:1000\nO3PipeView:rename:1000\n"       \
	"O3PipeView:dispatch:1500\nO3PipeView:issue:0\n"         \
	"O3PipeView:complete:0\nO3PipeView:retire:0:store:0\n"
#define O3_CALLED                                              \
	"O3PipeView:fetch:1500:0x00001010:0:3: lw a0, 0(a1)\n" \
	"O3PipeView:decode:1500\nO3PipeView:rename:1500\n"     \
	"O3PipeView:dispatch:3500\nO3PipeView:issue:3500\n"    \
	"O3PipeView:complete:3500\nO3PipeView:retire:4500:store:0\n"

static const char *const texts[] = {
	kanata, O3_JUMP O3_WRONG O3_CALLED,
	O3_CALLED O3_JUMP O3_WRONG, /* as gem5 frees them, not in program order */
};

/* In pieces of any size: commit, 2 cycles of flush, 2 of stall, commit. */
START_TEST(formats_tell_the_same_story)
{
	const size_t len = strlen(texts[_i]);

	for (size_t piece = 1; piece <= len; piece = piece * 3 + 1) {
		struct tip *t = tip_new(&each);
		struct tip_result r;
		struct trace *tr;
		char copy[1024];

		ck_assert_int_eq(trace_new(texts[_i], len, t, &tr), 0);
		for (size_t at = 0; at < len; at += piece) {
			const size_t n = len - at < piece ? len - at : piece;

			memcpy(copy, texts[_i] + at, n);
			ck_assert_int_eq(trace_feed(tr, copy, n), 0);
		}
		ck_assert_int_eq(trace_end(tr), 0);
		ck_assert_int_eq(tip_end(t, &r), 0);
		ck_assert_uint_eq(r.cycles, 6);
		ck_assert_double_eq(r.state[TIP_IS_MISPREDICT], 2);
		ck_assert_double_eq(r.state[TIP_IS_STALLED], 2);
		ck_assert_double_eq(row_at(&r, 0x1000)->weight[TIP_BY_ORACLE], 3);
		ck_assert_double_eq(row_at(&r, 0x1010)->weight[TIP_BY_DISPATCH], 6);
		ck_assert_uint_eq(row_at(&r, 0x1010)->function, 0x1010);
		ck_assert(!isnan(r.error[TIP_FUNCTION][TIP_BY_LCI]));
		trace_free(tr);
		tip_free(t);
	}
}
END_TEST

static const struct {
	const char *text;
	unsigned int flags;
} insns[] = {
	{ "jal ra, 0x10", TIP_TOLD | TIP_BRANCHES | TIP_CALLS },
	{ "jal zero, 0x10", TIP_TOLD | TIP_BRANCHES },
	{ "jalr x1, 0(x5)", TIP_TOLD | TIP_BRANCHES | TIP_CALLS },
	{ " bne a0, a1, 8", TIP_TOLD | TIP_BRANCHES },
	{ "bl 0x400", TIP_TOLD | TIP_BRANCHES | TIP_CALLS },
	{ "b.ne 0x400", TIP_TOLD | TIP_BRANCHES },
	{ "bic x0, x1, x2", TIP_TOLD },
	{ "bsf eax, ebx", TIP_TOLD },
	{ "JNZ 0x10", TIP_TOLD | TIP_BRANCHES },
	{ "add a0, a1, ra", TIP_TOLD },
	{ "CALL_NEAR_I : wrip   t7, t1", TIP_TOLD | TIP_BRANCHES | TIP_CALLS },
	{ "RET_NEAR : wripi   t1", TIP_TOLD | TIP_BRANCHES },
	{ "JNZ_I : wrip   t1, t2", TIP_TOLD | TIP_BRANCHES },
	{ "", TIP_TOLD },
};

START_TEST(control_flow_is_known_by_its_name)
{
	ck_assert_msg(trace_flags(insns[_i].text) == insns[_i].flags, "%s: %x",
		      insns[_i].text, trace_flags(insns[_i].text));
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("tip");
	TCase *tc = tcase_create("tip");

	tcase_add_loop_test(tc, cycles_are_whose_figure_4_says, 0, NR(examples));
	tcase_add_loop_test(tc, a_pass_over_a_trace_is_right_in_each_cycle, 0, 4);
	tcase_add_loop_test(tc, what_is_told_of_samples_adds_up_to_tip, 0, 4);
	tcase_add_test(tc, what_a_reset_vector_jumps_to_is_a_function);
	tcase_add_loop_test(tc, loads_and_stores_are_known_by_their_names, 0,
			    NR(kinds));
	tcase_add_test(tc, random_samples_are_one_in_each_interval);
	tcase_add_loop_test(tc, what_is_no_trace_is_refused, 0, NR(wrong));
	tcase_add_loop_test(tc, formats_tell_the_same_story, 0, NR(texts));
	tcase_add_loop_test(tc, control_flow_is_known_by_its_name, 0, NR(insns));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
