/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * blame.c and its detectives: SOSP'97 Figure 2, sums that tally on random
 * procedures, and who is accused and acquitted of what.
 */
#include "config.h"

#include "analysis/blame/blame.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/blame/blame_costs.h"
#include "analysis/blame/blame_case.h"
#include "analysis/blame/blame_path.h"
#include "t/unit/cfg_make.h"

#define PROCEDURES 400
#define MAX_BLOCKS 12
#define INSNS      4 /* in each block, of random procedures */
#define MAX_INSNS  64
#define MAX_EDGES  64

struct procedure {
	struct arena arena;
	struct cfg *cfg;
	struct insn insn[MAX_INSNS];
	struct isa_timing timing[MAX_INSNS];
	double samples[MAX_INSNS], events[MAX_INSNS];
	double block[MAX_BLOCKS + 1], edge[MAX_EDGES];
	int class[MAX_BLOCKS + 1];
	struct freq freq;
	struct blame_evidence evidence;
	struct blame_input in;
	struct blame *blame;
};

/* Blocks of that many instructions, all else as it is zeroed. */
static void open_procedure(struct procedure *p, struct cfg *cfg, const int *nr_insns)
{
	int nr = 0;

	p->cfg = cfg;
	for (int b = 0; b < cfg->exit; b++) {
		cfg->block[b].first_insn = nr;
		cfg->block[b].nr_insns = nr_insns[b];
		nr += nr_insns[b];
	}
	cfg->nr_insns = nr;
	cfg->insn = p->insn;
	p->freq = (struct freq){
		.block = p->block, .edge = p->edge, .class = p->class, .nr_classes = 1
	};
	p->in = (struct blame_input){
		.cfg = cfg,
		.timing = p->timing,
		.samples = p->samples,
		.freq = &p->freq,
		.period_cycles = 1,
	};
}

static void find(struct procedure *p)
{
	ck_assert_int_eq(blame_find(&p->in, &p->arena, NULL, &p->blame), 0);
}

static void add_register(struct isa_registers *set, unsigned int reg)
{
	set->bit[reg / 64] |= UINT64_C(1) << reg % 64;
}

static const struct stall *dynamic_stall(const struct procedure *p, int insn)
{
	const struct blame_insn *at = &p->blame->insn[insn];

	for (int i = 0; i < at->nr_stalls; i++)
		if (at->stall[i].dynamic)
			return &at->stall[i];
	return NULL;
}

static bool accuses(const struct stall *s, enum blame_reason reason, int insn)
{
	for (int i = 0; s && i < s->nr; i++)
		if (s->culprit[i].reason == reason && s->culprit[i].insn == insn)
			return true;
	return false;
}

static bool suspects(const struct stall *s, enum blame_reason reason)
{
	for (int i = 0; s && i < s->nr; i++)
		if (s->culprit[i].reason == reason)
			return true;
	return false;
}

/*
 * Figure 2, an Alpha 21164. M are those of Figure 7; where Figure 2 has the bubble of
 * a slotting hazard, half a cycle of M is that. In order, and samples are where the
 * stall is.
 */
enum { V0 = ISA_GENERAL, T0, T1, T2, T3, T4, T5, T6, A0 = ISA_GENERAL + 16 };

static const struct {
	double samples, cycles, hazard;
	uint32_t kind;
	uint8_t writes, reads, base;
} figure2[] = {
	{ 3126, 1, 0, INSN_LOAD, T4, 0, T1 },            /* 9810 ldq t4, 0(t1) */
	{ 0, 0, 0, 0, T0, T0, 0 },                       /* 9814 addq t0, 4, t0 */
	{ 1636, 1, 0, INSN_LOAD, T5, 0, T1 },            /* 9818 ldq t5, 8(t1) */
	{ 390, 0, 0, INSN_LOAD, T6, 0, T1 },             /* 981c ldq t6, 16(t1) */
	{ 1482, 1, 0, INSN_LOAD, A0, 0, T1 },            /* 9820 ldq a0, 24(t1) */
	{ 0, 0, 0, 0, T1, T1, 0 },                       /* 9824 lda t1, 32(t1) */
	{ 27766, 1, 0, INSN_STORE, 0, T4, T2 },          /* 9828 stq t4, 0(t2) */
	{ 0, 0, 0, 0, T4, T0, 0 },                       /* 982c cmpult t0, v0, t4 */
	{ 1493, 1, 0, INSN_STORE, 0, T5, T2 },           /* 9830 stq t5, 8(t2) */
	{ 174727, 1, 0.5, INSN_STORE, 0, T6, T2 },       /* 9834 stq t6, 16(t2) */
	{ 1548, 1, 0.5, INSN_STORE, 0, A0, T2 },         /* 9838 stq a0, 24(t2) */
	{ 0, 0, 0, 0, T2, T2, 0 },                       /* 983c lda t2, 32(t2) */
	{ 1586, 1, 0, INSN_JUMP | INSN_COND, 0, T4, 0 }, /* 9840 bne t4, 9810 */
};

#define FIGURE2_FREQUENCY 1527.25 /* Figure 7 */

static void make_figure2(struct procedure *p)
{
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_FALL },
						{ 1, 1, EDGE_TAKEN },
						{ 1, 2, EDGE_RETURN } };
	static const int nr_insns[] = { 1, NR(figure2) };

	memset(p, 0, sizeof(*p));
	arena_init(&p->arena, 0);
	open_procedure(p, cfg_make(&p->arena, 3, edge, NR(edge)), nr_insns);
	p->insn[0] = (struct insn){ .address = 0x980c, .size = 4 };
	for (size_t i = 0; i < NR(figure2); i++) {
		struct insn *insn = &p->insn[i + 1];

		*insn = (struct insn){ .address = 0x9810 + 4 * i,
				       .size = 4,
				       .kind = figure2[i].kind };
		insn->memory.base = figure2[i].base;
		insn->memory.size = figure2[i].base ? 8 : 0;
		add_register(&insn->writes, figure2[i].writes);
		add_register(&insn->reads, figure2[i].reads);
		add_register(&insn->reads, figure2[i].base);
		p->timing[i + 1] = (struct isa_timing){
			.modelled = true,
			.head = (float)figure2[i].cycles,
			.unit = (float)figure2[i].hazard,
			.execute = (float)(figure2[i].cycles - figure2[i].hazard),
			.culprit = ISA_NO_CULPRIT
		};
		p->samples[i + 1] = figure2[i].samples;
	}
	p->block[0] = p->block[2] = p->edge[0] = p->edge[2] = 1;
	p->block[1] = FIGURE2_FREQUENCY;
	p->edge[1] = FIGURE2_FREQUENCY - 1;
	p->freq.anchored = true;
	p->in.exact = true;
}

