/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metricsfile.c - writes metrics to a file that others may read at any time
 *
 * The directory is opened only once, while the service still has privileges. If someone
 * later renames it, or puts a symlink in its place, nothing changes. Each time a new
 * file is written and then renamed. So a reader never sees a part of it, and an
 * existing file is never written to.
 */
#include "config.h"

#include "service/metricsfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"

#define MODE 0644 /* numbers alone: nothing of what was sampled */

struct metricsfile {
	int dir_fd;
	const char *path; /* the caller's */
	const char *name; /* in the directory */
	int err;          /* of the last attempt */
	bool written;
};

static int open_dir(struct metricsfile *m)
{
	char *dir;

	m->name = strrchr(m->path, '/');
	m->name = m->name ? m->name + 1 : m->path;
	if (!*m->name)
		return -EISDIR;
	dir = m->name == m->path ? strdup(".")
				 : strndup(m->path, (size_t)(m->name - m->path));
	if (!dir)
		return -ENOMEM;
	m->dir_fd = file_open_dir(dir);
	free(dir);
	return m->dir_fd < 0 ? m->dir_fd : 0;
}

int metricsfile_open(const char *path, struct metricsfile **out)
{
	struct metricsfile *m = calloc(1, sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	m->path = path;
	m->dir_fd = -1;
	err = open_dir(m);
	if (err) {
		log_err("metrics: %s: cannot open its directory: %s%s", path,
			err_str(err),
			err == -ELOOP ? "; name it without a symlink" : "");
		free(m);
		return err;
	}
	*out = m;
	return 0;
}

int metricsfile_write(struct metricsfile *m, const struct buf *text)
{
	int err = file_replace(m->dir_fd, m->name, MODE, text->data, text->len);

	if (err && !m->err)
		log_err("metrics: %s: cannot write it: %s; its directory has to be "
			"writable for the user that the service runs as",
			m->path, err_str(err));
	else if (!err && m->err)
		log_info("metrics: %s: writing works again", m->path);
	m->err = err;
	m->written |= !err;
	return err;
}

void metricsfile_close(struct metricsfile *m)
{
	if (!m)
		return;
	if (m->written)
		unlinkat(m->dir_fd, m->name, 0);
	close(m->dir_fd);
	free(m);
}
