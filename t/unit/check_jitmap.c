/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_jitmap.c - code that was made at run time: formats, and what lay where
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/err.h"
#include "daemon/jit/jitdump.h"
#include "daemon/jit/jitmap.h"
#include "daemon/jit/jitread.h"
#include "t/unit/unit.h"

static const struct {
	const char *line, *name; /* name NULL: refused */
	uint64_t start, end;
} lines[] = {
	{ "7f00 20 f", "f", 0x7f00, 0x7f20 },
	{ "7f00 20 JS:*a b /x.js:1:2", "JS:*a b /x.js:1:2", 0x7f00, 0x7f20 },
	{ "0x00007F00 0x0020 int a.b(int)", "int a.b(int)", 0x7f00, 0x7f20 },
	{ "7f00  20 \tf ", "f ", 0x7f00, 0x7f20 },
	{ "0 1 0", "0", 0, 1 },
	{ "ffffffffffffffff 0 f", NULL, 0, 0 },
	{ "ffffffffffffffff 1 f", NULL, 0, 0 },
	{ "fffffffffffffffff 1 f", NULL, 0, 0 },
	{ "7f00 20", NULL, 0, 0 },
	{ "7f00 20 ", NULL, 0, 0 },
	{ "7f00 f", NULL, 0, 0 },
	{ "7f00 0 f", NULL, 0, 0 },
	{ "-7f00 20 f", NULL, 0, 0 },
	{ "0x 20 f", NULL, 0, 0 },
	{ " 7f00 20 f", NULL, 0, 0 },
	{ "f", NULL, 0, 0 },
	{ "", NULL, 0, 0 },
};

START_TEST(lines_of_a_map_are_read)
{
	const char *line = lines[_i].line, *name;
	struct jit_code c = { 0 };
	size_t len;
	int err = jitmap_parse(line, strlen(line), &c, &name, &len);

	if (!lines[_i].name) {
		/* Two make a line, and only the map knows that it has no room there. */
		ck_assert(err == -EINVAL || c.end >> 63);
		return;
	}
	ck_assert_int_eq(err, 0);
	ck_assert_uint_eq(c.start, lines[_i].start);
	ck_assert_uint_eq(c.end, lines[_i].end);
	ck_assert_uint_eq(len, strlen(lines[_i].name));
	ck_assert_int_eq(strncmp(name, lines[_i].name, len), 0);
}
END_TEST

static void add(struct jitmap *m, uint64_t start, uint64_t end, const char *name,
		uint64_t since_ns, uint64_t known_ns)
{
	const struct jit_code c = {
		.start = start, .end = end, .since_ns = since_ns, .known_ns = known_ns
	};

	ck_assert_int_eq(jitmap_add(m, &c, name, strlen(name)), 0);
}

/* The name of what held pc, "" for nothing, "?" for more than one. */
static const char *find(struct jitmap *m, uint64_t pc, uint64_t t0, uint64_t t1)
{
	struct jit_code *c;
	int err = jitmap_find(m, pc, t0, t1, &c);

	return err == -ENOENT ? "" : err ? "?" : jitmap_name(m, c);
}

START_TEST(an_address_that_is_used_again_has_what_was_there_then)
{
	struct jitmap m = { 0 };

	add(&m, 0x1000, 0x1100, "a", 0, 10);
	add(&m, 0x1000, 0x1080, "b", 20, 30);
	add(&m, 0x2000, 0x2010, "late", 40, 50);
	ck_assert_int_eq(jitmap_build(&m, 0), 0);
	ck_assert_str_eq(find(&m, 0x1000, 11, 19), "a");
	ck_assert_str_eq(find(&m, 0x1000, 30, 40), "b");
	ck_assert_str_eq(find(&m, 0x1000, 25, 40), "?");
	ck_assert_str_eq(find(&m, 0x1080, 25, 40), "a"); /* b does not reach it */
	ck_assert_str_eq(find(&m, 0x1100, 25, 40), "");
	ck_assert_str_eq(find(&m, 0x2008, 1, 2), "late");
	ck_assert_str_eq(find(&m, 0xfff, 1, 2), "");
	jitmap_fini(&m);
}
END_TEST