static int at_9800(int low)
{
	return 1 + (low - 0x10) / 4;
}

START_TEST(figure_2_has_its_two_cpi)
{
	double best = 0, actual = 0;
	struct procedure p;

	make_figure2(&p);
	find(&p);
	for (size_t i = 1; i <= NR(figure2); i++) {
		best += p.blame->insn[i].best;
		actual += p.blame->insn[i].cycles;
	}
	ck_assert_double_eq(best, 8);
	ck_assert_int_eq(lround(actual), 140);
	/* In half cycles, as each line of the listing is one. */
	ck_assert_int_eq(lround(2 * p.blame->insn[at_9800(0x28)].cycles), 36);
	ck_assert_int_eq(lround(2 * p.blame->insn[at_9800(0x34)].cycles), 229);
	arena_fini(&p.arena);
}
END_TEST

static const struct {
	int stalled, load;
} dwD[] = { { 0x28, 0x10 }, { 0x34, 0x1c } };

START_TEST(figure_2_has_its_culprits)
{
	const int stalled = at_9800(dwD[_i].stalled);
	const struct stall *s;
	struct procedure p;

	make_figure2(&p);
	find(&p);
	s = dynamic_stall(&p, stalled);
	ck_assert_ptr_nonnull(s);
	ck_assert(accuses(s, BLAME_DCACHE, at_9800(dwD[_i].load)));
	ck_assert(accuses(s, BLAME_STORE, stalled));
	ck_assert(suspects(s, BLAME_DTLB));
	for (int i = 0; i < s->nr; i++) {
		ck_assert(s->culprit[i].reason == BLAME_DCACHE ||
			  s->culprit[i].reason == BLAME_STORE ||
			  s->culprit[i].reason == BLAME_DTLB);
		ck_assert(s->culprit[i].reason != BLAME_DCACHE ||
			  s->culprit[i].insn == at_9800(dwD[_i].load));
	}
	arena_fini(&p.arena);
}
END_TEST

START_TEST(figure_2_has_its_slotting_hazards)
{
	struct procedure p;

	make_figure2(&p);
	find(&p);
	for (size_t i = 1; i <= NR(figure2); i++) {
		const struct blame_insn *at = &p.blame->insn[i];
		double hazard = 0;

		for (int k = 0; k < at->nr_stalls; k++)
			if (!at->stall[k].dynamic) {
				ck_assert_int_eq(at->stall[k].culprit->reason,
						 BLAME_FUNCTION_UNIT);
				hazard += at->stall[k].cycles;
			}
		ck_assert_double_eq(hazard, figure2[i - 1].hazard);
	}
	arena_fini(&p.arena);
}
END_TEST

/* Nothing but the loop stalls, so most of it has the same suspects. */
START_TEST(figure_2_adds_up_as_figure_4_does)
{
	const struct blame_summary *s;
	struct procedure p;
	double sum;

	make_figure2(&p);
	find(&p);
	s = &p.blame->summary;
	sum = s->execution - s->gain + s->error;
	for (int r = 0; r < BLAME_NR_REASONS; r++)
		sum += s->by_first[r];
	ck_assert_double_eq_tol(sum, 213754, 1e-6);
	ck_assert_double_eq_tol(s->tallied, 213754, 1e-6);
	ck_assert_double_eq(s->outside, 0);
	ck_assert_double_ge(s->reason[BLAME_DCACHE].most, 0.9 * s->tallied);
	ck_assert_double_eq(s->reason[BLAME_DCACHE].least, 0);
	ck_assert_double_eq(s->reason[BLAME_ICACHE].most, 0);
	ck_assert_double_eq_tol(s->by_first[BLAME_FUNCTION_UNIT], FIGURE2_FREQUENCY,
				1e-6);
	arena_fini(&p.arena);
}
END_TEST

static double uniform(uint64_t *state)
{
	return (double)(unit_random(state) >> 11) * 0x1p-53;
}

static void make_insn(struct procedure *p, int i, uint64_t *state)
{
	static const uint32_t kinds[] = { 0,
					  0,
					  0,
					  INSN_LOAD,
					  INSN_LOAD,
					  INSN_STORE,
					  INSN_DIVIDE,
					  INSN_ATOMIC | INSN_LOAD | INSN_STORE,
					  INSN_CALL | INSN_STORE,
					  INSN_REPEAT };
	struct insn *insn = &p->insn[i];
	struct isa_timing *t = &p->timing[i];

	*insn = (struct insn){ .address = 0x1000 + 7 * (uint64_t)i,
			       .size = 7,
			       .kind = kinds[unit_random(state) % NR(kinds)] };
	for (int k = 0; k < 2; k++) {
		add_register(&insn->reads, ISA_GENERAL + unit_random(state) % 4);
		add_register(&insn->writes, ISA_GENERAL + unit_random(state) % 4);
	}
	if (insn->kind & (INSN_LOAD | INSN_STORE)) {
		insn->memory.base = ISA_GENERAL + unit_random(state) % 4;
		insn->memory.size = 8;
	}
	*t = (struct isa_timing){ .modelled = true, .culprit = ISA_NO_CULPRIT };
	t->latency = 1 + unit_random(state) % 12;
	t->culprit = unit_random(state) % 2 ? (int)(unit_random(state) % INSNS) : -1;
	if (unit_random(state) % 3) {
		t->dependency = (float)(unit_random(state) % 5);
		t->unit = (float)(unit_random(state) % 3) / 2;
		t->execute = (float)(unit_random(state) % 9) / 4;
		t->front_end = (float)(unit_random(state) % 3) / 4;
	}
	t->head = t->dependency + t->unit + t->execute;
}

/* Frequencies of all sizes, now and then none; samples anywhere. */
static void make_random(struct procedure *p, uint64_t *state)
{
	int nr_insns[MAX_BLOCKS];

	memset(p, 0, sizeof(*p));
	arena_init(&p->arena, 0);
	for (int b = 0; b < MAX_BLOCKS; b++)
		nr_insns[b] = INSNS;
	open_procedure(p, cfg_make_random(&p->arena, state, MAX_BLOCKS, false),
		       nr_insns);
	for (int i = 0; i < p->cfg->nr_insns; i++) {
		make_insn(p, i, state);
		p->samples[i] = floor(exp(12 * uniform(state))) - 1;
		p->events[i] = floor(100 * uniform(state));
	}
	for (int b = 0; b < p->cfg->exit; b++)
		if (p->cfg->block[b].nr_out > 1)
			p->insn[b * INSNS + INSNS - 1].kind = INSN_JUMP | INSN_COND;
	for (int b = 0; b < p->cfg->nr_blocks; b++) {
		p->block[b] = unit_random(state) % 8 ? exp(20 * uniform(state) - 5) : 0;
		if (unit_random(state) % 16 == 0)
			p->block[b] = NAN;
	}
	for (int e = 0; e < p->cfg->nr_edges; e++)
		p->edge[e] = p->block[p->cfg->edge[e].from] * uniform(state);
	p->freq.anchored = unit_random(state) % 2;
	p->in.exact = unit_random(state) % 2;
	p->in.period_cycles = exp(5 * uniform(state));
	p->evidence = (struct blame_evidence){ (enum blame_reason)(unit_random(state) %
								   BLAME_NR_DYNAMIC),
					       p->events, 40 };
	p->in.evidence = &p->evidence;
	p->in.nr_evidence = unit_random(state) % 2;
}

