/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * helper.c - starts and stops our helper programs
 */
#include "config.h"

#include "daemon/os/helper.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "daemon/os/privileges.h"

#define END_STEPS 400 /* of 10 ms, that a helper has to end */

/*
 * Looks beside this program and in the build tree, so that both have the same
 * version; then where helpers are installed.
 */
static int find_program(const char *name, char path[PATH_MAX])
{
	static const char *const beside[] = { "", "../helpers/" };
	char own[PATH_MAX / 2];
	const ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[len < 0 ? 0 : len] = '\0';
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		const char *slash = strrchr(own, '/');

		snprintf(path, PATH_MAX, "%.*s/%s%s", slash ? (int)(slash - own) : 0,
			 own, beside[i], name);
		if (slash && access(path, X_OK) == 0)
			return 0;
	}
	snprintf(path, PATH_MAX, "%s/%s", PKGLIBEXECDIR, name);
	return access(path, X_OK) < 0 ? -errno : 0;
}

bool helper_is_installed(const char *name)
{
	char path[PATH_MAX];

	return !find_program(name, path);
}

/* What the child closes: whatever is open here and was not made to close by itself. */
#ifdef HAVE_POSIX_SPAWN_FILE_ACTIONS_ADDCLOSEFROM_NP
static int add_close_others(posix_spawn_file_actions_t *files)
{
	return -posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
}
#else
/* One by one: the C library is older than closefrom() in a child. */
static int add_close_others(posix_spawn_file_actions_t *files)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *d;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (d = readdir(dir))) {
		int fd = atoi(d->d_name), flags = fd ? fcntl(fd, F_GETFD) : -1;

		if (fd > STDERR_FILENO && flags >= 0 && !(flags & FD_CLOEXEC))
			err = -posix_spawn_file_actions_addclose(files, fd);
	}
	closedir(dir);
	return err;
}
#endif

/*
 * Starts the program with default signals, no environment, and no descriptor of ours
 * but the socket.
 */
static int spawn(const char *path, const char *name, int socket, pid_t *pid)
{
	char *const args[] = { (char *)name, NULL }, *const no_env[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int err;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, socket, STDIN_FILENO);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
	err = add_close_others(&files);
	if (!err)
		err = -posix_spawn(pid, path, &files, &attr, args, no_env);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return err;
}

int helper_start(const char *name, pid_t *pid, int *socket)
{
	char path[PATH_MAX];
	int pair[2], err;

	if (geteuid() == 0 &&
	    (!privileges_have(CAP_SETUID) || !privileges_have(CAP_SETGID)))
		return -EPERM;
	err = find_program(name, path);
	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	err = spawn(path, name, pair[1], pid);
	close(pair[1]);
	if (err) {
		close(pair[0]);
		return err;
	}
	*socket = pair[0];
	return 0;
}

/* One that does not end is killed, and one that cannot be killed is left alone. */
void helper_stop(pid_t *pid, int *socket)
{
	static const struct timespec step = { 0, 10000000 };

	if (!*pid)
		return;
	close(*socket);
	*socket = -1;
	for (int i = 0; i < END_STEPS && !waitpid(*pid, NULL, WNOHANG); i++) {
		if (i == END_STEPS / 2)
			kill(*pid, SIGKILL);
		nanosleep(&step, NULL);
	}
	*pid = 0;
}
