/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.c - writes the status to a file, for the text file collector of node_exporter
 */
#include "config.h"

#include "daemon/control/metrics.h"

#include <errno.h>
#include <stdlib.h>

#include "base/times.h"
#include "daemon/control/status_parts.h"
#include "service/metricsfile.h"
#include "service/prometheus.h"

#define INTERVAL_NS (15 * NSEC_PER_SEC)

struct metrics {
	struct metricsfile *file;
	uint64_t next_ns;
};

int metrics_open(const char *path, struct metrics **out)
{
	struct metrics *m = calloc(1, sizeof(*m));
	int err = m ? metricsfile_open(path, &m->file) : -ENOMEM;

	if (err)
		free(m);
	else
		*out = m;
	return err;
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
		err = metricsfile_write(m->file, &text);
	buf_fini(&text);
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
	metricsfile_close(m->file);
	free(m);
}
