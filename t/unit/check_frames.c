/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/calls/frames.h"

#include <string.h>

#include "t/unit/unit.h"
#include "tools/ui/xml.h"

static const struct {
	enum image_kind kind;
	const char *name;
	enum frame_kind want;
} kinds[] = {
	{ IMAGE_FILE, "/usr/bin/app", FRAME_PROGRAM },
	{ IMAGE_FILE, "/usr/lib/libc.so.6", FRAME_LIBRARY },
	{ IMAGE_FILE, "/opt/plugin.so", FRAME_LIBRARY },
	{ IMAGE_FILE, "/opt/app.sort", FRAME_PROGRAM },
	{ IMAGE_FILE, "/opt/x.so.d/app", FRAME_PROGRAM },
	{ IMAGE_FILE, "", FRAME_PROGRAM },
	{ IMAGE_VDSO, "[vdso]", FRAME_LIBRARY },
	{ IMAGE_KERNEL, "[kernel]", FRAME_KERNEL },
	{ IMAGE_MODULE, "[xfs]", FRAME_KERNEL },
	{ IMAGE_JIT, "node", FRAME_JIT },
};

START_TEST(an_image_has_a_kind)
{
	const struct image_desc desc = { .kind = kinds[_i].kind,
					 .name = kinds[_i].name };

	ck_assert_int_eq(frame_kind_of(&desc), kinds[_i].want);
	ck_assert_int_eq(frame_kind_of(NULL), FRAME_UNKNOWN);
}
END_TEST

static uint32_t put(struct frames *f, int64_t image, const char *path,
		    const struct frame_key *key)
{
	const struct query_image im = { .id = image,
					.desc = { .kind = IMAGE_FILE,
						  .name = path,
						  .build_id = { image },
						  .build_id_size = 1 } };
	struct frame_key whole = *key;
	uint32_t id, found;

	whole.image = path ? &im : NULL;
	if (!f->nr)
		ck_assert(!frames_find(f, &whole, &found));
	ck_assert_int_eq(frames_put(f, &whole, &id), 0);
	ck_assert_uint_lt(id, f->nr);
	ck_assert(frames_find(f, &whole, &found));
	ck_assert_uint_eq(found, id);
	return id;
}

static const struct {
	int64_t image[2];
	const char *path[2];
	struct frame_key key[2];
	bool same;
} pairs[] = {
	/* a name in builds of one path */
	{ { 1, 2 }, { "/a", "/a" }, { { .name = "f" }, { .name = "f" } }, true },
	/* but not what has none */
	{ { 1, 2 },
	  { "/a", "/a" },
	  { { .name = "[0x10]" }, { .name = "[0x10]" } },
	  false },
	{ { 1, 1 },
	  { "/a", "/a" },
	  { { .name = "[0x10]" }, { .name = "[0x10]" } },
	  true },
	{ { 1, 2 },
	  { "/a", "/a" },
	  { { .name = "[unknown procedure]" }, { .name = "[unknown procedure]" } },
	  true },
	{ { 1, 2 }, { "/a", "/b" }, { { .name = "f" }, { .name = "f" } }, false },
	{ { 1, 1 }, { "/a", "/a" }, { { .name = "f" }, { .name = "g" } }, false },
	{ { 1, 1 },
	  { "/a", "/a" },
	  { { .name = "f" }, { .name = "f", .inlined = true } },
	  false },
	/* a command is no reason */
	{ { 0, 0 },
	  { NULL, NULL },
	  { { .name = "[x]" }, { .name = "[x]", .is_command = true } },
	  false },
	{ { 0, 0 }, { NULL, NULL }, { { .name = "[x]" }, { .name = "[x]" } }, true },
};

START_TEST(a_frame_is_a_name)
{
	struct frames f = { 0 };
	const uint32_t a =
		put(&f, pairs[_i].image[0], pairs[_i].path[0], &pairs[_i].key[0]);
	const uint32_t b =
		put(&f, pairs[_i].image[1], pairs[_i].path[1], &pairs[_i].key[1]);

	ck_assert_int_eq(a == b, pairs[_i].same);
	ck_assert_int_eq(frames_compare(&f, a, b) == 0, pairs[_i].same);
	ck_assert_int_eq(frames_compare(&f, a, b), -frames_compare(&f, b, a));
	frames_fini(&f);
}
END_TEST

static const struct {
	const char *text, *want;
} texts[] = {
	{ "a<b>&\"'", "a&#60;b&#62;&#38;&#34;&#39;" },
	{ "]]>", "]]&#62;" },
	{ "two\nlines\x01\x7f", "two?lines??" },
	{ "\xff\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" }, /* no UTF-8 */
	{ "\xef\xbf\xbe\xf0\x9f\xbf\xbf", "??" }, /* U+FFFE, U+1FFFF */
	{ "\xe2\x80\xae", "?" },                  /* turns text around */
	{ "\xc3\xa9", "\xc3\xa9" },
	{ "", "" },
	{ NULL, "?" },
};

START_TEST(any_bytes_are_xml)
{
	struct buf out = { 0 };

	xml_put(&out, texts[_i].text);
	ck_assert_str_eq(buf_str(&out), texts[_i].want);
	buf_fini(&out);
}
END_TEST

static Suite *frames_suite(void)
{
	Suite *s = suite_create("frames");
	TCase *t = tcase_create("frames");

	tcase_add_loop_test(t, an_image_has_a_kind, 0, NR(kinds));
	tcase_add_loop_test(t, a_frame_is_a_name, 0, NR(pairs));
	tcase_add_loop_test(t, any_bytes_are_xml, 0, NR(texts));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(frames_suite)
