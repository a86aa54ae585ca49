/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procowner.c - the user that owns a process
 *
 * The owner of /proc/PID is the process's effective user.
 */
#include "config.h"

#include "daemon/os/procowner.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

int procowner_uid(uint32_t tgid, uint32_t *uid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%u", tgid);
	if (stat(path, &st))
		return -errno;
	*uid = st.st_uid;
	return 0;
}
