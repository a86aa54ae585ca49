/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs go through this program's own code, decoded again for each.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "analysis/freq/precise.h"
#include "base/loglin.h"
#include "t/unit/unit.h"

static const struct {
	const char *event;
	bool counts;
} events[] = {
	{ "instructions", true },
	{ "instructions:ppp", true },
	{ "cpu_core/instructions/ppp", true },
	{ "cpu/INST_RETIRED.PREC_DIST/pp", true },
	{ "inst_retired:any_p", true },
	{ "cycles:ppp", false },
	{ "cpu/mem-loads,ldlat=30/P", false },
	{ "branch-instructions", false },
	{ "instructions_per_something", false },
	{ "", false },
};

START_TEST(the_event_says_whether_instructions_are_sampled)
{
	ck_assert_msg(precise_counts_instructions(events[_i].event) ==
			      events[_i].counts,
		      "%s", events[_i].event);
}
END_TEST

#define NR_OFFSETS 8

START_TEST(latencies_add_up_by_instruction)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct records *r = records_new();
	struct profile *p = profile_new();
	double want[NR_OFFSETS] = { 0 }, exact = 0, got = 0;

	for (int i = 0; i < 2000; i++) {
		const uint64_t offset = unit_random(&state) % NR_OFFSETS;
		const bool timed = unit_random(&state) % 4;
		const uint64_t cycles = unit_random(&state) % 1000;
		struct record one = { .timed = 1u << RECORD_TIME_MEMORY };

		one.cycles[RECORD_TIME_MEMORY] = 7;
		if (timed) {
			one.timed |= 1u << RECORD_TIME_RETIRE_TO_RETIRE;
			one.cycles[RECORD_TIME_RETIRE_TO_RETIRE] = cycles;
			want[offset] += WEIGHT_UNIT * loglin_middle(loglin_bin(cycles));
			exact += WEIGHT_UNIT * (double)cycles;
		}
		ck_assert_int_eq(records_add(r, offset, &one), 0);
	}
	ck_assert_int_eq(precise_add_latencies(r, p), 0);
	for (uint64_t i = 0; i < NR_OFFSETS; i++) {
		ck_assert_msg((double)profile_weight_at(p, i) == want[i],
			      "SEED=%" PRIu64, seed);
		got += want[i];
	}
	ck_assert(got < exact * 33 / 32 && got > exact * 31 / 32);
	ck_assert_uint_eq(profile_total(p), 0);
	records_free(r);
	profile_free(p);
}
END_TEST

START_TEST(latencies_beyond_all_numbers_are_refused)
{
	const struct records_cell cells[] = {
		{ RECORDS_KNOWN, RECORD_ANY, INT64_MAX },
		{ RECORDS_LATENCY + RECORD_TIME_RETIRE_TO_RETIRE, LOGLIN_BINS - 1,
		  INT64_MAX },
	};
	struct records *r = records_new();
	struct profile *p = profile_new();

	ck_assert_int_eq(records_add_row(r, &(struct records_row){ 1, cells, 2 }), 0);
	ck_assert_int_eq(precise_add_latencies(r, p), -EOVERFLOW);
	records_free(r);
	profile_free(p);
}
END_TEST

/* Some code, to lay runs over. */
uint64_t check_precise_code(uint64_t a, uint64_t b);

uint64_t check_precise_code(uint64_t a, uint64_t b)
{
	for (int i = 0; i < 100; i++) {
		a = a * 5 + (b ^ (a >> 3));
		b += a & 7 ? b / (a | 1) : a;
		a ^= b << 7;
	}
	return a + b;
}

struct own {
	struct image *im;
	struct isa *isa; /* NULL: none for this machine */
	uint64_t start[4096];
	size_t nr;
	uint64_t end;
};

static void open_own(struct own *o)
{
	struct image_desc desc = { .kind = IMAGE_FILE };
	const struct symbol *s;
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	uint8_t code[8192];
	struct insn insn;

	ck_assert_int_gt(n, 0);
	path[n] = '\0';
	desc.name = path;
	ck_assert_int_eq(image_open(&desc, NULL, &o->im), 0);
	ck_assert_int_eq(image_symbol_named(o->im, "check_precise_code", &s), 0);
	o->nr = 0;
	o->end = s->end;
	ck_assert_uint_le(s->end - s->start, sizeof(code));
	ck_assert_int_eq(image_read(o->im, s->start, code, s->end - s->start), 0);
	if (isa_open(image_machine(o->im), &o->isa)) {
		o->isa = NULL;
		return;
	}
	for (uint64_t at = s->start; at < s->end; at += insn.size) {
		ck_assert_int_eq(isa_decode(o->isa, code + (at - s->start), s->end - at,
					    image_address(o->im, at), &insn),
				 0);
		o->start[o->nr++] = at;
	}
}

static void close_own(struct own *o)
{
	isa_close(o->isa);
	image_close(o->im);
}

/* The oracle: cycles of a run from instruction i to k are spent at all of them. */
static void spread(const struct own *o, const uint64_t *cycles, uint64_t *want)
{
	for (size_t i = 0; i < o->nr; i++) {
		for (size_t k = i; k < o->nr; k++) {
			const uint64_t weight = cycles[i * o->nr + k] * WEIGHT_UNIT;

			for (size_t at = i; at <= k; at++)
				want[at] += weight / (k - i + 1) +
					    (at - i < weight % (k - i + 1));
		}
	}
}

