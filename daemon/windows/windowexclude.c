/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowexclude.c - processes that are excluded from windows
 */
#include "config.h"

#include "daemon/windows/windowexclude.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "daemon/mappings/cgroups.h"

int windowexclude_parse(const char *text, enum windowexclude_what *what,
			const char **value)
{
	static const char *const names[] = { [EXCLUDE_COMM] = "comm=",
					     [EXCLUDE_LABEL] = "label=",
					     [EXCLUDE_CGROUP] = "cgroup=" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const size_t len = strlen(names[i]);

		if (strncmp(text, names[i], len) || !text[len])
			continue;
		*what = i;
		*value = text + len;
		return 0;
	}
	return -EINVAL;
}

static int open_cgroup(const char *path)
{
	struct buf full = { 0 };
	char *mount = NULL;
	int fd = cgroups_find_mount(&mount);

	if (!fd && !mount)
		fd = -ENOENT;
	if (!fd) {
		buf_printf(&full, "%s/%s", mount, path);
		fd = full.err ? full.err : file_open_dir(buf_str(&full));
	}
	buf_fini(&full);
	free(mount);
	return fd;
}

int windowexclude_open_cgroups(const char *const *text, int nr, int *fd, int max)
{
	enum windowexclude_what what;
	const char *path;
	int opened = 0, err = 0;

	for (int i = 0; i < nr && err >= 0; i++) {
		if (windowexclude_parse(text[i], &what, &path) ||
		    what != EXCLUDE_CGROUP)
			continue;
		err = opened < max ? open_cgroup(path) : -CPI_ELIMIT;
		if (err < 0)
			log_err("windows: cannot exclude cgroup %s: %s; give at most "
				"%d cgroups of version 2, by paths below its root",
				path, err_str(err), max);
		else
			fd[opened++] = err;
	}
	while (err < 0 && opened)
		close(fd[--opened]);
	return err < 0 ? err : opened;
}

bool windowexclude_matches(const char *const *text, int nr, const struct process *p)
{
	for (int i = 0; i < nr; i++) {
		const char *pattern, *name = NULL;
		enum windowexclude_what what;

		if (windowexclude_parse(text[i], &what, &pattern))
			continue;
		if (what == EXCLUDE_COMM)
			name = p->comm;
		else if (what == EXCLUDE_LABEL && p->label)
			name = p->label->text;
		if (name && !fnmatch(pattern, name, 0))
			return true;
	}
	return false;
}

bool windowexclude_needs_labels(const char *const *text, int nr)
{
	enum windowexclude_what what;
	const char *pattern;

	for (int i = 0; i < nr; i++) {
		if (!windowexclude_parse(text[i], &what, &pattern) &&
		    what == EXCLUDE_LABEL)
			return true;
	}
	return false;
}
