/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a profile says of t/fixtures/feedback/rules.ll, which has one place for each
 * rule of analysis/feedback/feedback.h, with counts that are given to its blocks.
 */
#include "config.h"

#include "analysis/feedback/feedback.h"

#include <math.h>
#include <string.h>

#include "t/unit/elf_fixture.h"
#include "t/unit/unit.h"

#define SCALE 100

/* Executions of what is behind an offset, up to the next one. */
static const struct {
	uint64_t offset;
	double n;
} counts[] = {
	{ 0xb0, 100 },                               /* outer */
	{ 0xb8, 30 },  { 0xd2, 0 },   { 0xe0, 7 },   /* outer.cold */
	{ 0xf0, 60 },                                /* outer.constprop.0 */
	{ 0x100, 30 },                               /* direct.llvm.77 */
	{ 0x110, 30 },                               /* renamed */
	{ 0x120, 5 },  { 0x130, 8 },  { 0x140, 4 },  /* same1, same2, spaces */
	{ 0x150, 40 },                               /* again */
	{ 0x160, 10 }, { 0x170, 70 }, { 0x177, 10 }, /* turned */
	{ 0x17e, 6 },  { 0x185, 3 },  { 0x186, 10 },
};

/* Where the indirect call of outer was seen to go: thrice to renamed, once to same1. */
static const struct edge seen[] = {
	{ .from = 0xcd, .to = 0x110, .n = 3 * 1024 },
	{ .from = 0xcd, .to = 0x120, .n = 1024 },
};

struct fixture {
	struct image *im;
	struct isa *isa;
	struct edges *branches;
	struct traffic traffic;
	struct feedback *tree;
	struct feedback_function *const *function;
	size_t nr;
};

static double count_at(uint64_t offset)
{
	size_t i = NR(counts);

	while (counts[--i].offset > offset)
		;
	return counts[i].n;
}

static void add_procedure(struct fixture *f, const struct symbol *symbol)
{
	struct freq freq = { .block = NULL };
	struct traffic one = { 0 };
	struct arena arena;
	struct cfg *cfg;

	arena_init(&arena, 0);
	ck_assert_int_eq(cfg_build(f->im, f->isa, symbol, &arena, &cfg), 0);
	freq.block = arena_array(&arena, cfg->nr_blocks, sizeof(double));
	freq.edge = arena_array(&arena, cfg->nr_edges + 1, sizeof(double));
	for (int b = 0; b < cfg->exit; b++)
		freq.block[b] = count_at(cfg->block[b].start);
	for (int e = 0; e < cfg->nr_edges; e++)
		freq.edge[e] = freq.block[cfg->edge[e].from] / 2;
	ck_assert_int_eq(traffic_add(&one, f->im, cfg, &freq, f->branches), 0);
	ck_assert_int_eq(feedback_add(f->tree, f->im, cfg, &freq, &one), 0);
	ck_assert_int_eq(traffic_append(&f->traffic, &one), 0);
	traffic_fini(&one);
	arena_fini(&arena);
}

static void set_up(struct fixture *f, bool plain)
{
	const struct symbol *const *symbol;
	size_t nr;

	*f = (struct fixture){ .tree = feedback_new(plain), .branches = edges_new() };
	f->im = fixture_open("../feedback/rules");
	ck_assert_int_eq(isa_open(image_machine(f->im), &f->isa), 0);
	for (size_t i = 0; i < NR(seen); i++)
		ck_assert_int_eq(edges_add(f->branches, &seen[i]), 0);
	symbol = image_symbols(f->im, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (strcmp(symbol[i]->raw, "outer.cold"))
			add_procedure(f, symbol[i]);
	}
}

static void finish(struct fixture *f)
{
	ck_assert_int_eq(feedback_finish(f->tree, SCALE, &f->function, &f->nr), 0);
}

static void tear_down(struct fixture *f)
{
	feedback_free(f->tree);
	traffic_fini(&f->traffic);
	edges_free(f->branches);
	isa_close(f->isa);
	image_close(f->im);
}

static const struct feedback_function *find(const struct fixture *f, const char *name)
{
	const struct feedback_function *found = NULL;

	for (size_t i = 0; i < f->nr; i++) {
		if (strcmp(f->function[i]->name, name))
			continue;
		ck_assert_msg(!found, "%s is there twice", name);
		found = f->function[i];
	}
	return found;
}

static const struct feedback_line *line_at(const struct feedback_function *fn,
					   uint32_t line)
{
	for (size_t i = 0; fn && i < fn->nr_lines; i++) {
		if (fn->line[i]->at.line == line && !fn->line[i]->at.discriminator)
			return fn->line[i];
	}
	return NULL;
}

#define NONE -1

