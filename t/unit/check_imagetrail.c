/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include "report/select/imagetrail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t/unit/unit.h"

static char folder[64], file[80], other[80], missing[80];

static void write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void make_files(void)
{
	strcpy(folder, "/tmp/check_imagetrail.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/file", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	snprintf(missing, sizeof(missing), "%s/missing", folder);
	write_to(file, "debug");
	write_to(other, "other");
}

static void remove_files(void)
{
	unlink(file);
	unlink(other);
	unlink(missing);
	rmdir(folder);
}

static bool is_current(const struct image_trail *t)
{
	return image_trail_is_current(t->files.data, t->files.len);
}

START_TEST(a_trail_is_current_until_a_file_changes)
{
	struct image_trail t = { 0 };

	ck_assert(image_trail_is_current("", 0));
	image_trail_look(&t, file, false);
	image_trail_look(&t, missing, true);
	ck_assert(is_current(&t));
	write_to(other, "more");
	ck_assert(is_current(&t));
	write_to(file, "more");
	ck_assert(!is_current(&t));
	image_trail_fini(&t);
}
END_TEST

START_TEST(a_file_that_appears_or_goes_is_a_change)
{
	struct image_trail t = { 0 };

	image_trail_look(&t, missing, false);
	write_to(missing, "");
	ck_assert(!is_current(&t));
	unlink(missing);
	ck_assert(is_current(&t));
	image_trail_look(&t, file, false);
	unlink(file);
	ck_assert(!is_current(&t));
	image_trail_fini(&t);
}
END_TEST

/* A link that points elsewhere matters only where links are followed. */
START_TEST(the_target_of_a_link_counts_only_if_it_is_followed)
{
	for (int follow = 0; follow < 2; follow++) {
		struct image_trail t = { 0 };

		ck_assert_int_eq(symlink(file, missing), 0);
		image_trail_look(&t, missing, follow);
		ck_assert(is_current(&t));
		write_to(file, "more");
		ck_assert_int_eq(is_current(&t), !follow);
		unlink(missing);
		ck_assert_int_eq(symlink(other, missing), 0);
		ck_assert(!is_current(&t));
		unlink(missing);
		image_trail_fini(&t);
	}
}
END_TEST

/* Whatever the bytes are, none behind them is read, and no damage counts as current. */
START_TEST(a_damaged_trail_is_not_current)
{
	struct image_trail t = { 0 };
	uint64_t seed = unit_seed();
	size_t one;

	image_trail_look(&t, file, false);
	one = t.files.len;
	image_trail_look(&t, missing, true);
	for (size_t size = 1; size < t.files.len; size++) {
		char *copy = malloc(size);

		memcpy(copy, t.files.data, size);
		ck_assert_int_eq(image_trail_is_current(copy, size), size == one);
		free(copy);
	}
	for (int i = 0; i < unit_rounds(1000, 100000); i++) {
		const size_t at = unit_random(&seed) % t.files.len;
		char *copy = malloc(t.files.len);

		memcpy(copy, t.files.data, t.files.len);
		copy[at] ^= (char)(1 + unit_random(&seed) % 255);
		image_trail_is_current(copy, t.files.len);
		free(copy);
	}
	image_trail_fini(&t);
}
END_TEST

START_TEST(failures_come_back_in_order)
{
	struct image_trail t = { 0 };
	const char *at, *name, *why;

	image_trail_fail(&t, "/bin/one", "gone");
	image_trail_fail(&t, "", "");
	at = t.failures.data;
	ck_assert(image_trail_next(&at, t.failures.data + t.failures.len, &name, &why));
	ck_assert_str_eq(name, "/bin/one");
	ck_assert_str_eq(why, "gone");
	ck_assert(image_trail_next(&at, t.failures.data + t.failures.len, &name, &why));
	ck_assert_str_eq(name, "");
	ck_assert(
		!image_trail_next(&at, t.failures.data + t.failures.len, &name, &why));
	for (size_t size = 0; size < 14; size++) { /* the first failure has 14 bytes */
		char *copy = malloc(size + 1);

		memcpy(copy, t.failures.data, size);
		at = copy;
		ck_assert(!image_trail_next(&at, copy + size, &name, &why));
		free(copy);
	}
	image_trail_fini(&t);
}
END_TEST

static Suite *trail_suite(void)
{
	Suite *s = suite_create("imagetrail");
	TCase *t = tcase_create("trail");

	tcase_add_checked_fixture(t, make_files, remove_files);
	tcase_add_test(t, a_trail_is_current_until_a_file_changes);
	tcase_add_test(t, a_file_that_appears_or_goes_is_a_change);
	tcase_add_test(t, the_target_of_a_link_counts_only_if_it_is_followed);
	tcase_add_test(t, a_damaged_trail_is_not_current);
	tcase_add_test(t, failures_come_back_in_order);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(trail_suite)
