/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jitowner.c - reads the identity of a process: its user, begin, and inner PID
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
#include "daemon/jit/jitread.h"
#include "daemon/os/procroot.h"

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
	uint64_t ticks, begun_ns;

	for (int field = 2; p && field < START_TIME_FIELD; field++)
		p = strchr(p + 1, ' ');
	if (!p)
		return -CPI_EFORMAT;
	ticks = strtoull(p, NULL, 10);
	begun_ns = ticks * (NSEC_PER_SEC / sysconf(_SC_CLK_TCK));
	o->begun_real_ns = time_real_ns() - (time_boot_ns() - begun_ns);
	return 0;
}

static bool same_namespace(pid_t tgid)
{
	struct stat own, its;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)tgid);
	return !stat("/proc/self/ns/mnt", &own) && !stat(path, &its) &&
	       file_same(&own, &its);
}

/* In the worker. */
static int read_owner(struct timed_child_job *job)
{
	const pid_t tgid = *(const pid_t *)job->question;
	struct jit_owner o = { .tgid = tgid, .inner_tgid = tgid };
	struct buf text = { 0 };
	int err;

	err = read_proc(tgid, "status", &text);
	if (!err)
		err = parse_status(buf_str(&text), &o);
	if (!err)
		err = read_proc(tgid, "stat", &text);
	if (!err)
		err = parse_stat(buf_str(&text), &o);
	if (!err) {
		o.shares_root = same_namespace(tgid) && procroot_is_ours(tgid);
		buf_put(&job->answer, &o, sizeof(o));
	}
	buf_fini(&text);
	return err;
}

int jit_owner_read(struct timed_child *a, pid_t tgid, struct jit_owner *out)
{
	const struct timed_child_question q = {
		.fn = read_owner, .data = &tgid, .size = sizeof(tgid), .tgid = tgid
	};

	return timed_child_ask_for(a, &q, out, sizeof(*out));
}
