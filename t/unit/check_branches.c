/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of branches, from the kernel's samples to edges. */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "daemon/collect/sample.h"
#include "daemon/os/arch.h"
#include "t/bench/crowd.h"
#include "t/unit/unit.h"

#define PID     1
#define NOWHERE 0x1000

/* ---- samples ---- */

#define MAX_WORDS 128

struct made {
	struct perf_event_header header;
	uint64_t word[MAX_WORDS];
};

static void add(struct made *m, uint64_t word)
{
	m->word[(m->header.size - sizeof(m->header)) / 8] = word;
	m->header.size += 8;
}

static const struct event events[] = {
	{ .name = "cycles", .branches = true },
	{ .name = "cycles:pp",
	  .branches = true,
	  .record = EVENT_RECORDS_PEBS,
	  .weight_type = PERF_SAMPLE_WEIGHT_STRUCT },
};

/* As the kernel orders its fields. */
static struct made make_sample(const struct event *e, uint64_t nr)
{
	struct made m = { .header = { PERF_RECORD_SAMPLE, PERF_RECORD_MISC_EXACT_IP,
				      sizeof(m.header) } };

	add(&m, 0x401000);
	add(&m, PID);
	add(&m, 77);
	if (e->record)
		add(&m, 0x7000);
	add(&m, nr);
	for (uint64_t i = 0; i < nr; i++) {
		const struct perf_branch_entry b = { .from = 100 + i,
						     .to = 200 + i,
						     .mispred = i % 2,
						     .predicted = !(i % 2),
						     .cycles = 1000 + i };
		uint64_t words[3];

		memcpy(words, &b, sizeof(b));
		for (int w = 0; w < 3; w++)
			add(&m, words[w]);
	}
	if (e->record) {
		add(&m, 225 | 30ULL << 32 | 7ULL << 48);
		add(&m, 0x10268100142);
	}
	if (sample_regs(e)) {
		add(&m, PERF_SAMPLE_REGS_ABI_64);
		for (int i = __builtin_popcountll(sample_regs(e)); i > 0; i--)
			add(&m, 100 + i);
	}
	return m;
}

START_TEST(a_sample_has_its_branches_and_what_comes_behind_them)
{
	const struct event *e = &events[_i];
	const struct made m = make_sample(e, 16);
	struct sample s;

	ck_assert_int_eq(sample_read(e, false, &m.header, &s), 0);
	ck_assert_uint_eq(s.nr_branches, 16);
	for (size_t i = 0; i < s.nr_branches; i++) {
		ck_assert_uint_eq(s.branches[i].from, 100 + i);
		ck_assert_uint_eq(s.branches[i].to, 200 + i);
		ck_assert_uint_eq(s.branches[i].cycles, 1000 + i);
		ck_assert_uint_eq(s.branches[i].mispred, i % 2);
	}
	if (e->record)
		ck_assert_uint_eq(s.hw.value[HW_RETIRE_TO_RETIRE], 7);
	if (arch_native.regs_mask)
		ck_assert_ptr_nonnull(s.regs);
}
END_TEST

START_TEST(more_branches_than_the_record_has_are_refused)
{
	static const uint64_t said[] = { 17, UINT64_MAX, UINT64_MAX / 3 + 1 };
	struct made m = make_sample(&events[0], 4);
	struct sample s;

	m.word[3] = said[_i];
	ck_assert_int_eq(sample_read(&events[0], false, &m.header, &s), -EBADMSG);
}
END_TEST

/* ---- edges ---- */

static uint64_t random_place(uint64_t *state)
{
	switch (unit_random(state) % 8) {
	case 0:
		return NOWHERE;
	case 1:
		return CROWD_KERNEL + unit_random(state) % 64;
	default:
		return CROWD_BASE + unit_random(state) % 2 * CROWD_STRIDE +
		       unit_random(state) % 32;
	}
}

struct oracle {
	uint64_t from, to, n, cycles, timed, missed;
	enum edges_kind kind;
};

struct oracles {
	struct oracle o[65536];
	size_t nr;
};