static bool near(double a, double b, double of)
{
	return fabs(a - b) <= 1e-9 * of;
}

static double check_insn(const struct procedure *p, int i, unsigned long long seed)
{
	const struct blame_insn *at = &p->blame->insn[i];
	double sum = at->execute - at->gain + at->error, last = INFINITY, parts;

	parts = at->execute + at->gain + fabs(at->error);
	for (int k = 0; k < at->nr_stalls; k++) {
		const struct stall *s = &at->stall[k];

		ck_assert_msg(s->cycles > 0 && s->cycles <= last, "SEED=%#llx", seed);
		ck_assert_msg(s->nr > 0, "SEED=%#llx", seed);
		for (int c = 0; c < s->nr; c++)
			ck_assert_msg(s->culprit[c].insn < p->cfg->nr_insns &&
					      s->culprit[c].most > 0 &&
					      s->culprit[c].most <= s->cycles &&
					      s->dynamic == (s->culprit[c].reason <
							     BLAME_NR_DYNAMIC),
				      "SEED=%#llx", seed);
		last = s->cycles;
		sum += s->cycles;
		parts += s->cycles;
	}
	ck_assert_msg(near(sum, at->cycles, fmax(parts, at->cycles)),
		      "SEED=%#llx insn %d", seed, i);
	return parts;
}

START_TEST(sums_tally)
{
	for (int n = 0; n < PROCEDURES; n++) {
		const unsigned long long seed = unit_seed() + (unsigned)n;
		uint64_t state = seed;
		double sum, samples = 0, outside = 0, scale = 0;
		const struct blame_summary *s;
		struct procedure p;

		make_random(&p, &state);
		find(&p);
		s = &p.blame->summary;
		for (int b = 0; b < p.cfg->exit; b++)
			for (int i = b * INSNS; i < b * INSNS + INSNS; i++) {
				const double f = p.block[b];

				samples += p.samples[i];
				if (f > 0)
					scale += check_insn(&p, i, seed) * f;
				else
					outside += p.samples[i];
				ck_assert(f > 0 || isnan(p.blame->insn[i].cycles));
			}
		sum = s->execution - s->gain + s->error;
		for (int r = 0; r < BLAME_NR_REASONS; r++) {
			sum += s->by_first[r];
			ck_assert_msg(s->reason[r].least <=
					      s->reason[r].most * (1 + 1e-9),
				      "SEED=%#llx %s", seed, blame_name(r));
		}
		scale = fmax(scale / p.in.period_cycles, samples);
		ck_assert_msg(near(sum, s->tallied, scale), "SEED=%#llx I1", seed);
		ck_assert_msg(near(s->samples, s->tallied + s->outside, samples),
			      "SEED=%#llx I2", seed);
		ck_assert_msg(near(s->samples, samples, samples) &&
				      near(s->outside, outside, samples),
			      "SEED=%#llx", seed);
		arena_fini(&p.arena);
	}
}
END_TEST

#define NR_RECORDED 24
#define RECORD      "t/fixtures/blame/accusations"

static void print_insn(FILE *to, const struct procedure *p, int i)
{
	const struct blame_insn *at = &p->blame->insn[i];

	fprintf(to, "insn %d %.9g %.9g %.9g %.9g\n", i, at->cycles, at->execute,
		at->gain, at->error);
	for (int k = 0; k < at->nr_stalls; k++) {
		const struct stall *s = &at->stall[k];

		fprintf(to, "stall %d %.9g", s->dynamic, s->cycles);
		for (int c = 0; c < s->nr; c++)
			fprintf(to, " %d %d %.9g", (int)s->culprit[c].reason,
				s->culprit[c].insn, s->culprit[c].most);
		fputc('\n', to);
	}
}

/* Whether the lines are the same words, but for the last digits of numbers. */
static bool same_line(char *a, char *b)
{
	char *end_a, *end_b, *word_a, *word_b;

	for (word_a = strtok_r(a, " \n", &end_a), word_b = strtok_r(b, " \n", &end_b);
	     word_a && word_b; word_a = strtok_r(NULL, " \n", &end_a),
	    word_b = strtok_r(NULL, " \n", &end_b)) {
		const double x = atof(word_a), y = atof(word_b);

		if (strcmp(word_a, word_b) && !(fabs(x - y) <= 1e-6 * fabs(x)))
			return false;
	}
	return !word_a && !word_b;
}

/*
 * Nothing else says what the weights of suspects should be, so a change of one must be
 * meant: RECORD=FILE writes the file anew.
 */
START_TEST(accusations_of_drawn_procedures_are_as_recorded)
{
	const char *srcdir = getenv("srcdir"), *again = getenv("RECORD");
	char path[4096], *text = NULL, recorded[16384], made[16384];
	FILE *to, *from, *now;
	size_t size;

	to = again ? fopen(again, "w") : open_memstream(&text, &size);
	ck_assert_ptr_nonnull(to);
	for (uint64_t n = 0; n < NR_RECORDED; n++) {
		uint64_t state = 1000 + n;
		struct procedure p;

		make_random(&p, &state);
		find(&p);
		for (int i = 0; i < p.cfg->exit * INSNS; i++)
			print_insn(to, &p, i);
		arena_fini(&p.arena);
	}
	fclose(to);
	if (again)
		return;
	snprintf(path, sizeof(path), "%s/" RECORD, srcdir ? srcdir : ".");
	from = fopen(path, "r");
	now = fmemopen(text, size, "r");
	ck_assert(from && now);
	while (fgets(made, sizeof(made), now)) {
		ck_assert_ptr_nonnull(fgets(recorded, sizeof(recorded), from));
		ck_assert_msg(same_line(recorded, made), "another line: %s", made);
	}
	ck_assert_ptr_null(fgets(recorded, sizeof(recorded), from));
	fclose(from);
	fclose(now);
	free(text);
}
END_TEST

/*
 * A loop whose first block, instruction 1, ends in a conditional jump around the second
 * block. The first instruction behind the jump, 2, stalls.
 */