static struct edge random_run(const struct own *o, uint64_t *state, size_t *from,
			      size_t *to)
{
	struct edge e = { .n = 1 + unit_random(state) % 3 };

	*from = unit_random(state) % o->nr;
	*to = *from + unit_random(state) % (o->nr - *from);
	e.from = o->start[*from];
	e.to = o->start[*to];
	if (unit_random(state) % 4) {
		e.nr_timed = 1;
		e.cycles = 1 + unit_random(state) % 500;
	}
	return e;
}

START_TEST(the_cycles_of_a_run_are_its_instructions)
{
	uint64_t seed = unit_seed(), state = seed | 1, sum = 0, *cycles, *want;
	struct profile *p = profile_new();
	struct edges *runs = edges_new();
	struct own o;

	open_own(&o);
	ck_assert(!o.isa || o.nr > 8);
	cycles = calloc(o.nr * o.nr + 1, sizeof(*cycles));
	want = calloc(o.nr + 1, sizeof(*want));
	for (int i = 0; i < 300 && o.isa; i++) {
		size_t from, to;
		struct edge e = random_run(&o, &state, &from, &to);

		cycles[from * o.nr + to] += e.cycles;
		sum += e.cycles;
		ck_assert_int_eq(edges_add(runs, &e), 0);
	}
	spread(&o, cycles, want);
	ck_assert_uint_eq(precise_run_cycles(runs), sum);
	ck_assert_int_eq(precise_add_runs(runs, o.im, o.isa, p), 0);
	for (size_t i = 0; i < o.nr; i++)
		ck_assert_msg(profile_weight_at(p, o.start[i]) == want[i],
			      "SEED=%" PRIu64 ": instruction %zu", seed, i);
	free(cycles);
	free(want);
	edges_free(runs);
	profile_free(p);
	close_own(&o);
}
END_TEST

START_TEST(without_the_code_the_branch_has_the_cycles)
{
	struct profile *p = profile_new();
	struct edges *runs = edges_new();
	struct own o;

	open_own(&o);
	ck_assert_int_eq(edges_add(runs, &(struct edge){ 0x1000, 0x1010, 2, 30, 2, 0 }),
			 0);
	/* Backwards, too long, and without cycles: no runs, or none with time. */
	ck_assert_int_eq(edges_add(runs, &(struct edge){ 0x1010, 0x1000, 1, 30, 1, 0 }),
			 0);
	ck_assert_int_eq(
		edges_add(runs, &(struct edge){ 0x1000, 0x20000, 1, 30, 1, 0 }), 0);
	ck_assert_int_eq(edges_add(runs, &(struct edge){ 0x1000, 0x1020, 1, 0, 0, 0 }),
			 0);
	ck_assert_uint_eq(precise_run_cycles(runs), 30);
	ck_assert_int_eq(precise_add_runs(runs, NULL, NULL, p), 0);
	ck_assert_uint_eq(profile_weight_at(p, 0x1010), 30 * WEIGHT_UNIT);
	ck_assert_uint_eq(profile_total(profile_weights(p, WEIGHT_EXECUTION)),
			  30 * WEIGHT_UNIT);
	edges_free(runs);
	profile_free(p);

	/* The same where a run ends inside an instruction, or behind the file. */
	p = profile_new();
	runs = edges_new();
	for (size_t i = 0; o.isa && i + 1 < o.nr; i++) {
		if (o.start[i + 1] < o.start[i] + 2)
			continue;
		ck_assert_int_eq(edges_add(runs,
					   &(struct edge){ o.start[0], o.start[i] + 1,
							   1, 5, 1, 0 }),
				 0);
		ck_assert_int_eq(precise_add_runs(runs, o.im, o.isa, p), 0);
		ck_assert_uint_eq(profile_weight_at(p, o.start[i] + 1),
				  5 * WEIGHT_UNIT);
		break;
	}
	ck_assert_int_eq(edges_add(runs, &(struct edge){ 1ULL << 62, (1ULL << 62) + 8,
							 1, 9, 1, 0 }),
			 0);
	ck_assert_int_eq(precise_add_runs(runs, o.im, o.isa, p), 0);
	ck_assert_uint_eq(profile_weight_at(p, (1ULL << 62) + 8), 9 * WEIGHT_UNIT);
	edges_free(runs);
	profile_free(p);
	close_own(&o);
}
END_TEST

START_TEST(cycles_beyond_all_numbers_are_refused)
{
	struct profile *p = profile_new();
	struct edges *runs = edges_new();

	ck_assert_int_eq(edges_add(runs, &(struct edge){ 1, 2, 1, INT64_MAX, 1, 0 }),
			 0);
	ck_assert_int_eq(precise_add_runs(runs, NULL, NULL, p), -EOVERFLOW);
	edges_free(runs);
	profile_free(p);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("precise");
	TCase *tc = tcase_create("precise");

	tcase_add_loop_test(tc, the_event_says_whether_instructions_are_sampled, 0,
			    NR(events));
	tcase_add_test(tc, latencies_add_up_by_instruction);
	tcase_add_test(tc, latencies_beyond_all_numbers_are_refused);
	tcase_add_test(tc, the_cycles_of_a_run_are_its_instructions);
	tcase_add_test(tc, without_the_code_the_branch_has_the_cycles);
	tcase_add_test(tc, cycles_beyond_all_numbers_are_refused);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
