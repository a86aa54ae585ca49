/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_procroot.c - files as another process sees them, with and without openat2()
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "daemon/os/procroot.h"
#include "t/unit/refuse_call.h"

static char folder[64];

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void make_folder(void)
{
	strcpy(folder, "/tmp/check_procroot.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
	ck_assert_int_eq(mkdir("a", 0700), 0);
	ck_assert_int_eq(symlink("a", "link"), 0);
	ck_assert_int_eq(symlink("file", "a/link"), 0);
	write_file("a/file", "text");
}

static void remove_folder(void)
{
	char command[80];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(system(command), 0);
}

/* A process that waits, and has the folder as its root directory. */
static pid_t start_inside(void)
{
	int ready[2];
	pid_t pid;
	char c;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (chroot(folder) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static const struct {
	const char *path;
	int opened, peeked;
} files[] = {
	{ "/a/file", 0, 0 },
	{ "/a//file", 0, 0 },
	{ "/a", -ENODEV, 0 },
	{ "/link/file", -ELOOP, -ELOOP },
	{ "/a/link", -ELOOP, 0 },
	{ "/a/none", -ENOENT, -ENOENT },
	{ "/none/file", -ENOENT, -ENOENT },
	{ "/a/file/none", -ENOTDIR, -ENOTDIR },
};

/* For what is not there, the file system may have to be asked. */
static bool is_peeked(int err, int expected)
{
	return err == expected || (expected < 0 && err == -EAGAIN);
}

/* Below prefix in the view of tgid is our folder. */
static void check_files(pid_t tgid, const char *prefix)
{
	struct stat opened, peeked, named;
	char path[128];

	for (size_t i = 0; i < NR(files); i++) {
		int fd;

		snprintf(path, sizeof(path), "%s%s", prefix, files[i].path);
		lstat(files[i].path + 1, &named);
		fd = procroot_open(tgid, path, &opened);
		ck_assert_msg((fd < 0 ? fd : 0) == files[i].opened, "open %s: %d", path,
			      fd);
		if (fd >= 0) {
			ck_assert(file_same(&opened, &named));
			close(fd);
		}
		fd = procroot_peek(tgid, path, &peeked);
		ck_assert_msg(is_peeked(fd, files[i].peeked), "peek %s: %d", path, fd);
		if (!fd) {
			ck_assert(file_same(&peeked, &named));
			ck_assert_int_eq(peeked.st_size, named.st_size);
		}
	}
}

/* What a file has become since it was opened. */
static void check_change(void)
{
	struct stat before, after;
	char path[128];

	snprintf(path, sizeof(path), "%s/a/file", folder);
	ck_assert_int_eq(procroot_peek(0, path, &before), 0);
	write_file("a/file", "more text");
	ck_assert_int_eq(procroot_peek(0, path, &after), 0);
	ck_assert(file_same(&before, &after));
	ck_assert_int_eq(before.st_size, 4);
	ck_assert_int_eq(after.st_size, 9);
}

static void check_all(void)
{
	check_files(0, folder);
	check_files(getpid(), folder);
	check_change();
}

START_TEST(files_are_found_by_name)
{
	check_all();
}
END_TEST

START_TEST(without_openat2_as_well)
{
	refuse_call(SYS_openat2, ENOSYS);
	check_all();
	ck_assert(!procroot_can_peek());
}
END_TEST

START_TEST(below_the_root_of_another_process)
{
	pid_t pid;

	if (geteuid() != 0)
		return;
	pid = start_inside();
	check_files(pid, "");
	ck_assert(!procroot_is_ours(pid));
	refuse_call(SYS_openat2, ENOSYS);
	check_files(pid, "");
	end(pid);
}
END_TEST

/* A program on one file system, and a library that it maps on another. */
START_TEST(a_mapped_file_with_the_inode_of_the_program)
{
	static const char make[] =
		"mkdir one two && mount -t tmpfs one one && mount -t tmpfs two two &&"
		" cp /bin/sleep one && cp $(ldd /bin/sleep | awk '/libc/ { print $3 }')"
		" two/lib.so";
	struct stat program, library, found;
	pid_t pid;
	int fd, ready[2];
	char c;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    system(make) || stat("one/sleep", &program) ||
	    stat("two/lib.so", &library) || program.st_ino != library.st_ino)
		return; /* without rights to mount, or before Linux 5.9 */
	ck_assert_int_eq(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		setenv("LD_PRELOAD", "two/lib.so", 1);
		execl("one/sleep", "sleep", "100", NULL);
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 0); /* it has executed the program */
	do
		fd = procroot_open_mapped(pid, library.st_dev, library.st_ino, &found);
	while (fd == -ENOENT); /* until it has mapped the library */
	if (fd != -EPERM) {    /* without CAP_CHECKPOINT_RESTORE */
		ck_assert_int_ge(fd, 0);
		ck_assert_uint_eq(found.st_dev, library.st_dev);
		close(fd);
	}
	fd = procroot_open_mapped(pid, program.st_dev, program.st_ino, &found);
	ck_assert_int_ge(fd, 0);
	ck_assert_uint_eq(found.st_dev, program.st_dev);
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	umount2("one", MNT_DETACH);
	umount2("two", MNT_DETACH);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *s = suite_create("procroot");
	TCase *tc = tcase_create("procroot");

	tcase_add_checked_fixture(tc, make_folder, remove_folder);
	tcase_add_test(tc, files_are_found_by_name);
	tcase_add_test(tc, without_openat2_as_well);
	tcase_add_test(tc, below_the_root_of_another_process);
	tcase_add_test(tc, a_mapped_file_with_the_inode_of_the_program);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
