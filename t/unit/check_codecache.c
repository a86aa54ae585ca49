/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads of code for windows, compared with the file's bytes, which a hash of the offset
 * makes here; and the questions to the reader that they take.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/hash.h"
#include "daemon/procmap/codecache.h"
#include "t/unit/unit.h"

#define PIECE 65536u
#define PAGE  4096u

ssize_t __wrap_images_read(struct images *im, const struct known_image *image,
			   uint64_t at, void *to, size_t size);

static struct {
	int nr_questions;
	bool fails;
	size_t readable; /* bytes of a question that are answered */
} t;

static uint8_t byte_at(const struct known_image *image, uint64_t at)
{
	return (uint8_t)hash_u64((uintptr_t)image ^ at);
}

ssize_t __wrap_images_read(struct images *im, const struct known_image *image,
			   uint64_t at, void *to, size_t size)
{
	size_t n = 0;

	(void)im;
	t.nr_questions++;
	if (t.fails)
		return -EBUSY;
	for (; n < size && n < t.readable && at + n < image->desc.size; n++)
		((uint8_t *)to)[n] = byte_at(image, at + n);
	return (ssize_t)n;
}

static void set_up(void)
{
	memset(&t, 0, sizeof(t));
	t.readable = SIZE_MAX;
}

static struct known_image image_of(uint64_t size)
{
	return (struct known_image){
		.desc = { .kind = IMAGE_FILE, .has_content = true, .size = size },
	};
}

static void check_read(struct codecache *c, const struct known_image *image,
		       uint64_t off, size_t size, size_t want)
{
	uint8_t *got = malloc(size);

	ck_assert_ptr_nonnull(got);
	ck_assert_uint_eq(codecache_read(c, image, off, got, size), want);
	for (size_t i = 0; i < want; i++)
		ck_assert_uint_eq(got[i], byte_at(image, off + i));
	free(got);
}

START_TEST(reads_have_the_bytes_of_the_file)
{
	const struct known_image image[2] = { image_of(5 * PIECE + 1234),
					      image_of(3 * PIECE) };
	struct codecache *c = codecache_new(NULL);
	uint64_t seed = unit_seed();

	set_up();
	ck_assert_ptr_nonnull(c);
	printf("# seed %#llx\n", (unsigned long long)seed);
	for (int i = 0; i < 300; i++) {
		const struct known_image *im = &image[unit_random(&seed) % 2];
		const uint64_t end = im->desc.size;
		const uint64_t off = unit_random(&seed) % (end + PAGE);
		const size_t size = 1 + unit_random(&seed) % (2 * PIECE);
		const uint64_t left = off < end ? end - off : 0;

		check_read(c, im, off, size, left < size ? left : size);
	}
	codecache_free(c);
}
END_TEST

START_TEST(pages_of_a_piece_take_one_question)
{
	const struct known_image image = image_of(8 * PIECE);
	struct codecache *c = codecache_new(NULL);

	set_up();
	for (uint64_t at = 0; at < 4 * PIECE; at += PAGE)
		check_read(c, &image, at, PAGE, PAGE);
	ck_assert_int_eq(t.nr_questions, 4);
	codecache_clear(c); /* another image may have the address */
	check_read(c, &image, 0, PAGE, PAGE);
	ck_assert_int_eq(t.nr_questions, 5);
	codecache_free(c);
}
END_TEST

START_TEST(the_pieces_used_last_are_kept)
{
	const struct known_image image = image_of(64 * PIECE);
	struct codecache *c = codecache_new(NULL);

	set_up();
	for (uint64_t i = 0; i < CODECACHE_PIECES; i++)
		check_read(c, &image, i * PIECE, PAGE, PAGE);
	check_read(c, &image, 0, PAGE, PAGE);
	check_read(c, &image, CODECACHE_PIECES * PIECE, PAGE, PAGE); /* evicts 1 */
	ck_assert_int_eq(t.nr_questions, CODECACHE_PIECES + 1);
	check_read(c, &image, 0, PAGE, PAGE);
	check_read(c, &image, 2 * PIECE, PAGE, PAGE);
	ck_assert_int_eq(t.nr_questions, CODECACHE_PIECES + 1);
	check_read(c, &image, PIECE, PAGE, PAGE);
	ck_assert_int_eq(t.nr_questions, CODECACHE_PIECES + 2);
	codecache_free(c);
}
END_TEST

START_TEST(a_read_that_failed_is_tried_again)
{
	const struct known_image image = image_of(2 * PIECE);
	struct codecache *c = codecache_new(NULL);

	set_up();
	t.fails = true;
	check_read(c, &image, 0, PAGE, 0);
	t.fails = false;
	t.readable = PAGE / 2; /* an error in the middle */
	check_read(c, &image, 0, PAGE, PAGE / 2);
	t.readable = SIZE_MAX;
	check_read(c, &image, 0, PAGE, PAGE);
	check_read(c, &image, PAGE, PAGE, PAGE);
	ck_assert_int_eq(t.nr_questions, 3);
	codecache_free(c);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("codecache");
	TCase *tc = tcase_create("codecache");

	tcase_add_test(tc, reads_have_the_bytes_of_the_file);
	tcase_add_test(tc, pages_of_a_piece_take_one_question);
	tcase_add_test(tc, the_pieces_used_last_are_kept);
	tcase_add_test(tc, a_read_that_failed_is_tried_again);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
