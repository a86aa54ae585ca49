/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory is opened once, while cpid may still do what its user may not: who
 * renames it, or puts a symlink in its place, changes nothing. In it a file is made
 * under a name of its own and then renamed, so that no reader sees a part of it, and
 * nothing that stood there is written to.
 */
#include "config.h"

#include "daemon/control/metrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "service/prometheus.h"
#include "daemon/control/status_parts.h"

#define INTERVAL_NS (15 * NSEC_PER_SEC)
#define MODE        0644 /* numbers alone: nothing of what was sampled */

struct metrics {
	int dir_fd;
	const char *path; /* the caller's */
	const char *name; /* in the directory */
	uint64_t next_ns;
	int err; /* of the last attempt */
	bool written;
};

static int open_dir(struct metrics *m)
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

int metrics_open(const char *path, struct metrics **out)
{
	struct metrics *m = calloc(1, sizeof(*m));
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

static int format(struct session *s, struct buf *out)
{
	struct prometheus *p = prometheus_new();
	struct buf status = { 0 };
	int err;

	if (!p)
		return -ENOMEM;
	buf_puts(&status, "up 1\nversion " PACKAGE_VERSION "\n");
	buf_printf(&status, "file_unix_s %.3f\n",
		   (double)time_real_ns() / NSEC_PER_SEC);
	session_status(s, &status);
	prometheus_put(p, &status_parts[STATUS_DAEMON], buf_str(&status));
	err = status.err ? status.err : prometheus_format(p, out);
	buf_fini(&status);
	prometheus_free(p);
	return err;
}

int metrics_write(struct metrics *m, struct session *s)
{
	struct buf text = { 0 };
	int err = format(s, &text);

	if (!err)
		err = file_replace(m->dir_fd, m->name, MODE, text.data, text.len);
	buf_fini(&text);
	if (err && !m->err)
		log_err("metrics: %s: cannot write it: %s; its directory has to be "
			"writable for the user that cpid runs as",
			m->path, err_str(err));
	else if (!err && m->err)
		log_info("metrics: %s: writing works again", m->path);
	m->err = err;
	m->written |= !err;
	return err;
}

int metrics_run(struct metrics *m, struct session *s)
{
	uint64_t now = time_mono_ns();

	if (now >= m->next_ns) {
		metrics_write(m, s);
		m->next_ns = now + INTERVAL_NS;
	}
	return (int)((m->next_ns - now) / NSEC_PER_MSEC) + 1;
}

void metrics_close(struct metrics *m)
{
	if (!m)
		return;
	if (m->written)
		unlinkat(m->dir_fd, m->name, 0);
	close(m->dir_fd);
	free(m);
}
