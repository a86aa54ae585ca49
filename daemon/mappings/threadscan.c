/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * threadscan.c - the threads of all processes, from /proc
 *
 * A process or thread that ends meanwhile is skipped.
 */
#include "config.h"

#include "daemon/mappings/threadscan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/times.h"

/* The number that a name in /proc is; 0: none. */
static uint32_t number_of(const char *name)
{
	char *end;
	const unsigned long nr = strtoul(name, &end, 10);

	return *end || nr > UINT32_MAX ? 0 : (uint32_t)nr;
}

static int take_thread(struct threadmap *tm, int task, const char *name, uint32_t tgid)
{
	char path[NAME_MAX + sizeof("/comm")], comm[PROCMAP_COMM_SIZE];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/comm", name);
	fd = openat(task, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, comm, sizeof(comm) - 1);
	close(fd);
	if (len <= 0)
		return 0;
	comm[len] = '\0';
	comm[strcspn(comm, "\n")] = '\0';
	return threadmap_found(tm, number_of(name), tgid, comm);
}

/* All but the first, which has the process's number and name. */
static int scan_process(struct threadmap *tm, uint32_t tgid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (!err && (d = readdir(dir))) {
		const uint32_t tid = number_of(d->d_name);

		if (tid && tid != tgid)
			err = take_thread(tm, dirfd(dir), d->d_name, tgid);
	}
	closedir(dir);
	return err;
}

static int scan_processes(struct threadmap *tm)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	int err = 0;

	if (!dir)
		return -errno;
	while (!err && (d = readdir(dir))) {
		const uint32_t tgid = number_of(d->d_name);

		if (tgid)
			err = scan_process(tm, tgid);
	}
	closedir(dir);
	return err;
}

int threadscan(struct threadmap *tm, pid_t process)
{
	const uint64_t begun_ns = time_mono_ns();
	int err;

	threadmap_begin_scan(tm);
	err = process ? scan_process(tm, (uint32_t)process) : scan_processes(tm);
	if (!err)
		threadmap_end_scan(tm, begun_ns);
	return err;
}
