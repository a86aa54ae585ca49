/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * browser.c - writes a page that leads to the address, and opens it
 *
 * xdg-open is not waited for: it may run as long as the browser.
 */
#include "config.h"

#include "web/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

extern char **environ;

static int write_page(const char *path, const char *address)
{
	struct buf page = { 0 };
	int err, fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	buf_printf(&page,
		   "<!doctype html>\n<meta charset=\"utf-8\">\n<title>CPI</title>\n"
		   "<meta http-equiv=\"refresh\" content=\"0; url=%s\">\n"
		   "<a href=\"%s\">CPI</a>\n",
		   address, address);
	err = page.err ? page.err : file_write(fd, page.data, page.len);
	buf_fini(&page);
	close(fd);
	return err;
}

int browser_open(const char *folder, const char *address)
{
	char path[PATH_MAX];
	char *const argv[] = { (char *)"xdg-open", path, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	pid_t pid;
	int err;

	if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY"))
		return -ENODEV;
	snprintf(path, sizeof(path), "%s/cpi.html", folder);
	err = write_page(path, address);
	if (err)
		return err;
	/* A browser is not to ignore the signals that this process has blocked. */
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY,
					 0);
	err = -posix_spawnp(&pid, argv[0], &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return err;
}
