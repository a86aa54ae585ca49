/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/explain/data_text.h"

#include <math.h>

#include "t/unit/unit.h"

/* Shares of misses in all levels, what is seen of addresses, and the texts. */
static const struct {
	double miss[DATA_NR_LEVELS];
	struct data_estimate lines, pages;
	int32_t stride;
	uint64_t splits, partial;
	double shared;
	bool tlb, chases;
	const char *text, *help;
} texts[] = {
	{ .miss = { 0.5, 0.4, 0.1 },
	  .lines = { 622592, 500000, 700000 },
	  .stride = 64,
	  .text = ", misses 25 to 100 %, beyond L2, stride 64 over 38 MB",
	  .help = "another order of loops or members" },
	{ .miss = { 0.25, 0.1, 0 },
	  .lines = { 2100000, 2000000, 2200000 },
	  .chases = true,
	  .text = ", misses 12 to 50 %, beyond L1, chases pointers over 2.1 million "
		  "lines",
	  .help = "a denser layout of nodes, or several chains at a time" },
	{ .miss = { 1, 0.6, 0.31 }, /* 0.31 is more than half of 0.6, not of 1 */
	  .lines = { 8, 8, 8 },
	  .text = ", misses 50 to 200 %, beyond L2, no stride, over 512 bytes",
	  .help = "smaller data, sorted accesses, or a prefetch" },
	{ .miss = { 1, 1, 1 },
	  .lines = { 100, 80, INFINITY },
	  .text = ", misses 50 to 200 %, beyond L3, no stride, over at least 5.0 KB",
	  .help = "smaller data, sorted accesses, or a prefetch" },
	{ .miss = { [DATA_TLB1] = 0.5, [DATA_TLB2] = 0.5 },
	  .pages = { 4096, 4000, 5000 },
	  .stride = -8,
	  .tlb = true,
	  .text = ", misses 25 to 100 %, beyond both TLBs, stride -8 over 16 MB",
	  .help = "huge pages, or fewer pages at a time" },
	{ .miss = { 0.5, 0.1, 0.1 },
	  .lines = { 8, 8, 8 },
	  .splits = 50,
	  .shared = 0.5,
	  .text = ", misses 25 to 100 %, beyond L1, no stride, over 512 bytes, shared "
		  "by "
		  "threads, across two lines",
	  .help = "lines of its own for each thread" },
	{ .miss = { 0.5, 0.1, 0.1 },
	  .lines = { 8, 8, 8 },
	  .partial = 40,
	  .text = ", misses 25 to 100 %, beyond L1, no stride, over 512 bytes, waits "
		  "in "
		  "40 % for a store of a part of its bytes",
	  .help = "store and load the same bytes" },
	{ .miss = { 0.06, 0.06, 0.06 },
	  .lines = { 622592, 500000, 700000 },
	  .stride = -8,
	  .text = ", misses 3 to 12 %, beyond L3, stride -8 over 38 MB",
	  .help = "work in blocks that fit into a cache" },
	{ .miss = { 0.04, 0.04, 0.04 }, /* too few */
	  .lines = { 622592, 500000, 700000 },
	  .stride = 4,
	  .text = ", misses 2 to 8 %, beyond L3, stride 4 over 38 MB" },
};

START_TEST(level_pattern_and_size_are_named)
{
	struct accesses_insn from = { .known = 100,
				      .pairs = 90,
				      .splits = texts[_i].splits,
				      .partial = texts[_i].partial };
	struct data_insn d = { .from = &from,
			       .distinct = { texts[_i].lines, texts[_i].pages },
			       .shared = texts[_i].shared };
	struct buf b = { 0 };

	if (texts[_i].stride)
		from.stride[0] = (struct accesses_stride){ texts[_i].stride, 80 };
	for (int l = 0; l < DATA_NR_LEVELS; l++)
		d.miss[l] = (struct data_estimate){ texts[_i].miss[l],
						    texts[_i].miss[l] / 2,
						    texts[_i].miss[l] * 2 };
	data_put_text(&d, texts[_i].tlb, texts[_i].chases, &b);
	ck_assert_str_eq(buf_str(&b), texts[_i].text);
	ck_assert_pstr_eq(data_usual_help(&d, texts[_i].tlb, texts[_i].chases),
			  texts[_i].help);
	buf_fini(&b);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("data_text");
	TCase *t = tcase_create("data_text");

	tcase_add_loop_test(t, level_pattern_and_size_are_named, 0, NR(texts));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