static void make_jump(struct procedure *p, const struct mispredicts *mispredicts)
{
	static const struct cfg_edge edge[] = {
		{ 0, 1, EDGE_FALL }, { 1, 2, EDGE_FALL },  { 1, 3, EDGE_TAKEN },
		{ 2, 3, EDGE_FALL }, { 3, 1, EDGE_TAKEN }, { 3, 4, EDGE_RETURN }
	};
	static const int nr_insns[] = { 1, 1, 1, 1 };

	memset(p, 0, sizeof(*p));
	arena_init(&p->arena, 0);
	open_procedure(p, cfg_make(&p->arena, 5, edge, NR(edge)), nr_insns);
	for (int i = 0; i < 4; i++) {
		p->insn[i] = (struct insn){ .address = 16 * (uint64_t)i, .size = 4 };
		p->timing[i] = (struct isa_timing){ .modelled = true,
						    .head = 1,
						    .execute = 1,
						    .culprit = ISA_NO_CULPRIT };
	}
	p->insn[1].kind = INSN_JUMP | INSN_COND;
	p->insn[3].kind = INSN_JUMP;
	p->block[0] = p->block[4] = 1;
	p->block[1] = p->block[3] = 1000;
	p->block[2] = 500;
	for (int e = 0; e < p->cfg->nr_edges; e++)
		p->edge[e] = p->cfg->edge[e].from == 1 ? 500 : 1;
	p->samples[1] = p->samples[3] = 1000;
	p->samples[2] = 5500; /* of them 10 cycles of each execution are a stall */
	p->freq.anchored = true;
	p->in.mispredicts = mispredicts;
}

/* What windows expect of the jump, and whether it is blamed. */
static const struct {
	struct mispredicts m;
	bool blamed;
	double most; /* cycles that it can explain */
} jumps[] = {
	{ { 1000, 100, 0.3, 0.45, 0.55, 0.5 }, true, 10 },
	{ { 1000, 100, 0.05, 0.1, 0.15, 0.5 }, true, 6 },
	{ { 1000, 100, 0, 0, 0.01, 0.5 }, false, 0 },
	{ { 0, 0, 0, 0, 0, 0 }, true, 10 }, /* no window passed it */
};

START_TEST(windows_tell_which_jump_is_mispredicted)
{
	struct mispredicts mispredicts[4] = { { 0 } };
	const struct stall *s;
	struct procedure p;

	mispredicts[1] = jumps[_i].m;
	make_jump(&p, mispredicts);
	find(&p);
	s = dynamic_stall(&p, 2);
	ck_assert_ptr_nonnull(s);
	ck_assert_int_eq(accuses(s, BLAME_MISPREDICT, 1), jumps[_i].blamed);
	for (int i = 0; i < s->nr; i++) {
		if (s->culprit[i].reason == BLAME_MISPREDICT)
			ck_assert_double_eq_tol(s->culprit[i].most, jumps[_i].most,
						1e-9);
	}
	ck_assert(!jumps[_i].blamed || s->culprit[0].reason == BLAME_MISPREDICT);
	arena_fini(&p.arena);
}
END_TEST

/*
 * The outcomes of the first instruction and of the jump behind it count. A jump that
 * always goes the same way explains no cycle, one that goes both ways all ten.
 */
START_TEST(sampled_outcomes_tell_how_often_a_jump_is_mispredicted)
{
	static const struct count outcomes[][4] = {
		{ { 0, 2000, 2000, 0 } },
		{ { 0, 2000, 1000, 1000 } },
		{ { 0 }, { 16, 2000, 0, 2000 } },
		{ { 0, 1000, 1000, 0 }, { 16, 1000, 0, 1000 } },
	};
	static const double most[] = { 0, 10, 0, 10 };
	const struct stall *s;
	struct procedure p;
	double got = 0;

	make_jump(&p, NULL);
	p.in.outcomes = outcomes[_i];
	find(&p);
	s = dynamic_stall(&p, 2);
	ck_assert_ptr_nonnull(s);
	for (int i = 0; i < s->nr; i++) {
		if (s->culprit[i].reason == BLAME_MISPREDICT)
			got = s->culprit[i].most;
	}
	ck_assert_double_eq_tol(got, most[_i], 1e-9);
	arena_fini(&p.arena);
}
END_TEST

/*
 * What waits behind a jump that is often mispredicted has no wait of the schedule,
 * unless the scale was measured.
 */
START_TEST(a_refill_is_no_wait_for_an_operand)
{
	static const struct {
		double misses;
		bool anchored, waits;
	} c[] = {
		{ 0.5, false, false },
		{ 0.01, false, true },
		{ 0.5, true, true },
	};

	for (size_t i = 0; i < NR(c); i++) {
		struct mispredicts mispredicts[4] = { { 0 } };
		const struct blame_insn *x;
		struct procedure p;
		bool waits = false;

		mispredicts[1] =
			(struct mispredicts){ 1000,        100,         c[i].misses,
					      c[i].misses, c[i].misses, 0.5 };
		make_jump(&p, mispredicts);
		p.freq.anchored = c[i].anchored;
		p.timing[2].head = 4;
		p.timing[2].dependency = 3;
		find(&p);
		x = &p.blame->insn[2];
		for (int k = 0; k < x->nr_stalls; k++)
			waits |= !x->stall[k].dynamic;
		ck_assert_int_eq(waits, c[i].waits);
		arena_fini(&p.arena);
	}
}
END_TEST

/* Only the block of the jump takes longer, and the most that it waits is less. */
START_TEST(expected_mispredictions_cost_cycles)
{
	struct mispredicts mispredicts[4] = { { 0 } };
	struct scale_costs without, with;
	struct procedure p;

	mispredicts[1] = jumps[0].m;
	make_jump(&p, NULL);
	ck_assert_int_eq(blame_costs_find(&p.in, &p.arena, &without), 0);
	p.in.mispredicts = mispredicts;
	ck_assert_int_eq(blame_costs_find(&p.in, &p.arena, &with), 0);
	for (int b = 0; b < p.cfg->exit; b++) {
		ck_assert_double_ge(with.usual[b], with.best[b]);
		ck_assert_double_ge(with.worst[b], with.usual[b]);
		ck_assert_double_eq(with.issue[b], without.issue[b]);
		ck_assert(b == 1 || with.best[b] == without.best[b]);
		ck_assert(b == 1 || with.usual[b] == without.usual[b]);
	}
	ck_assert_double_eq_tol(with.best[1] - without.best[1], 8 * 0.3, 1e-9);
	ck_assert_double_eq_tol(with.usual[1] - without.usual[1], 17 * 0.45, 1e-9);
	arena_fini(&p.arena);
}
END_TEST

