/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spawn.c - forks, confines and executes cpi
 *
 * Between fork() and execve() the child sets its group, its three descriptors and its
 * limits, and gives up its rights (service/confine.c). If one of these fails, it
 * reports why on stderr and does not execute anything. The server has one thread, so
 * the child may allocate memory.
 */
#include "config.h"

#include "web/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "service/confine.h"
#include "web/job.h"

#define MAX_ENV 12

/*
 * Variables that reports need. Those with paths to debug files are left out: they would
 * change what a report says.
 */
static const char *const passed[] = { "PATH", "HOME", "TZ", "LANG", "LC_ALL" };

#ifdef SANITIZERS /* a confined process cannot look for leaks at its end */
#define ASAN_OPTIONS "detect_leaks=0"
#else
#define ASAN_OPTIONS NULL
#endif

static void add_env(char **env, int *nr, const char *name, const char *value)
{
	if (value && asprintf(&env[*nr], "%s=%s", name, value) >= 0)
		++*nr;
}

/* Never frees its memory: the child executes or exits. */
static void make_env(const struct jobs_config *config, char **env)
{
	int nr = 0;

	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		add_env(env, &nr, passed[i], getenv(passed[i]));
	add_env(env, &nr, "CPI_SOCKET", config->socket);
	add_env(env, &nr, "SQLITE_TMPDIR", config->folder);
	add_env(env, &nr, "XDG_CACHE_HOME", config->cache);
	add_env(env, &nr, "CPI_JOBS", "1"); /* limits count for each process */
	add_env(env, &nr, "CPI_NO_SOURCE",
		config->no_source       ? "1"
		: config->public_source ? "private"
					: NULL);
	add_env(env, &nr, "ASAN_OPTIONS", ASAN_OPTIONS);
	env[nr] = NULL;
}

static void close_others(void)
{
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0))
		return;
#endif
	closefrom(STDERR_FILENO + 1);
}

static int place_descriptors(int out, int err)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
	    dup2(err, STDERR_FILENO) < 0)
		return -errno;
	close_others();
	return 0;
}

static _Noreturn void run_child(const struct jobs_config *config, char *const *args,
				int nicer, int out, int errors)
{
	const struct confine_limits limits = { .with_parent = true,
					       .network = api_has_store(config->dbs),
					       .memory_bytes = config->max_memory,
					       .cpu_s = config->patience_s,
					       .folder = { config->folder,
							   config->cache },
					       .dbs = config->dbs };
	char *argv[API_MAX_ARGV + 2] = { (char *)"cpi" }, *env[MAX_ENV];
	sigset_t none;
	int err;

	for (int i = 0; args[i]; i++)
		argv[i + 1] = args[i];
	sigemptyset(&none);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	make_env(config, env);
	(void)!nice(nicer); /* else it runs at the server's own priority */
	err = setpgid(0, 0) ? -errno : place_descriptors(out, errors);
	if (!err)
		err = confine_self(&limits);
	if (!err)
		execve(config->cpi, argv, env);
	dprintf(STDERR_FILENO, "%s: %s\n", config->cpi, err_str(err ? err : -errno));
	_exit(SPAWN_FAILED);
}

static int make_pipes(int out[2], int err[2])
{
	if (pipe2(out, O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(err, O_CLOEXEC) < 0) {
		const int failure = -errno;

		close(out[0]);
		close(out[1]);
		return failure;
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	return 0;
}

int spawn_report(const struct jobs_config *config, char *const *args, int nicer,
		 struct spawned *spawned)
{
	int out[2], errors[2];
	int err = make_pipes(out, errors);
	pid_t pid;

	if (err)
		return err;
	pid = fork();
	if (!pid)
		run_child(config, args, nicer, out[1], errors[1]);
	err = pid < 0 ? -errno : 0;
	close(out[1]);
	close(errors[1]);
	if (err) {
		close(out[0]);
		close(errors[0]);
		return err;
	}
	setpgid(pid, pid); /* the child does so, too: whoever is first */
	*spawned = (struct spawned){ .pid = pid, .out = out[0], .err = errors[0] };
	spawned->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (spawned->pidfd < 0)
		spawned->pidfd = -errno;
	return 0;
}
