/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapping.h"
#include "t/unit/unit.h"

#define PAGES 4

static size_t page(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* A file of PAGES pages, all of them 'x'. */
static int full_file(void)
{
	int fd = memfd_create("mapping", MFD_CLOEXEC);
	char *text = malloc(page());

	ck_assert_int_ge(fd, 0);
	memset(text, 'x', page());
	for (int i = 0; i < PAGES; i++)
		ck_assert_int_eq(write(fd, text, page()), page());
	free(text);
	return fd;
}

START_TEST(what_a_file_no_longer_has_reads_as_zeros)
{
	const size_t size = PAGES * page();
	int fd = full_file();
	char *data;

	ck_assert_int_eq(mapping_open(fd, size, (void **)&data), 0);
	ck_assert_int_eq(data[0], 'x');
	ck_assert_int_eq(data[size - 1], 'x');
	ck_assert_int_eq(ftruncate(fd, (off_t)page()), 0);
	ck_assert_int_eq(data[page() - 1], 'x');
	for (size_t at = page(); at < size; at += 100)
		ck_assert_int_eq(data[at], 0);
	mapping_close(data, size);
	close(fd);
}
END_TEST

START_TEST(writing_changes_no_file)
{
	int fd = full_file();
	char *data, c;

	ck_assert_int_eq(mapping_open(fd, page(), (void **)&data), 0);
	data[0] = 'y';
	ck_assert_int_eq(pread(fd, &c, 1, 0), 1);
	ck_assert_int_eq(c, 'x');
	mapping_close(data, page());
	close(fd);
}
END_TEST

START_TEST(the_slots_of_closed_mappings_are_used_again)
{
	int fd = full_file(), nr = 0;
	void *data[1000];

	for (int round = 0; round < 3; round++) {
		int err = 0;

		for (nr = 0; !err; nr++) {
			ck_assert_int_lt(nr, NR(data));
			err = mapping_open(fd, page(), &data[nr]);
		}
		ck_assert_int_eq(err, -EMFILE);
		ck_assert_int_gt(--nr, 8);
		while (nr--)
			mapping_close(data[nr], page());
	}
	close(fd);
}
END_TEST

/* In a process of its own: the signal ends it. */
START_TEST(the_bus_errors_of_others_are_theirs)
{
	int fd = full_file();
	volatile char *other;
	void *data;

	ck_assert_int_eq(mapping_open(fd, page(), &data), 0);
	other = mmap(NULL, PAGES * page(), PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne((void *)other, MAP_FAILED);
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(other[page()], 'x');
}
END_TEST

static const struct {
	mode_t mode;
	uid_t owner;
	bool safe;
} owners[] = {
	{ 0600, 0, true },  { 0644, 0, true },      { 0664, 0, false },
	{ 0646, 0, false }, { 0600, 12345, false }, { 0444, 12345, false },
	{ 0755, 0, true },
};

START_TEST(only_files_that_nobody_else_writes_are_safe)
{
	int fd = full_file();

	if (geteuid() == 0 && fchown(fd, owners[_i].owner, 0) == 0) {
		ck_assert_int_eq(fchmod(fd, owners[_i].mode), 0);
		ck_assert_int_eq(mapping_is_safe(fd), owners[_i].safe);
	} else if (owners[_i].owner == 0) {
		ck_assert_int_eq(fchmod(fd, owners[_i].mode), 0);
		ck_assert_int_eq(mapping_is_safe(fd), owners[_i].safe);
	}
	close(fd);
}
END_TEST

static Suite *mapping_suite(void)
{
	Suite *s = suite_create("mapping");
	TCase *tc = tcase_create("mapping");

	tcase_add_test(tc, what_a_file_no_longer_has_reads_as_zeros);
	tcase_add_test(tc, writing_changes_no_file);
	tcase_add_test(tc, the_slots_of_closed_mappings_are_used_again);
	tcase_add_test_raise_signal(tc, the_bus_errors_of_others_are_theirs, SIGBUS);
	tcase_add_loop_test(tc, only_files_that_nobody_else_writes_are_safe, 0,
			    NR(owners));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(mapping_suite)