/*
 * A loop of an instruction that waits for itself and one that counts, in another loop:
 * rounds of the inner one for each of the outer one, whether the outer one sets the
 * first register anew, and what the second instruction takes, whose register goes on.
 */
static const struct nested {
	double rounds;
	bool anew;
	uint16_t latency;
	double best;
} nested[] = {
	{ 12, false, 1, 6 },
	{ 12, true, 3, 6 },
	{ 12, true, 1, 6 / (1 + 512.0 / 24) },
	{ 12000, true, 1, 6 / (1 + 512.0 / 24000) },
};

START_TEST(short_loops_overlap)
{
	static const struct cfg_edge edge[] = {
		{ 0, 1, EDGE_FALL }, { 1, 2, EDGE_FALL },  { 2, 2, EDGE_TAKEN },
		{ 2, 3, EDGE_FALL }, { 3, 1, EDGE_TAKEN }, { 3, 4, EDGE_RETURN }
	};
	static const int nr_insns[] = { 1, 1, 2, 1 };
	const struct nested *n = &nested[_i];
	struct scale_costs costs;
	struct procedure p;

	memset(&p, 0, sizeof(p));
	arena_init(&p.arena, 0);
	open_procedure(&p, cfg_make(&p.arena, 5, edge, NR(edge)), nr_insns);
	for (int i = 0; i < 5; i++) {
		p.insn[i] = (struct insn){ .address = 16 * (uint64_t)i, .size = 4 };
		p.timing[i] = (struct isa_timing){ .modelled = true,
						   .head = i == 3 ? 0 : 8,
						   .execute = 8,
						   .latency = i == 3 ? n->latency : 8,
						   .culprit = ISA_NO_CULPRIT };
	}
	add_register(&p.insn[3].reads, T0);
	add_register(&p.insn[3].writes, T0);
	add_register(&p.insn[2].reads, V0);
	add_register(&p.insn[2].writes, V0);
	add_register(&p.insn[1].writes, V0);
	if (!n->anew)
		add_register(&p.insn[1].reads, V0);
	p.block[0] = p.block[4] = 1;
	p.block[1] = p.block[3] = 100;
	p.block[2] = 100 * n->rounds;
	for (int e = 0; e < p.cfg->nr_edges; e++)
		p.edge[e] =
			fmin(p.block[p.cfg->edge[e].from], p.block[p.cfg->edge[e].to]);
	p.edge[2] = p.block[2] - 100;
	ck_assert_int_eq(blame_costs_find(&p.in, &p.arena, &costs), 0);
	ck_assert_double_eq_tol(costs.best[2], n->best, 1e-9);
	ck_assert_double_eq(costs.usual[2], 8);
	ck_assert_double_eq(costs.best[1], 6);
	arena_fini(&p.arena);
}
END_TEST

/* What is looked for: the writers of a register, or the stores to a place. */
struct target {
	unsigned int reg;
	const struct insn_memory *memory; /* NULL: of the register */
};

static bool writes(const struct insn *insn, const struct target *t)
{
	const struct insn_memory *m = t->memory;

	if (m)
		return (insn->kind & (INSN_STORE | INSN_CALL)) == INSN_STORE &&
		       insn->memory.base == m->base && insn->memory.index == m->index &&
		       insn->memory.displacement == m->displacement;
	return isa_has(&insn->writes, t->reg) ||
	       (insn->kind & INSN_CALL && t->reg == ISA_GENERAL);
}

/* Without frequencies, and instruction by instruction. */
static void search(const struct procedure *p, int insn, const struct target *target,
		   bool *found, bool *seen)
{
	const struct cfg *cfg = p->cfg;
	const int b = insn / INSNS;

	if (insn % INSNS) {
		if (writes(&p->insn[insn - 1], target))
			found[insn - 1] = true;
		else
			search(p, insn - 1, target, found, seen);
		return;
	}
	if (seen[b])
		return;
	seen[b] = true;
	for (int e = 0; e < cfg->nr_edges; e++) {
		const int at = cfg->edge[e].from * INSNS + INSNS - 1;

		if (cfg->edge[e].to != b || p->edge[e] < 0.05 * p->block[b])
			continue;
		if (writes(&p->insn[at], target))
			found[at] = true;
		else
			search(p, at, target, found, seen);
	}
}

static void check_found(const struct procedure *p, int insn,
			const struct target *target, const struct blame_writers *w,
			unsigned long long seed)
{
	bool found[MAX_INSNS] = { false }, seen[MAX_BLOCKS] = { false };
	int nr = 0;

	search(p, insn, target, found, seen);
	for (int k = 0; k < p->cfg->nr_insns; k++)
		nr += found[k];
	for (int k = 0; k < w->nr; k++)
		ck_assert_msg(found[w->insn[k]], "SEED=%#llx insn %d", seed, insn);
	ck_assert_msg(w->nr == (nr < BLAME_MAX_WRITERS ? nr : BLAME_MAX_WRITERS),
		      "SEED=%#llx insn %d", seed, insn);
}

START_TEST(writers_are_those_of_the_frequent_paths)
{
	for (int n = 0; n < PROCEDURES; n++) {
		const unsigned long long seed = unit_seed() + (unsigned)n;
		uint64_t state = seed;
		struct blame_paths paths;
		struct procedure p;

		make_random(&p, &state);
		ck_assert_int_eq(blame_paths_init(&paths, p.cfg, &p.freq, &p.arena), 0);
		for (int i = 0; i < p.cfg->nr_insns; i++) {
			struct target target = { .reg = ISA_GENERAL + i % 4 };
			struct blame_writers w;

			blame_find_writers(&paths, i, target.reg, &w);
			check_found(&p, i, &target, &w, seed);
			target.memory = &p.insn[i].memory;
			blame_find_stores(&paths, i, &w);
			check_found(&p, i, &target, &w, seed);
		}
		arena_fini(&p.arena);
	}
}
END_TEST

/* The lines or pages of all blocks that run at least as often as another one. */
static double count_granules(const struct procedure *p, double runs, uint64_t granule)
{
	double nr = 0;

	for (uint64_t g = 0; g <= p->cfg->block[p->cfg->exit - 1].end / granule; g++) {
		bool touched = false;

		for (int b = 0; b < p->cfg->exit; b++)
			touched |= p->block[b] >= runs &&
				   p->cfg->block[b].start < (g + 1) * granule &&
				   p->cfg->block[b].end > g * granule;
		nr += touched;
	}
	return nr;
}

/* Moves blocks apart: by nothing, some bytes, lines or pages. */
static void scatter(struct procedure *p, uint64_t *state)
{
	static const uint64_t apart[] = { 0, 0, 8, 100, 9000 };
	uint64_t moved = 0;

	for (int b = 0; b < p->cfg->exit; b++) {
		moved += apart[unit_random(state) % NR(apart)];
		p->cfg->block[b].start += moved;
		p->cfg->block[b].end += moved;
	}
}

