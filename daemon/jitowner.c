/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitowner.c - who a process is, to those who look at its files
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/times.h"
#include "daemon/jitread.h"

#define START_TIME_FIELD 22 /* of /proc/PID/stat: proc(5) */

static int read_proc(pid_t tgid, const char *name, struct buf *out)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)tgid, name);
	buf_reset(out);
	err = file_read_all(AT_FDCWD, path, 65536, out);
	return err == -ESRCH ? -ENOENT : err;
}

/* The effective user, and the innermost of the process's numbers. */
static int parse_status(const char *text, struct jit_owner *o)
{
	const char *uid = strstr(text, "\nUid:"), *pids = strstr(text, "\nNSpid:");
	unsigned int real, effective;
	char *end;

	if (!uid || sscanf(uid, "\nUid: %u %u", &real, &effective) != 2)
		return -CPI_EFORMAT;
	o->uid = effective;
	if (!pids)
		return 0; /* a kernel without namespaces */
	for (pids += 7; *pids == '\t'; pids = end) {
		o->inner_tgid = strtol(pids, &end, 10);
		if (end == pids)
			return -CPI_EFORMAT;
	}
	return 0;
}

/* When the process began. Its name, in parentheses, may hold anything. */
static int parse_stat(const char *text, struct jit_owner *o)
{
	const char *p = strrchr(text, ')');
	struct timespec boot;
	uint64_t ticks, now_ns, begun_ns;

	for (int field = 2; p && field < START_TIME_FIELD; field++)
		p = strchr(p + 1, ' ');
	if (!p)
		return -CPI_EFORMAT;
	ticks = strtoull(p, NULL, 10);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	now_ns = (uint64_t)boot.tv_sec * NSEC_PER_SEC + (uint64_t)boot.tv_nsec;
	begun_ns = ticks * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK));
	o->begun_real_ns = time_real_ns() - (now_ns - begun_ns);
	return 0;
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_ino == y.st_ino &&
	       x.st_dev == y.st_dev;
}

int jit_owner_read(pid_t tgid, struct jit_owner *out)
{
	struct jit_owner o = { .tgid = tgid, .inner_tgid = tgid };
	struct buf text = { 0 };
	char ns[64], root[64];
	int err;

	err = read_proc(tgid, "status", &text);
	if (!err)
		err = parse_status(buf_str(&text), &o);
	if (!err)
		err = read_proc(tgid, "stat", &text);
	if (!err)
		err = parse_stat(buf_str(&text), &o);
	if (!err) {
		snprintf(ns, sizeof(ns), "/proc/%d/ns/mnt", (int)tgid);
		snprintf(root, sizeof(root), "/proc/%d/root", (int)tgid);
		o.shares_root =
			same_file(ns, "/proc/self/ns/mnt") && same_file(root, "/");
		*out = o;
	}
	buf_fini(&text);
	return err;
}