/* "line.discriminator", a call's ahead of each function that was inlined: "3.2:1.0". */
static int64_t count_of(const struct feedback_function *fn, const char *before,
			const char *path)
{
	char at[64];
	int64_t count = NONE;

	for (size_t i = 0; i < fn->nr_lines; i++) {
		const struct feedback_key *key = &fn->line[i]->at;

		snprintf(at, sizeof(at), "%s%u.%u", before, key->line,
			 key->discriminator);
		if (strcmp(at, path) == 0)
			count = (int64_t)fn->line[i]->count;
	}
	for (size_t i = 0; i < fn->nr_children && count == NONE; i++) {
		const struct feedback_key *key = &fn->child[i]->at;

		snprintf(at, sizeof(at), "%s%u.%u:", before, key->line,
			 key->discriminator);
		count = count_of(fn->child[i], at, path);
	}
	return count;
}

static const struct place {
	const char *rule, *path; /* in outer */
	int64_t lines, plain;    /* counts of lines, of lines for GCC */
} places[] = {
	{ "the most frequent instruction is the line's count", "1.0", 10000, 10000 },
	{ "what is on one line is told apart", "1.2", 10000, NONE },
	{ "copies that run as one are each counted", "4.0", 12000, 3000 },
	{ "what did not run has a 0", "7.0", 0, 0 },
	{ "so has a call of what was inlined and did not run", "8.0", 0, 0 },
	{ "an instruction of line 0 is of no line", "65526.0", NONE, NONE },
	{ "lines ahead of the function are modulo 2^16", "65531.0", 3000, 3000 },
	{ "a part that lies elsewhere is the function's", "20.0", 700, 700 },
	{ "so is a copy of another symbol", "9.0", 6000, 6000 },
	{ "what is inlined has lines of its own", "3.2:1.0", 3000, NONE },
	{ "at a call without discriminators", "3.0:1.0", NONE, 3000 },
	{ "and so has what is inlined there", "3.2:2.0:1.0", 3000, NONE },
	{ "a part that was inlined back is inlined", "0.0:23.0", 3000, NONE },
	{ "but not when GCC reads it", "23.0", NONE, 3000 },
	{ "which is not the caller's", "91.0", NONE, NONE },
	{ "what is inlined at line 0 is nobody's", "65526.0:3.0", NONE, NONE },
};

START_TEST(each_place_has_the_count_of_its_rule)
{
	const struct place *p = &places[_i / 2];
	const int64_t wanted = _i % 2 ? p->plain : p->lines;
	struct fixture f;
	int64_t count;

	set_up(&f, _i % 2);
	finish(&f);
	count = count_of(find(&f, "outer"), "", p->path);
	ck_assert_msg(count == wanted, "%s: %lld, not %lld", p->rule, (long long)count,
		      (long long)wanted);
	tear_down(&f);
}
END_TEST

START_TEST(conditions_count_wherever_a_loop_has_them)
{
	struct fixture f;

	set_up(&f, _i);
	finish(&f);
	ck_assert_int_eq(count_of(find(&f, "turned"), "", "1.0"), (10 + 70) * SCALE);
	ck_assert_int_eq(count_of(find(&f, "turned"), "", "2.0"), 70 * SCALE);
	/* Two tests of one condition that are behind each other count once. */
	ck_assert_int_eq(count_of(find(&f, "turned"), "", "4.0"), 10 * SCALE);
	tear_down(&f);
}
END_TEST

/* n 0: it is not there. */
static const struct {
	const char *rule, *function;
	uint32_t line;
	const char *name;
	uint64_t n;
} targets[] = {
	{ "a call has its target, as the source names it", "outer", 5, "of_source",
	  3000 },
	{ "without what compilers append, where only a symbol is", "outer", 5, "direct",
	  3000 },
	{ "not as the symbol does", "outer", 5, "renamed", 0 },
	{ "an indirect call goes where it was seen to go", "outer", 6, "of_source",
	  2250 },
	{ "in these shares", "outer", 6, "same", 750 },
	{ "a jump calls nothing, even the first instruction", "again", 1, "again", 0 },
};

START_TEST(calls_have_their_targets)
{
	const struct feedback_target *t;
	struct fixture f;

	set_up(&f, false);
	finish(&f);
	t = line_at(find(&f, targets[_i].function), targets[_i].line)->targets;
	while (t && strcmp(t->name, targets[_i].name))
		t = t->next;
	ck_assert_msg((t ? t->count : 0) == targets[_i].n, "%s", targets[_i].rule);
	tear_down(&f);
}
END_TEST

