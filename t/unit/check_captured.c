/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "analysis/image/captured.h"

#include <string.h>

#include "t/unit/unit.h"

#define PUT(array, ...) buf_put(&c->array, &(__VA_ARGS__), sizeof(__VA_ARGS__))

static const struct inlined chain[] = { { "inner(int)", { "a.h", 7 }, 3 },
					{ "outer", { NULL, 0 }, 0 } };

/* One of everything, twice where order matters. */
static void fill(struct captured *c)
{
	static const uint8_t code[] = { 0x55, 0x90, 0xc3, 0xcc };

	captured_init(c);
	c->machine = MACHINE_X86_64;
	PUT(segments, (struct elfrange){ 0x401000, 0x1000, 0x2000, true });
	PUT(names, (struct captured_name){ 0x1000, 0x1003, "_Z3runv" });
	PUT(names, (struct captured_name){ 0x1000, 0x1003, "alias" });
	PUT(lines, (struct captured_line){ 0x1000, 0x1001, { "a.c", 1 } });
	PUT(lines, (struct captured_line){ 0x1001, 0x1003, { "a.h", 70000 } });
	PUT(inlined, (struct captured_inlined){ 0x1001, 0x1002, chain, 2 });
	PUT(pads, (uint64_t){ 0x1002 });
	PUT(pieces, (struct captured_piece){ 0x1000, 0x1003, code });
	PUT(pieces, (struct captured_piece){ 0x1003, 0x1004, code + 3 });
}

static void encode(struct buf *body)
{
	struct captured c;

	fill(&c);
	ck_assert_int_eq(captured_encode(&c, body), 0);
	captured_fini(&c);
}

START_TEST(what_is_encoded_answers_when_it_is_decoded)
{
	struct buf body = { 0 };
	const struct inlined *in;
	struct captured c;
	uint64_t offset = 0, address = 0;
	uint8_t bytes[4];
	struct line line;

	encode(&body);
	captured_init(&c);
	/* Two parts of one image that hold the same. */
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(captured_decode(&c, (uint8_t *)body.data, body.len),
				 0);
	ck_assert_int_eq(captured_index(&c), 0);
	line = captured_line_at(&c, 0x1002);
	ck_assert_str_eq(line.file, "a.h");
	ck_assert_int_eq(line.line, 70000);
	ck_assert_ptr_null(captured_line_at(&c, 0x1003).file);
	ck_assert_uint_eq(captured_inlined_at(&c, 0x1001, &in), 2);
	ck_assert_str_eq(in[0].name, "inner(int)");
	ck_assert_str_eq(in[0].call.file, "a.h");
	ck_assert_int_eq(in[0].column, 3);
	ck_assert_ptr_null(in[1].call.file);
	ck_assert_uint_eq(captured_inlined_at(&c, 0x1002, &in), 0);
	ck_assert_int_eq(captured_read(&c, 0x1000, bytes, 4), 0);
	ck_assert_int_eq(memcmp(bytes, "\x55\x90\xc3\xcc", 4), 0);
	ck_assert_int_lt(captured_read(&c, 0x1001, bytes, 4), 0);
	ck_assert(captured_offset(&c, 0x401004, &offset));
	ck_assert_uint_eq(offset, 0x1004);
	ck_assert(captured_address(&c, 0x1004, &address));
	ck_assert_uint_eq(address, 0x401004);
	ck_assert(!captured_offset(&c, 0x403000, &offset));
	captured_fini(&c);
	buf_fini(&body);
}
END_TEST

/* Whether a body decodes; what it then holds is asked everywhere. */
static bool decodes(const uint8_t *body, size_t size)
{
	const struct inlined *in;
	struct captured c;
	bool good;

	captured_init(&c);
	good = captured_decode(&c, body, size) == 0 && captured_index(&c) == 0;
	for (uint64_t at = 0xff0; good && at < 0x1010; at++) {
		uint8_t byte;

		captured_line_at(&c, at);
		captured_inlined_at(&c, at, &in);
		captured_read(&c, at, &byte, 1);
	}
	captured_fini(&c);
	return good;
}

START_TEST(a_body_that_is_cut_does_not_decode)
{
	struct buf body = { 0 };

	encode(&body);
	for (size_t size = 0; size < body.len; size++)
		ck_assert(!decodes((uint8_t *)body.data, size));
	buf_putc(&body, 0);
	ck_assert(!decodes((uint8_t *)body.data, body.len));
	buf_fini(&body);
}
END_TEST

START_TEST(a_damaged_body_is_refused_or_decodes)
{
	uint64_t seed = unit_seed(), state = seed | 1;
	struct buf body = { 0 };
	size_t nr_good = 0;

	encode(&body);
	for (int i = 0; i < 20000; i++) {
		uint8_t *bytes = malloc(body.len); /* its bounds are watched */

		ck_assert_ptr_nonnull(bytes);
		memcpy(bytes, body.data, body.len);
		for (int k = 0; k < 3; k++)
			bytes[unit_random(&state) % body.len] =
				(uint8_t)unit_random(&state);
		nr_good += decodes(bytes, body.len);
		free(bytes);
	}
	if (nr_good == 20000)
		ck_abort_msg("SEED=%llu: nothing was refused",
			     (unsigned long long)seed);
	buf_fini(&body);
}
END_TEST

static Suite *captured_suite(void)
{
	Suite *s = suite_create("captured");
	TCase *tc = tcase_create("captured");

	tcase_add_test(tc, what_is_encoded_answers_when_it_is_decoded);
	tcase_add_test(tc, a_body_that_is_cut_does_not_decode);
	tcase_add_test(tc, a_damaged_body_is_refused_or_decodes);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(captured_suite)
