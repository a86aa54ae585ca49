/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_file.c - directories without symlinks, with and without openat2(), and files
 * that several processes replace at once
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "t/unit/refuse_call.h"
#include "t/unit/unit.h"

#define NOBODYS    ((uid_t)-1)
#define NR_WRITERS 4
#define NR_TIMES   200
#define SIZE       20000

static char folder[64];

static void make_folder(void)
{
	strcpy(folder, "/tmp/check_file.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(mkdir("a", 0700), 0);
	ck_assert_int_eq(mkdir("a/b", 0700), 0);
	ck_assert_int_eq(symlink("a", "link"), 0);
	ck_assert_int_eq(symlink("b", "a/link"), 0);
	close(open("a/file", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
}

static void remove_folder(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
}

static const struct {
	const char *path;
	int err;
} dirs[] = {
	{ "a", 0 },
	{ "a/b", 0 },
	{ "a//b/", 0 },
	{ "./a/./b", 0 },
	{ ".", 0 },
	{ "/", 0 },
	{ "/proc", 0 },
	{ "link", -ELOOP },
	{ "link/b", -ELOOP },
	{ "a/link", -ELOOP },
	{ "a/file", -ENOTDIR },
	{ "a/none", -ENOENT },
	{ "none/b", -ENOENT },
	{ "", -ENOENT },
};

static void check_dirs(void)
{
	struct stat opened, named;

	for (size_t i = 0; i < NR(dirs); i++) {
		int fd = file_open_dir(dirs[i].path);

		ck_assert_msg((fd < 0 ? fd : 0) == dirs[i].err, "%s: %d", dirs[i].path,
			      fd);
		if (fd < 0)
			continue;
		ck_assert_int_eq(fstat(fd, &opened), 0);
		ck_assert_int_eq(stat(dirs[i].path, &named), 0);
		ck_assert(file_same(&opened, &named));
		close(fd);
	}
}

START_TEST(a_directory_is_opened_through_no_symlink)
{
	check_dirs();
}
END_TEST

START_TEST(without_openat2_as_well)
{
	int fd;

	refuse_call(SYS_openat2, ENOSYS);
	check_dirs();
	fd = file_open_in_steps(AT_FDCWD, "a/link", 0);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(file_open_in_steps(AT_FDCWD, "link/file", 0), -ELOOP);
	ck_assert_int_eq(file_open_in_steps(AT_FDCWD, "a/../a", 0), -EXDEV);
}
END_TEST

static void write_often(char letter)
{
	char text[SIZE];
	int err = 0, dir = file_open_dir(".");

	memset(text, letter, sizeof(text));
	for (int i = 0; !err && i < NR_TIMES; i++)
		err = file_replace(dir, "target", 0640, text, sizeof(text));
	_exit(err ? 1 : 0);
}

/* The one that they wrote, and nothing of a writer beside it. */
static void check_only_target(void)
{
	DIR *d = opendir(".");
	struct dirent *e;

	while ((e = readdir(d)))
		ck_assert_msg(!strstr(e->d_name, ".tmp"), "%s", e->d_name);
	closedir(d);
}

START_TEST(several_writers_replace_a_file_at_once)
{
	struct buf text = { 0 };
	int status;

	for (int i = 0; i < NR_WRITERS; i++) {
		if (!fork())
			write_often((char)('a' + i));
	}
	for (int i = 0; i < NR_WRITERS; i++) {
		ck_assert_int_gt(wait(&status), 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_int_eq(file_read_all(AT_FDCWD, "target", SIZE, &text), 0);
	ck_assert_uint_eq(text.len, SIZE);
	for (size_t i = 1; i < text.len; i++)
		ck_assert_int_eq(text.data[i], text.data[0]);
	buf_fini(&text);
	check_only_target();
}
END_TEST

static const struct {
	mode_t dir, file;
	int nobody, owner; /* what opening gives them */
} modes[] = {
	{ 0755, 0644, 0, 0 },       { 0711, 0604, 0, 0 },
	{ 0755, 0640, -EACCES, 0 }, { 0755, 0600, -EACCES, 0 },
	{ 0750, 0644, -EACCES, 0 }, { 0700, 0644, -EACCES, 0 },
	{ 0755, 0044, 0, -EACCES }, { 0055, 0644, 0, -EACCES },
};

static int open_error(const char *path, uid_t user)
{
	const int fd = file_open_as(path, user);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* Root may open each, but not for another user. */
START_TEST(a_file_is_opened_for_those_who_may_read_it)
{
	char path[100], link[100];

	ck_assert_int_eq(chmod(folder, 0755), 0);
	snprintf(path, sizeof(path), "%s/a/file", folder);
	ck_assert_int_eq(chmod(path, modes[_i].file), 0);
	ck_assert_int_eq(chmod("a", modes[_i].dir), 0);
	if (!geteuid() || !modes[_i].nobody)
		ck_assert_int_eq(open_error(path, NOBODYS), modes[_i].nobody);
	if (!geteuid() || !modes[_i].owner)
		ck_assert_int_eq(open_error(path, geteuid()), modes[_i].owner);
	ck_assert_int_eq(chmod("a", 0755), 0);
	ck_assert_int_eq(symlink(path, "link_to_file"), 0);
	snprintf(link, sizeof(link), "%s/link_to_file", folder);
	ck_assert_int_eq(open_error(link, NOBODYS), -ELOOP);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("file");
	TCase *tc = tcase_create("file");

	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_test(tc, a_directory_is_opened_through_no_symlink);
	tcase_add_test(tc, without_openat2_as_well);
	tcase_add_loop_test(tc, a_file_is_opened_for_those_who_may_read_it, 0,
			    NR(modes));
	tcase_add_test(tc, several_writers_replace_a_file_at_once);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
