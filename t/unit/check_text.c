/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <string.h>

#include "base/did_you_mean.h"
#include "base/text.h"
#include "t/unit/unit.h"

static const struct {
	const char *in, *clean;
	size_t width;
} names[] = {
	{ "", "", 0 },
	{ "plain", "plain", 5 },
	{ "\033[31mred\n", "?[31mred?", 9 },
	{ "tab\there\x7f", "tab?here?", 9 },
	{ "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", 4 }, /* two-byte letters */
	{ "\xe2\x82\xac\xf0\x9f\x98\x80", "\xe2\x82\xac\xf0\x9f\x98\x80", 2 },
	{ "\xff\xfe", "??", 2 },           /* no UTF-8 at all */
	{ "\xc3", "?", 1 },                /* cut off */
	{ "\xe2\x82", "??", 2 },           /* cut off later */
	{ "\xc0\xaf", "??", 2 },           /* '/' written too long */
	{ "\xed\xa0\x80", "???", 3 },      /* half of a surrogate */
	{ "\xf4\x90\x80\x80", "????", 4 }, /* above U+10FFFF */
	{ "\xc2\x9b"
	  "31m",
	  "?31m", 4 }, /* CSI as one C1 code */
	{ "a\xe2\x80\xae"
	  "b",
	  "a?b", 3 }, /* right-to-left override */
	{ "\x9b"
	  "31m",
	  "?31m", 4 },                           /* CSI as a byte */
	{ "\xd8\x9c", "?", 1 },                  /* Arabic letter mark */
	{ "\xe2\x81\xa6\xe2\x81\xa9", "??", 2 }, /* isolates */
	{ "\xe2\x80\xa8\xe2\x80\xa9", "??", 2 }, /* line and paragraph */
	{ "\xe2\x80\x8b\xef\xbb\xbf", "??", 2 }, /* zero width */
	{ "\xc2\xad\xcd\x8f", "??", 2 },         /* soft hyphen, grapheme joiner */
	{ "\xf3\xa0\x81\x81", "?", 1 },          /* a letter that only tags show */
	{ "\xef\xb8\x80\xef\xb8\x8f", "??", 2 }, /* variation selectors */
	{ "\xef\xb7\xbf\xef\xb8\x90", "\xef\xb7\xbf\xef\xb8\x90", 2 },
	{ "\xf0\x9b\xb2\xa0\xf0\x9b\xb2\xa3", "??", 2 }, /* shorthand controls */
	{ "\xf0\x9d\x85\xb3\xf0\x9d\x85\xba", "??", 2 }, /* beams and phrases */
};

START_TEST(a_name_is_shown_as_one_harmless_line)
{
	struct buf b = { 0 };

	text_put_clean(&b, names[_i].in);
	ck_assert_str_eq(buf_str(&b), names[_i].clean);
	ck_assert_uint_eq(text_width(buf_str(&b)), names[_i].width);
	buf_fini(&b);
}
END_TEST

START_TEST(a_name_is_cleaned_in_place)
{
	char *s = strdup(names[_i].in);

	ck_assert_int_eq(text_is_clean(s), !strcmp(names[_i].in, names[_i].clean));
	text_clean(s);
	ck_assert_str_eq(s, names[_i].clean);
	ck_assert(text_is_clean(s));
	free(s);
}
END_TEST

START_TEST(a_prefix_never_splits_a_letter)
{
	ck_assert_uint_eq(text_prefix("gr\xc3\xbc\xc3\x9f", 3), 4);
	ck_assert_uint_eq(text_prefix("abc", 9), 3);
	ck_assert_uint_eq(text_prefix("abc", 0), 0);
}
END_TEST

START_TEST(what_is_written_is_read_back)
{
	struct buf b = { 0 };
	uint32_t wrong = 0;
	const char *s;

	for (uint32_t code = 1; code <= 0x10ffff && !wrong; code++) {
		if (code >= 0xd800 && code <= 0xdfff)
			continue; /* surrogates are no letters */
		buf_reset(&b);
		text_put(&b, code);
		s = buf_str(&b);
		if (text_next(&s) != code || *s)
			wrong = code;
	}
	ck_assert_uint_eq(wrong, 0);
	buf_fini(&b);
}
END_TEST

START_TEST(random_bytes_are_read_to_their_end)
{
	const uint64_t seed = unit_seed();
	uint64_t random = seed;
	struct buf b = { 0 };
	bool harmless = true;

	for (int i = 0; i < 20000; i++) {
		char bytes[12] = "";
		const char *s;

		for (int k = 0; k < 11; k++)
			bytes[k] = unit_random(&random) >> 56 | 1;
		buf_reset(&b);
		text_put_clean(&b, bytes);
		s = buf_str(&b);
		for (uint32_t code; (code = text_next(&s));)
			harmless &= code != TEXT_INVALID && !text_is_control(code);
	}
	ck_assert_msg(harmless, "SEED=%llu", (unsigned long long)seed);
	buf_fini(&b);
}
END_TEST

static const struct {
	const char *typed, *meant;
} mistakes[] = {
	{ "porf", "prof" },
	{ "prf", "prof" },
	{ "stat", "status" },
	{ "lsit", "list" },
	{ "sta", "status" },
	{ "epochs", "epoch" },
	{ "bananas", NULL },
	{ "x", NULL },
	{ "", NULL },
	{ "a-very-long-word-that-no-command-could-ever-be", NULL },
	{ "a-word-of-more-than-93-letters-of-which-a-third-are-more-than-the-longest-"
	  "distance-that-is-counted",
	  NULL },
};

START_TEST(a_mistyped_word_finds_what_was_meant)
{
	static const char *const words[] = { "prof", "list", "epoch", "status",
					     "flush" };
	struct did_you_mean n = did_you_mean_init(mistakes[_i].typed);

	for (size_t i = 0; i < NR(words); i++)
		did_you_mean_try(&n, words[i]);
	if (mistakes[_i].meant)
		ck_assert_str_eq(n.best, mistakes[_i].meant);
	else
		ck_assert_ptr_null(n.best);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("text");
	TCase *t = tcase_create("names");

	tcase_add_loop_test(t, a_name_is_shown_as_one_harmless_line, 0, NR(names));
	tcase_add_loop_test(t, a_name_is_cleaned_in_place, 0, NR(names));
	tcase_add_test(t, a_prefix_never_splits_a_letter);
	tcase_add_test(t, what_is_written_is_read_back);
	tcase_add_test(t, random_bytes_are_read_to_their_end);
	tcase_add_loop_test(t, a_mistyped_word_finds_what_was_meant, 0, NR(mistakes));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(make_suite)
