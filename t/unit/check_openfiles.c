/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_openfiles.c - files that are kept open without a descriptor of theirs
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon/os/openfiles.h"
#include "t/unit/unit.h"

static struct openfiles *files;

static void setup(void)
{
	files = openfiles_new();
	ck_assert_ptr_nonnull(files);
}

static void teardown(void)
{
	openfiles_free(files);
}

static struct file_identity identify(int fd)
{
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	return file_identity_of(&st);
}

/* Keeps a new file with this byte, of which the test has no descriptor any more. */
static struct file_identity keep(char byte)
{
	int fd = memfd_create("x", MFD_CLOEXEC);
	struct file_identity id;

	ck_assert_int_eq(file_write(fd, &byte, 1), 0);
	id = identify(fd);
	openfiles_keep(files, &id, fd);
	ck_assert_int_eq(close(fd), 0);
	return id;
}

/* Descriptors of files, not of sockets. */
static int nr_descriptors(void)
{
	struct stat st;
	int nr = 0;

	for (int fd = 3; fd < 1000; fd++)
		nr += !fstat(fd, &st) && S_ISREG(st.st_mode);
	return nr;
}

START_TEST(a_kept_file_is_found_as_often_as_it_is_wanted)
{
	const struct file_identity id = keep('y');
	char byte = 0;

	for (int i = 0; i < 3; i++) {
		int fd = openfiles_find(files, &id);

		ck_assert_int_ge(fd, 0);
		ck_assert_int_eq(pread(fd, &byte, 1, 0), 1);
		ck_assert_int_eq(byte, 'y');
		close(fd);
	}
}
END_TEST

/* Closing one may wait for ever: so there is none to close. */
START_TEST(a_kept_file_has_no_descriptor)
{
	const int before = nr_descriptors();

	for (int i = 0; i < 2 * OPENFILES_MAX; i++)
		keep('y');
	ck_assert_int_eq(nr_descriptors(), before);
}
END_TEST

START_TEST(a_file_that_has_changed_is_not_found)
{
	const struct file_identity id = keep('y');
	int fd = openfiles_find(files, &id);

	ck_assert_int_eq(ftruncate(fd, 7), 0);
	close(fd);
	ck_assert_int_eq(openfiles_find(files, &id), -ENOENT);
	ck_assert_int_eq(openfiles_prune(files), 0);
}
END_TEST

START_TEST(the_one_that_was_not_used_for_longest_makes_room)
{
	const struct file_identity first = keep('1'), second = keep('2');

	for (int i = 2; i < OPENFILES_MAX; i++)
		keep('x');
	close(openfiles_find(files, &first));
	keep('3');
	ck_assert_int_eq(openfiles_find(files, &second), -ENOENT);
	close(openfiles_find(files, &first));
	ck_assert_int_eq(openfiles_prune(files), OPENFILES_MAX);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("openfiles");
	TCase *tc = tcase_create("openfiles");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, a_kept_file_is_found_as_often_as_it_is_wanted);
	tcase_add_test(tc, a_kept_file_has_no_descriptor);
	tcase_add_test(tc, a_file_that_has_changed_is_not_found);
	tcase_add_test(tc, the_one_that_was_not_used_for_longest_makes_room);
	suite_add_tcase(suite, tc);
	return suite;
}

UNIT_MAIN(make_suite)