START_TEST(footprints_are_lines_and_pages_of_blocks_that_run_as_often)
{
	for (int n = 0; n < PROCEDURES; n++) {
		const unsigned long long seed = unit_seed() + (unsigned)n;
		struct blame_footprints f;
		uint64_t state = seed;
		struct procedure p;
		int nr = 0;

		make_random(&p, &state);
		scatter(&p, &state);
		ck_assert_int_eq(blame_footprints_init(&f, &p.in, &p.arena), 0);
		for (int b = 0; b < p.cfg->exit; b++)
			nr += p.block[b] > 0;
		ck_assert_int_eq(f.nr, nr);
		for (int i = 0; i < f.nr; i++) {
			bool calls = false;

			for (int b = 0; b < p.cfg->exit; b++)
				for (int k = b * INSNS; k < (b + 1) * INSNS; k++)
					calls |= p.block[b] >= f.runs[i] &&
						 p.insn[k].kind &
							 (INSN_CALL | INSN_SYSCALL);
			ck_assert_msg(f.lines[i] == count_granules(&p, f.runs[i], 64) &&
					      f.pages[i] == count_granules(&p,
									   f.runs[i],
									   4096) &&
					      f.calls[i] == calls,
				      "SEED=%#llx block %d", seed, i);
			ck_assert_msg(!i || f.runs[i] < f.runs[i - 1],
				      "SEED=%#llx block %d", seed, i);
		}
		arena_fini(&p.arena);
	}
}
END_TEST

START_TEST(deferred_samples_are_outside)
{
	struct procedure p;

	make_figure2(&p);
	p.in.deferred = true;
	find(&p);
	ck_assert_double_eq(p.blame->summary.outside, 213754);
	ck_assert_double_eq(p.blame->summary.tallied, 0);
	for (size_t i = 0; i <= NR(figure2); i++) {
		ck_assert(isnan(p.blame->insn[i].cycles));
		ck_assert_int_eq(p.blame->insn[i].nr_stalls, 0);
	}
	arena_fini(&p.arena);
}
END_TEST

START_TEST(events_acquit_what_did_not_happen)
{
	struct procedure p;

	make_figure2(&p);
	p.evidence = (struct blame_evidence){ BLAME_DTLB, p.events, 40 };
	p.in.evidence = &p.evidence;
	p.in.nr_evidence = 1;
	find(&p);
	ck_assert(!suspects(dynamic_stall(&p, at_9800(0x34)), BLAME_DTLB));
	ck_assert(suspects(dynamic_stall(&p, at_9800(0x34)), BLAME_DCACHE));
	/* One miss in two executions explains 20 of 114 cycles. */
	p.events[at_9800(0x34)] = FIGURE2_FREQUENCY / 2;
	find(&p);
	ck_assert(suspects(dynamic_stall(&p, at_9800(0x34)), BLAME_DTLB));
	ck_assert_double_ge(p.blame->summary.reason[BLAME_DTLB].most,
			    20 * FIGURE2_FREQUENCY);
	ck_assert_double_le(p.blame->summary.reason[BLAME_DTLB].most, 174727 / 2);
	arena_fini(&p.arena);
}
END_TEST

/* The store at 34 waits for the load at 1c; no measure of it, one with misses, without.
 */
START_TEST(records_of_hardware_decide)
{
	uint64_t known[MAX_INSNS] = { 0 }, seen[MAX_INSNS] = { 0 };
	const struct blame_measure measure = { BLAME_DCACHE, known, seen };
	const int load = at_9800(0x1c);
	const struct stall *s;
	struct procedure p;

	make_figure2(&p);
	p.in.measure = &measure;
	p.in.nr_measures = 1;
	known[load] = 29;
	find(&p);
	ck_assert(accuses(dynamic_stall(&p, at_9800(0x34)), BLAME_DCACHE, load));
	known[load] = 30;
	find(&p);
	ck_assert(!accuses(dynamic_stall(&p, at_9800(0x34)), BLAME_DCACHE, load));
	seen[load] = 15;
	find(&p);
	s = dynamic_stall(&p, at_9800(0x34));
	ck_assert_int_eq(s->culprit[0].reason, BLAME_DCACHE);
	ck_assert_int_eq(s->culprit[0].insn, load);
	arena_fini(&p.arena);
}
END_TEST

/*
 * The address of this instruction goes by steps of so many bytes; 0: as the code says.
 * The tests' instructions do not say what they add.
 */
static int stepping;
static int64_t step_bytes;

struct address __real_blame_find_address(struct isa *isa, struct blame_paths *paths,
					 int insn);
struct address __wrap_blame_find_address(struct isa *isa, struct blame_paths *paths,
					 int insn);

struct address __wrap_blame_find_address(struct isa *isa, struct blame_paths *paths,
					 int insn)
{
	return step_bytes && insn == stepping
		       ? (struct address){ ADDRESS_STEPS, step_bytes }
		       : __real_blame_find_address(isa, paths, insn);
}

/*
 * The same load: windows saw that it hits, that it misses to memory, or nearly nothing.
 * Also with small steps, loads that wait for a store do so each time.
 */
START_TEST(addresses_of_windows_decide)
{
	static const struct {
		double high;       /* share that misses */
		double cache, tlb; /* cycles that it waits */
		uint64_t partial;  /* of 1000: they wait for a store */
		int64_t step;
		bool accused, first;
	} miss[] = {
		{ 0.005, 0.4, 0.4, 0, 0, false, false },
		{ 0.4, 120, 119, 0, 0, true, true },
		{ 0.4, 500, 400, 0, 0, true, true },
		{ 0.4, 400, 500, 0, 0, true, false },
		{ 1, 40, 40, 0, 0, true, false },
		{ 0, 0, 0, 900, 0, true, false },
		{ 0, 0, 0, 900, 1, true, false },
		{ 0, 0, 0, 900, 2, true, false },
		{ 0, 0, 0, 1, 0, false, false },
	};
	const int load = at_9800(0x1c);

	for (size_t i = 0; i < NR(miss); i++) {
		const struct data_insn *data[MAX_INSNS] = { NULL };
		const struct accesses_insn from = { .known = 1000,
						    .partial = miss[i].partial };
		struct data_insn seen = { .from = &from };
		const struct stall *s;
		struct procedure p;

		stepping = load;
		step_bytes = miss[i].step;
		make_figure2(&p);
		seen.wait[ACCESSES_LINES] =
			(struct data_wait){ miss[i].cache, 1000 * miss[i].high };
		seen.wait[ACCESSES_PAGES] =
			(struct data_wait){ miss[i].tlb, 1000 * miss[i].high };
		data[load] = &seen;
		p.in.data = data;
		find(&p);
		s = dynamic_stall(&p, at_9800(0x34));
		ck_assert_int_eq(accuses(s, BLAME_DCACHE, load), miss[i].accused);
		ck_assert_int_eq(accuses(s, BLAME_DTLB, load),
				 miss[i].accused && !miss[i].partial);
		for (int k = 0; k < s->nr; k++) {
			if (s->culprit[k].reason != BLAME_DCACHE)
				continue;
			ck_assert_double_le(s->culprit[k].most,
					    miss[i].partial ? 40 : 1000 * miss[i].high);
			ck_assert_double_ge(s->culprit[k].most,
					    40 * (double)miss[i].partial / 1000);
		}
		ck_assert_int_eq(s->culprit[0].reason == BLAME_DCACHE &&
					 s->culprit[0].insn == load,
				 miss[i].first);
		arena_fini(&p.arena);
	}
	step_bytes = 0;
}
END_TEST