START_TEST(heads_are_entries_of_the_busiest_copy)
{
	struct fixture f;

	set_up(&f, false);
	finish(&f);
	ck_assert_uint_eq(find(&f, "outer")->head_count, 10000);
	ck_assert_uint_eq(find(&f, "of_source")->head_count, 3000);
	ck_assert_uint_eq(find(&f, "again")->head_count, 2000);
	tear_down(&f);
}
END_TEST

START_TEST(totals_are_of_lines_and_what_is_inlined)
{
	const struct feedback_function *outer;
	struct fixture f;

	set_up(&f, false);
	finish(&f);
	outer = find(&f, "outer");
	ck_assert_uint_eq(outer->nr_children, 2);
	ck_assert_uint_eq(outer->child[1]->total, 6000);
	ck_assert_str_eq(f.function[0]->name, "outer");
	tear_down(&f);
}
END_TEST

START_TEST(names_with_spaces_are_for_gcc_alone)
{
	struct fixture f;

	set_up(&f, _i);
	finish(&f);
	ck_assert_int_eq(find(&f, "of two words") != NULL, _i);
	tear_down(&f);
}
END_TEST

static void note_namesake(void *ctx, const struct feedback_function *dropped,
			  const struct feedback_function *kept)
{
	int *nr = ctx;

	++*nr;
	ck_assert_int_eq(dropped->start, 210);
	ck_assert_int_eq(kept->start, 220);
}

START_TEST(of_one_name_the_most_frequent_stays)
{
	struct fixture f;
	int nr = 0;

	set_up(&f, false);
	feedback_drop_namesakes(f.tree, note_namesake, &nr);
	finish(&f);
	ck_assert_int_eq(nr, 1);
	ck_assert_uint_eq(find(&f, "same")->total, 800);
	tear_down(&f);
}
END_TEST

START_TEST(builds_add_up)
{
	struct fixture f;
	struct feedback *sum = feedback_new(false);
	const struct feedback_function *outer;

	set_up(&f, false);
	feedback_drop_namesakes(f.tree, NULL, NULL);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(feedback_merge(sum, f.tree), 0);
	feedback_free(f.tree);
	f.tree = sum;
	finish(&f);
	outer = find(&f, "outer");
	ck_assert_uint_eq(outer->head_count, 30000);
	ck_assert_uint_eq(line_at(outer, 4)->count, 36000);
	ck_assert_uint_eq(line_at(outer, 6)->targets->count, 6750);
	tear_down(&f);
}
END_TEST

/* Instructions that have no line are at 0xc0 and 0xc1. */
START_TEST(runs_are_cut_where_no_line_is)
{
	const struct traffic_run *run;
	struct fixture f;
	size_t nr, nr_around = 0;

	set_up(&f, false);
	run = traffic_runs(&f.traffic, &nr);
	for (size_t i = 0; i < nr; i++) {
		ck_assert(run[i].last < 0xc0 || run[i].first > 0xc1);
		nr_around += run[i].last == 0xbf || run[i].first == 0xc2;
	}
	ck_assert_uint_eq(nr_around, 2);
	tear_down(&f);
}
END_TEST

static const struct {
	double max, scale;
} scales[] = {
	{ 1, 1e9 }, { 3, 1e8 }, { 1e9, 1 }, { 2e9, 0.1 }, { 0, 1 }, { INFINITY, 1 },
};

START_TEST(the_most_frequent_count_has_nine_digits)
{
	ck_assert_double_eq_tol(feedback_scale(scales[_i].max) / scales[_i].scale, 1,
				1e-12);
}
END_TEST

START_TEST(counts_are_rounded_and_never_negative)
{
	ck_assert_uint_eq(feedback_count(2.46, 10), 25);
	ck_assert_uint_eq(feedback_count(-3, 1), 0);
	ck_assert_uint_eq(feedback_count(NAN, 1), 0);
	ck_assert_uint_eq(feedback_count(1e300, 1), 0);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("feedback");
	TCase *t = tcase_create("feedback");

	tcase_add_loop_test(t, each_place_has_the_count_of_its_rule, 0, 2 * NR(places));
	tcase_add_loop_test(t, conditions_count_wherever_a_loop_has_them, 0, 2);
	tcase_add_loop_test(t, calls_have_their_targets, 0, NR(targets));
	tcase_add_test(t, heads_are_entries_of_the_busiest_copy);
	tcase_add_test(t, totals_are_of_lines_and_what_is_inlined);
	tcase_add_loop_test(t, names_with_spaces_are_for_gcc_alone, 0, 2);
	tcase_add_test(t, of_one_name_the_most_frequent_stays);
	tcase_add_test(t, builds_add_up);
	tcase_add_test(t, runs_are_cut_where_no_line_is);
	tcase_add_loop_test(t, the_most_frequent_count_has_nine_digits, 0, NR(scales));
	tcase_add_test(t, counts_are_rounded_and_never_negative);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