START_TEST(what_was_replaced_is_forgotten_behind_the_horizon)
{
	struct jitmap m = { 0 };

	for (uint64_t t = 0; t < 1000; t++) {
		add(&m, 0x1000, 0x1100, t % 2 ? "odd" : "even", t, t + 1);
		ck_assert_int_eq(jitmap_build(&m, t), 0);
		ck_assert_uint_le(m.nr, 3);
	}
	add(&m, 0x1000, 0x1100, "odd", 1001, 1002); /* told again: nothing new */
	ck_assert_int_eq(jitmap_build(&m, 0), 0);
	ck_assert_uint_le(m.nr, 3);
	ck_assert_str_eq(find(&m, 0x1000, 1000, 1002), "odd");
	jitmap_fini(&m);
}
END_TEST

START_TEST(a_map_has_its_limits)
{
	const struct jit_code kernel = { .start = 1ULL << 63,
					 .end = (1ULL << 63) + 16 };
	const struct jit_code empty = { .start = 16, .end = 16 };
	struct jit_code c = { .start = 0, .end = 16 };
	struct jitmap m = { 0 };
	char name[1000];
	int err;

	ck_assert_int_eq(jitmap_add(&m, &kernel, "k", 1), -EINVAL);
	ck_assert_int_eq(jitmap_add(&m, &empty, "e", 1), -EINVAL);
	memset(name, 'x', sizeof(name));
	while (!(err = jitmap_add(&m, &c, name, sizeof(name)))) {
		c.start += 8; /* each overlaps the next */
		c.end = c.start + (1 << 20);
	}
	ck_assert_int_eq(err, -CPI_ELIMIT);
	ck_assert_uint_le(m.nr, JITMAP_MAX_CODES);
	ck_assert_uint_le(jitmap_memory(&m), 96 << 20);
	ck_assert_int_eq(jitmap_build(&m, 0), 0);
	ck_assert_uint_eq(strlen(find(&m, c.start - 8, 0, 0)), JITMAP_MAX_NAME);
	jitmap_fini(&m);
}
END_TEST

#define ORACLE_CODES 24

/* Look-ups by their definition, of pieces that came one after the other. */
static const char *oracle(const struct jit_code *code, int nr, uint64_t pc, uint64_t t0,
			  uint64_t t1, const char (*name)[4])
{
	const struct jit_code *best = NULL;
	int at = nr;

	for (int i = 0; i < nr; i++) {
		if (code[i].start <= pc && pc < code[i].end && code[i].since_ns <= t1) {
			best = &code[i];
			at = i;
		}
	}
	for (int i = 0; i < nr && !best; i++) {
		if (code[i].start <= pc && pc < code[i].end)
			return name[i];
	}
	if (!best)
		return "";
	for (int i = at, newer = at; i-- > 0 && code[newer].known_ns > t0;) {
		if (code[i].start > pc || pc >= code[i].end || code[i].since_ns > t1)
			continue;
		if (code[i].start != best->start || strcmp(name[i], name[at]))
			return "?";
		newer = i;
	}
	return name[at];
}

