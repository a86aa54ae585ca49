/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lockholder.c - searches /proc/locks, and then /proc/PID/fdinfo
 *
 * /proc/locks has the process that took a lock. For a lock of an open file description
 * it has none, and the process of a flock() may be gone while a child holds the lock.
 * Such locks are found in /proc/PID/fdinfo.
 */
#include "config.h"

#include "db/core/lockholder.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"

struct lock {
	char kind[8], access[8], end[24];
	int pid;
	unsigned long long inode, first;
};

/* "1: POSIX  ADVISORY  READ 1234 08:01:5678 120 EOF". */
static bool parse_lock(const char *line, struct lock *l)
{
	return sscanf(line, "%*d: %7s %*s %7s %d %*x:%*x:%llu %llu %23s", l->kind,
		      l->access, &l->pid, &l->inode, &l->first, l->end) == 6;
}

static bool matches(const struct lock *l, const struct lockholder_query *q)
{
	const unsigned long long byte = (unsigned long long)q->byte;

	if (l->inode != q->inode || !strstr(q->kinds, l->kind) ||
	    (q->write_only && strcmp(l->access, "WRITE") != 0))
		return false;
	return l->first <= byte && (!isdigit((unsigned char)l->end[0]) ||
				    strtoull(l->end, NULL, 10) >= byte);
}

static bool lives(pid_t pid, const struct lockholder_query *q)
{
	return pid > 0 && pid != q->except && (!kill(pid, 0) || errno == EPERM);
}

/*
 * Finds the first matching lock in a file with such lines. Sets *found, and returns its
 * process; 0 if there is no lock, or its process is unknown.
 */
static pid_t find_in(const char *path, const char *prefix,
		     const struct lockholder_query *q, bool *found)
{
	FILE *f = fopen(path, "re");
	char line[256];
	struct lock l;
	pid_t pid = 0;

	while (f && !pid && fgets(line, sizeof(line), f)) {
		if (strncmp(line, prefix, strlen(prefix)) != 0 ||
		    !parse_lock(line + strlen(prefix), &l) || !matches(&l, q))
			continue;
		*found = true;
		if (lives(l.pid, q))
			pid = l.pid;
	}
	if (f)
		fclose(f);
	return pid;
}

static bool has_lock(pid_t pid, const struct lockholder_query *q, uint64_t end_ns)
{
	char path[64 + NAME_MAX];
	const struct dirent *d;
	bool found = false;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", (int)pid);
	dir = opendir(path);
	while (dir && !found && time_mono_ns() < end_ns && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", (int)pid, d->d_name);
		if (isdigit((unsigned char)d->d_name[0]))
			find_in(path, "lock:\t", q, &found);
	}
	if (dir)
		closedir(dir);
	return found;
}

static pid_t find_by_fd(const struct lockholder_query *q)
{
	const uint64_t end_ns = time_mono_ns() + q->max_ns;
	DIR *dir = opendir("/proc");
	const struct dirent *d;
	pid_t pid = 0;

	while (dir && !pid && time_mono_ns() < end_ns && (d = readdir(dir))) {
		const pid_t candidate = (pid_t)strtol(d->d_name, NULL, 10);

		if (lives(candidate, q) && has_lock(candidate, q, end_ns))
			pid = candidate;
	}
	if (dir)
		closedir(dir);
	return pid;
}

pid_t lockholder_find(const struct lockholder_query *q)
{
	bool found = false;
	pid_t pid = find_in("/proc/locks", "", q, &found);

	return pid || !found ? pid : find_by_fd(q);
}

const char *lockholder_name(pid_t pid, char name[LOCKHOLDER_NAME_SIZE])
{
	char path[32];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f || !fgets(name, LOCKHOLDER_NAME_SIZE, f))
		*name = '\0';
	if (f)
		fclose(f);
	name[strcspn(name, "\n")] = '\0';
	return name;
}
