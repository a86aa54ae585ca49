/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * initial_namespace.c - a library to preload: the PID namespace has the initial one's
 * inode
 *
 * So cpid samples in a container that has PIDs of its own, where it refuses otherwise.
 * With --collector=perf the kernel translates the PIDs of the container's processes;
 * processes outside of it have none. For tests of the service, not of what is sampled.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INITIAL 0xeffffffcu /* PROC_PID_INIT_INO */

/* The programs that cpid starts go without. */
__attribute__((constructor)) static void leave_children(void)
{
	unsetenv("LD_PRELOAD");
}

int stat(const char *path, struct stat *st)
{
	const int result = fstatat(AT_FDCWD, path, st, 0);

	if (!result && !strcmp(path, "/proc/self/ns/pid"))
		st->st_ino = INITIAL;
	return result;
}