START_TEST(look_ups_agree_with_their_definition)
{
	uint64_t seed = unit_seed(), state = seed;

	for (int round = 0; round < 2000; round++) {
		struct jit_code code[ORACLE_CODES];
		char name[ORACLE_CODES][4];
		struct jitmap m = { 0 };
		uint64_t now = 1;

		for (int i = 0; i < ORACLE_CODES; i++) {
			code[i].start = unit_random(&state) % 60;
			code[i].end = code[i].start + 1 + unit_random(&state) % 20;
			code[i].since_ns = now;
			now += unit_random(&state) % 3;
			code[i].known_ns = now;
			/* The same twice is one, which only this table would not know.
			 */
			snprintf(name[i], sizeof(name[i]), "%d", i);
			add(&m, code[i].start, code[i].end, name[i], code[i].since_ns,
			    code[i].known_ns);
			if (unit_random(&state) % 4 == 0)
				ck_assert_int_eq(jitmap_build(&m, 0), 0);
		}
		ck_assert_int_eq(jitmap_build(&m, 0), 0);
		for (int i = 0; i < 50; i++) {
			uint64_t pc = unit_random(&state) % 85;
			uint64_t t0 = unit_random(&state) % (now + 2);
			uint64_t t1 = t0 + unit_random(&state) % 5;
			const char *want = oracle(code, ORACLE_CODES, pc, t0, t1, name);

			ck_assert_msg(!strcmp(find(&m, pc, t0, t1), want),
				      "pc %u at %u..%u: %s, wanted %s (SEED=%lu)",
				      (unsigned int)pc, (unsigned int)t0,
				      (unsigned int)t1, find(&m, pc, t0, t1), want,
				      (unsigned long)seed);
		}
		jitmap_fini(&m);
	}
}
END_TEST

START_TEST(all_that_overlap_are_there_in_their_order)
{
	const uint64_t seed = unit_seed();
	uint64_t state = seed;

	for (int round = 0; round < 500; round++) {
		uint64_t start[ORACLE_CODES], end[ORACLE_CODES];
		const uint64_t from = unit_random(&state) % 85,
			       to = from + 1 + unit_random(&state) % 20;
		const struct jit_code *found[ORACLE_CODES];
		struct jitmap m = { 0 };
		char name[8];
		size_t nr, at = 0;

		for (int i = 0; i < ORACLE_CODES; i++) {
			start[i] = unit_random(&state) % 60;
			end[i] = start[i] + 1 + unit_random(&state) % 20;
			snprintf(name, sizeof(name), "%d", i);
			add(&m, start[i], end[i], name, 1, 1);
		}
		ck_assert_int_eq(jitmap_build(&m, 0), 0);
		nr = jitmap_overlapping(&m, from, to, found, ORACLE_CODES);
		for (int i = 0; i < ORACLE_CODES; i++) {
			if (start[i] >= to || end[i] <= from)
				continue;
			ck_assert_msg(at < nr, "SEED=%lu", (unsigned long)seed);
			ck_assert_int_eq(atoi(jitmap_name(&m, found[at++])), i);
		}
		ck_assert_msg(at == nr, "SEED=%lu", (unsigned long)seed);
		if (nr > 1)
			ck_assert_uint_eq(
				jitmap_overlapping(&m, from, to, found, nr - 1), 0);
		jitmap_fini(&m);
	}
}
END_TEST

/* A dump's pieces, as the specification has them. */
struct dump_load {
	uint32_t id, total_size;
	uint64_t timestamp;
	uint32_t pid, tid;
	uint64_t vma, code_addr, code_size, code_index;
	char name[8];
	uint8_t code[16];
};