/*
 * Loops of three instructions: a load through T0 into out, out + 8 into T1, then a copy
 * of copied into T0. Only a load whose address comes from itself chases pointers.
 */
static const struct {
	unsigned int out, copied;
	bool chases;
} chains[] = {
	{ T0, T2, false }, /* T0 is overwritten with what the loop does not change */
	{ T2, T2, true },  /* directly */
	{ T3, T1, true },  /* through the addition */
	{ T4, T5, false }, /* the address comes from elsewhere */
};

START_TEST(pointers_are_chased_only_through_the_load_itself)
{
	static const struct cfg_edge edge[] = { { 0, 0, EDGE_TAKEN },
						{ 0, 1, EDGE_RETURN } };
	static const int nr_insns[] = { 3 };
	struct blame_paths paths;
	struct procedure p;

	memset(&p, 0, sizeof(p));
	arena_init(&p.arena, 0);
	open_procedure(&p, cfg_make(&p.arena, 2, edge, NR(edge)), nr_insns);
	p.insn[0].kind = INSN_LOAD;
	p.insn[0].memory.base = T0;
	add_register(&p.insn[0].reads, T0);
	add_register(&p.insn[0].writes, chains[_i].out);
	add_register(&p.insn[1].reads, chains[_i].out);
	add_register(&p.insn[1].writes, T1);
	add_register(&p.insn[2].reads, chains[_i].copied);
	add_register(&p.insn[2].writes, T0);
	p.block[0] = 100;
	for (int e = 0; e < p.cfg->nr_edges; e++)
		p.edge[e] = 100;
	ck_assert_int_eq(blame_paths_init(&paths, p.cfg, &p.freq, &p.arena), 0);
	ck_assert_int_eq(blame_follows_itself(&paths, 0), chains[_i].chases);
	ck_assert(!blame_follows_itself(&paths, 1));
	arena_fini(&p.arena);
}
END_TEST

/*
 * The schedule explains all cycles of the store at 34 as often as it is thought to have
 * run. If it may have run half as often, half of the time may be a miss.
 */
START_TEST(code_that_runs_more_rarely_may_stall)
{
	const int store = at_9800(0x34), load = at_9800(0x1c);
	const double cycles = 174727 / FIGURE2_FREQUENCY;
	struct freq_interval range[MAX_BLOCKS];
	struct blame_range certain, possible;
	struct procedure p;

	make_figure2(&p);
	p.freq.anchored = true;
	p.timing[store].head = (float)cycles;
	p.timing[store].dependency = (float)cycles - p.timing[store].execute;
	p.timing[store].unit = 0;
	find(&p);
	ck_assert(!dynamic_stall(&p, store));
	ck_assert_int_eq(p.blame->insn[store].possible.nr, 0);
	certain = p.blame->summary.reason[BLAME_DCACHE];
	for (int b = 0; b < p.cfg->nr_blocks; b++)
		range[b] = (struct freq_interval){ p.block[b] / 2, p.block[b],
						   p.block[b] };
	p.freq.block_range = range;
	find(&p);
	ck_assert(!dynamic_stall(&p, store));
	ck_assert_double_eq_tol(p.blame->insn[store].possible.cycles, cycles / 2, 0.01);
	ck_assert(accuses(&p.blame->insn[store].possible, BLAME_DCACHE, load));
	ck_assert(!suspects(&p.blame->insn[store].possible, BLAME_FREQUENCY));
	possible = p.blame->summary.reason[BLAME_DCACHE];
	ck_assert_double_ge(possible.most, certain.most + 174727 / 2.1);
	ck_assert_double_le(possible.most, p.blame->summary.samples);
	ck_assert_double_le(possible.least, certain.least);
	arena_fini(&p.arena);
}
END_TEST

/*
 * The schedule explains a quarter of the cycles of the store at 34. If it ran twice as
 * often, half of the time is that static stall; if five times as often, all of it.
 */
START_TEST(code_that_runs_more_often_has_more_static_stalls)
{
	static const struct {
		double often, part;
	} cases[] = { { 1, 0.25 }, { 2, 0.5 }, { 5, 1 } };
	const int store = at_9800(0x34);
	const double cycles = 174727 / FIGURE2_FREQUENCY;
	struct freq_interval range[MAX_BLOCKS];
	struct procedure p;

	make_figure2(&p);
	p.freq.anchored = true;
	for (int i = 0; i < p.cfg->nr_insns; i++)
		p.timing[i].dependency = 0;
	p.timing[store].execute = 0;
	p.timing[store].unit = 0;
	p.timing[store].head = p.timing[store].dependency = (float)cycles / 4;
	for (int b = 0; b < p.cfg->nr_blocks; b++)
		range[b] = (struct freq_interval){ p.block[b], p.block[b],
						   cases[_i].often * p.block[b] };
	p.freq.block_range = range;
	find(&p);
	ck_assert_double_eq_tol(p.blame->summary.reason[BLAME_DEPENDENCY].most,
				cases[_i].part * 174727, 1);
	ck_assert_double_eq_tol(p.blame->summary.reason[BLAME_DEPENDENCY].least,
				174727 / 4.0, 1);
	arena_fini(&p.arena);
}
END_TEST