static void expect(struct oracles *all, enum edges_kind kind, uint64_t from,
		   uint64_t to, const struct branch *b, bool missed)
{
	struct oracle *o = all->o;

	while (o < all->o + all->nr &&
	       (o->kind != kind || o->from != from || o->to != to))
		o++;
	if (o == all->o + all->nr)
		all->o[all->nr++] = (struct oracle){ from, to, 0, 0, 0, 0, kind };
	o->n++;
	o->cycles += b->cycles;
	o->timed += b->cycles != 0;
	o->missed += missed;
}

/* In one mapping of the process, or of the kernel. */
static bool together(uint64_t a, uint64_t b)
{
	return a != NOWHERE && b != NOWHERE && a >> 20 == b >> 20;
}

static void expect_stack(struct oracles *all, const struct branch_stack *s)
{
	for (size_t i = s->nr; i-- > 0;) {
		const struct branch *b = &s->branch[i];

		expect(all, EDGES_BRANCH, b->from, b->to, b, b->mispredicted);
		if (i + 1 < s->nr && together(b[1].to, b->from) && b[1].to <= b->from)
			expect(all, EDGES_RUN, b[1].to, b->from, b, false);
	}
}

/* The address that an offset of an image is; several are not told apart. */
static uint64_t address_of(struct crowd *c, const struct known_image *image,
			   uint64_t offset)
{
	uint64_t at;

	if (!image)
		return NOWHERE;
	for (int i = 0; i < 2; i++) {
		at = CROWD_BASE + (uint64_t)i * CROWD_STRIDE;
		if (attribute_address(&c->a, PID, at, CROWD_NOW, &(uint64_t){ 0 }) ==
		    image)
			return at + offset;
	}
	return CROWD_KERNEL + offset;
}

static void compare(struct crowd *c, const struct oracles *all, uint64_t seed)
{
	struct hnode *n, *next;
	size_t found = 0;

	hmap_for_each (&c->a.tally->edges, n, next) {
		struct tally_edges *te = container_of(n, struct tally_edges, node);
		size_t nr;
		const struct edge *e = edges_sorted(te->edges, &nr);

		for (size_t i = 0; i < nr; i++, found++) {
			const uint64_t from = address_of(c, te->image, e[i].from);
			const uint64_t to = address_of(c, te->target, e[i].to);
			const struct oracle *o = all->o;

			while (o < all->o + all->nr &&
			       (o->kind != te->kind || o->from != from || o->to != to))
				o++;
			ck_assert_msg(o < all->o + all->nr, "seed %#" PRIx64, seed);
			ck_assert_msg(o->n == e[i].n && o->cycles == e[i].cycles &&
					      o->timed == e[i].nr_timed &&
					      o->missed == e[i].mispredicted,
				      "seed %#" PRIx64, seed);
		}
	}
	ck_assert_msg(found == all->nr, "seed %#" PRIx64 ": %zu of %zu", seed, found,
		      all->nr);
}

START_TEST(a_batchs_stacks_are_edges_and_the_runs_between_them)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct oracles *all = calloc(1, sizeof(*all));
	struct crowd c;

	crowd_open(&c, 3, 30, 1);
	for (int round = 0; round < 100; round++) {
		struct branch branch[8];
		struct branch_stack stack = { .time_ns = CROWD_NOW,
					      .tgid = PID,
					      .branch = branch,
					      .nr = unit_random(&state) % 9 };
		const struct batch batch = { .from_ns = CROWD_NOW,
					     .to_ns = CROWD_NOW,
					     .stacks = &stack,
					     .nr_stacks = 1 };

		for (size_t i = 0; i < stack.nr; i++)
			branch[i] = (struct branch){ random_place(&state),
						     random_place(&state),
						     unit_random(&state) % 3,
						     unit_random(&state) % 2 };
		expect_stack(all, &stack);
		attribute_batch(&c.a, &batch);
	}
	ck_assert_uint_gt(all->nr, 50);
	ck_assert_uint_eq(c.a.tally->cut_stacks, 0);
	compare(&c, all, seed);
	crowd_close(&c);
	free(all);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("branches");
	TCase *tc = tcase_create("stacks");

	tcase_add_loop_test(tc, a_sample_has_its_branches_and_what_comes_behind_them, 0,
			    NR(events));
	tcase_add_loop_test(tc, more_branches_than_the_record_has_are_refused, 0, 3);
	tcase_add_test(tc, a_batchs_stacks_are_edges_and_the_runs_between_them);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