START_TEST(a_dumps_records_are_read_or_refused)
{
	struct dump_load l = { .total_size = sizeof(l),
			       .timestamp = 5,
			       .code_addr = 0x1000,
			       .code_size = 8,
			       .name = "sevenby" };
	struct jitdump_record r;

	ck_assert_int_eq(jitdump_record(&l, sizeof(l), &r), 0);
	ck_assert_int_eq(r.kind, JITDUMP_LOAD);
	ck_assert_uint_eq(r.size, sizeof(l));
	ck_assert_uint_eq(r.time_ns, 5);
	ck_assert_uint_eq(r.address, 0x1000);
	ck_assert_uint_eq(r.code_size, 8);
	ck_assert_str_eq(r.name, "sevenby");
	ck_assert_uint_eq(r.code_at, offsetof(struct dump_load, code));
	for (size_t size = 0; size < offsetof(struct dump_load, code); size++)
		ck_assert_int_eq(jitdump_record(&l, size, &r), -EAGAIN);
	l.code_size = sizeof(l.code) + 1;
	ck_assert_int_eq(jitdump_record(&l, sizeof(l), &r), -CPI_ECORRUPT);
	l.code_size = UINT64_MAX;
	ck_assert_int_eq(jitdump_record(&l, sizeof(l), &r), -CPI_ECORRUPT);
	memset(l.name, 'x', sizeof(l.name));
	memset(l.code, 'x', sizeof(l.code));
	ck_assert_int_eq(jitdump_record(&l, sizeof(l), &r), 0); /* no name ends */
	ck_assert_int_eq(r.kind, JITDUMP_OTHER);
	l.total_size = 15;
	ck_assert_int_eq(jitdump_record(&l, sizeof(l), &r), -CPI_ECORRUPT);
	l.id = 1000;
	l.total_size = UINT32_MAX;
	ck_assert_int_eq(jitdump_record(&l, sizeof(l), &r), 0);
	ck_assert_int_eq(r.kind, JITDUMP_OTHER);
	ck_assert_uint_eq(r.size, UINT32_MAX);
}
END_TEST

static const struct {
	uint32_t magic, version, total_size;
	int err;
} headers[] = {
	{ 0x4a695444, 1, 40, 0 },
	{ 0x4a695444, 1, 64, 0 },
	{ 0x4a695444, 1, 39, -CPI_EFORMAT },
	{ 0x4a695444, 2, 40, -CPI_EFORMAT },
	{ 0x4454694a, 1, 40, -CPI_EFORMAT }, /* of the other byte order */
};

START_TEST(a_dumps_header_is_checked)
{
	uint32_t h[10] = { headers[_i].magic, headers[_i].version,
			   headers[_i].total_size, 62 };
	struct jitdump_header out;

	ck_assert_int_eq(jitdump_header(h, sizeof(h), &out), headers[_i].err);
	ck_assert_int_eq(jitdump_header(h, sizeof(h) - 1, &out), -CPI_EFORMAT);
	if (headers[_i].err)
		return;
	ck_assert_uint_eq(out.size, headers[_i].total_size);
	ck_assert_uint_eq(out.machine, 62);
}
END_TEST

static const struct {
	const char *path;
	bool is_dump;
} dumps[] = {
	{ "/tmp/jit-1234.dump", true },     { "/home/x/.debug/jit/a/jit-1.dump", true },
	{ "/tmp/jit-.dump", false },        { "/tmp/jit-12.dump.x", false },
	{ "/tmp/jit-12x.dump", false },     { "/tmp/xjit-12.dump", false },
	{ "/tmp/jit-12.dump/y", false },    { "[vdso]", false },
	{ "/tmp/jit-1.dump (deleted)", 0 },
};

START_TEST(a_dump_is_known_by_its_name)
{
	ck_assert_int_eq(jitread_is_dump(dumps[_i].path), dumps[_i].is_dump);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("jitmap");
	TCase *tc = tcase_create("jitmap");

	tcase_add_loop_test(tc, lines_of_a_map_are_read, 0, NR(lines));
	tcase_add_test(tc, an_address_that_is_used_again_has_what_was_there_then);
	tcase_add_test(tc, what_was_replaced_is_forgotten_behind_the_horizon);
	tcase_add_test(tc, a_map_has_its_limits);
	tcase_add_test(tc, look_ups_agree_with_their_definition);
	tcase_add_test(tc, all_that_overlap_are_there_in_their_order);
	tcase_add_test(tc, a_dumps_records_are_read_or_refused);
	tcase_add_loop_test(tc, a_dumps_header_is_checked, 0, NR(headers));
	tcase_add_loop_test(tc, a_dump_is_known_by_its_name, 0, NR(dumps));
	tcase_set_timeout(tc, 600);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