/* A loop of three instructions, each of which executes for a cycle. */
static void make_three(struct procedure *p, const double *cycles)
{
	static const struct cfg_edge edge[] = { { 0, 1, EDGE_FALL },
						{ 1, 1, EDGE_TAKEN },
						{ 1, 2, EDGE_RETURN } };
	static const int nr_insns[] = { 1, 3 };

	memset(p, 0, sizeof(*p));
	arena_init(&p->arena, 0);
	open_procedure(p, cfg_make(&p->arena, 3, edge, NR(edge)), nr_insns);
	for (int i = 0; i < 4; i++) {
		p->insn[i] = (struct insn){ .address = 4 * (uint64_t)i, .size = 4 };
		p->timing[i] = (struct isa_timing){ .modelled = true,
						    .head = 1,
						    .execute = 1,
						    .culprit = ISA_NO_CULPRIT };
		p->samples[i] = i ? 1000 * cycles[i - 1] : 0;
	}
	p->block[0] = p->block[2] = p->edge[0] = p->edge[2] = 1;
	p->block[1] = 1000;
	p->edge[1] = 999;
}

/* The first one's wait is seen at the second one. */
START_TEST(waits_that_others_show_keep_their_reason)
{
	static const double cycles[] = { 1, 3, 1 };
	const struct blame_insn *shows;
	struct procedure p;

	make_three(&p, cycles);
	p.timing[1].head = 3;
	p.timing[1].unit = 2;
	find(&p);
	shows = &p.blame->insn[2];
	ck_assert_int_eq(shows->nr_stalls, 1);
	ck_assert(!shows->stall[0].dynamic);
	ck_assert_double_eq_tol(shows->stall[0].cycles, 2, 0.01);
	ck_assert_int_eq(shows->stall[0].culprit[0].reason, BLAME_FUNCTION_UNIT);
	arena_fini(&p.arena);
}
END_TEST

/* 3000 lines of code; then the whole wait may be one for code. */
START_TEST(code_that_comes_late_has_no_static_stalls)
{
	static const double cycles[] = { 3, 1, 1 };
	struct procedure p;

	for (int late = 0; late < 2; late++) {
		const struct stall *s;

		make_three(&p, cycles);
		p.cfg->block[1].start = 64;
		p.cfg->block[1].end = late ? 3000ul * 64 : 128;
		p.cfg->block[2].start = p.cfg->block[2].end = p.cfg->block[1].end;
		p.timing[1].head = 3;
		p.timing[1].unit = 2;
		find(&p);
		ck_assert_int_eq(p.blame->insn[1].nr_stalls, 1);
		s = &p.blame->insn[1].stall[0];
		ck_assert_int_eq(s->dynamic, late);
		ck_assert_double_eq_tol(s->cycles, 2, 0.01);
		ck_assert(!late || s->culprit[0].reason == BLAME_ICACHE);
		arena_fini(&p.arena);
	}
}
END_TEST

START_TEST(a_copy_of_a_register_is_not_waited_for)
{
	static const double cycles[] = { 1, 1, 3 };
	const struct blame_insn *waits;
	struct procedure p;

	make_three(&p, cycles);
	p.insn[2].kind = INSN_MOVE;
	p.timing[2].culprit = 0;
	p.timing[3].head = 3;
	p.timing[3].dependency = 2;
	p.timing[3].culprit = 1;
	find(&p);
	waits = &p.blame->insn[3];
	ck_assert_int_eq(waits->nr_stalls, 1);
	ck_assert_int_eq(waits->stall[0].culprit[0].reason, BLAME_DEPENDENCY);
	ck_assert_int_eq(waits->stall[0].culprit[0].insn, 1);
	arena_fini(&p.arena);
}
END_TEST

START_TEST(summaries_add_up)
{
	struct blame_summary sum = { 0 };
	struct procedure p;

	make_figure2(&p);
	find(&p);
	blame_summary_add(&sum, &p.blame->summary);
	blame_summary_add(&sum, &p.blame->summary);
	ck_assert_double_eq(sum.samples, 2 * p.blame->summary.samples);
	ck_assert_double_eq(sum.execution, 2 * p.blame->summary.execution);
	for (int r = 0; r < BLAME_NR_REASONS; r++) {
		ck_assert_double_eq(sum.by_first[r], 2 * p.blame->summary.by_first[r]);
		ck_assert_double_eq(sum.reason[r].most,
				    2 * p.blame->summary.reason[r].most);
	}
	arena_fini(&p.arena);
}
END_TEST

START_TEST(reasons_have_names)
{
	for (int r = 0; r < BLAME_NR_REASONS; r++) {
		ck_assert_ptr_nonnull(blame_name(r));
		ck_assert_ptr_nonnull(blame_text(r));
		for (int k = 0; k < r; k++)
			ck_assert_str_ne(blame_name(r), blame_name(k));
	}
	ck_assert_str_eq(blame_name(BLAME_DCACHE), "dcache");
	ck_assert_str_eq(blame_text(BLAME_FUNCTION_UNIT), "Functional unit");
}
END_TEST

static Suite *blame_suite(void)
{
	Suite *s = suite_create("blame");
	TCase *tc = tcase_create("blame");

	tcase_add_test(tc, figure_2_has_its_two_cpi);
	tcase_add_loop_test(tc, figure_2_has_its_culprits, 0, NR(dwD));
	tcase_add_test(tc, figure_2_has_its_slotting_hazards);
	tcase_add_test(tc, figure_2_adds_up_as_figure_4_does);
	tcase_add_test(tc, sums_tally);
	tcase_add_test(tc, accusations_of_drawn_procedures_are_as_recorded);
	tcase_add_test(tc, writers_are_those_of_the_frequent_paths);
	tcase_add_test(tc, footprints_are_lines_and_pages_of_blocks_that_run_as_often);
	tcase_add_test(tc, deferred_samples_are_outside);
	tcase_add_test(tc, events_acquit_what_did_not_happen);
	tcase_add_test(tc, records_of_hardware_decide);
	tcase_add_loop_test(tc, sampled_outcomes_tell_how_often_a_jump_is_mispredicted,
			    0, 4);
	tcase_add_loop_test(tc, windows_tell_which_jump_is_mispredicted, 0, NR(jumps));
	tcase_add_test(tc, a_refill_is_no_wait_for_an_operand);
	tcase_add_test(tc, expected_mispredictions_cost_cycles);
	tcase_add_loop_test(tc, short_loops_overlap, 0, NR(nested));
	tcase_add_test(tc, addresses_of_windows_decide);
	tcase_add_loop_test(tc, pointers_are_chased_only_through_the_load_itself, 0,
			    NR(chains));
	tcase_add_test(tc, code_that_runs_more_rarely_may_stall);
	tcase_add_loop_test(tc, code_that_runs_more_often_has_more_static_stalls, 0, 3);
	tcase_add_test(tc, waits_that_others_show_keep_their_reason);
	tcase_add_test(tc, code_that_comes_late_has_no_static_stalls);
	tcase_add_test(tc, a_copy_of_a_register_is_not_waited_for);
	tcase_add_test(tc, summaries_add_up);
	tcase_add_test(tc, reasons_have_names);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(blame_suite)
