/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * metrics.c - the server's counts in Prometheus' format
 *
 * Also has the metrics of cpi-ship, from a file, so that one address serves both. Of
 * that file only lines with cpi-ship's names are sent.
 */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "web/server_private.h"

#define MAX_SHIP 16384
#define SHIP     "cpi_ship_"

static void put(struct buf *out, const char *name, const char *type, const char *help,
		uint64_t value)
{
	buf_printf(out,
		   "# HELP cpi_web_%s %s\n# TYPE cpi_web_%s %s\ncpi_web_%s %" PRIu64
		   "\n",
		   name, help, name, type, name, value);
}

/* Adds only lines with cpi-ship's names, in case another program wrote the file. */
static bool is_of_ship(const char *line)
{
	if (!strncmp(line, "# HELP ", 7) || !strncmp(line, "# TYPE ", 7))
		line += 7;
	return !strncmp(line, SHIP, strlen(SHIP));
}

/* Adds cpi-ship's metrics, if there is a file with them. */
static void put_ship(const char *path, struct buf *out)
{
	struct buf text = { 0 };
	char *line, *next;

	if (path && !file_read_all(AT_FDCWD, path, MAX_SHIP, &text)) {
		buf_str(&text);
		for (line = text.data; line && (next = strchr(line, '\n'));
		     line = next) {
			*next++ = '\0';
			if (is_of_ship(line))
				buf_printf(out, "%s\n", line);
		}
	}
	buf_fini(&text);
}

void metrics_put(const struct server *s, struct buf *out)
{
	buf_printf(out,
		   "# HELP cpi_web_build_info The version of the server.\n"
		   "# TYPE cpi_web_build_info gauge\n"
		   "cpi_web_build_info{version=\"%s\"} 1\n",
		   PACKAGE_VERSION);
	put(out, "requests_total", "counter", "Requests that were answered.",
	    s->nr_requests);
	put(out, "request_errors_total", "counter", "Of these, with a status from 400.",
	    s->nr_errors);
	put(out, "connections", "gauge", "Open connections.", s->conns.nr);
	put(out, "connections_dropped_total", "counter",
	    "Connections closed because they were slow or too many.",
	    s->conns.nr_dropped);
	put(out, "reports_running", "gauge", "Reports that are being made.",
	    s->jobs.nr_running);
	put(out, "reports_queued", "gauge", "Reports that wait for their turn.",
	    s->jobs.nr_queued);
	put(out, "reports_total", "counter",
	    "Reports that were made, without statuses.", s->jobs.nr_done);
	put(out, "reports_failed_total", "counter",
	    "Reports that took too long or too much memory, or crashed.",
	    s->jobs.nr_failed);
	put(out, "reports_cancelled_total", "counter",
	    "Reports that were cancelled because no client waited for them.",
	    s->jobs.nr_cancelled);
	put(out, "reports_refused_total", "counter",
	    "Questions that were refused because too many waited.", s->jobs.nr_refused);
	put(out, "logins_failed_total", "counter", "Passwords that were wrong.",
	    s->logins.nr_failed);
	put(out, "logins_refused_total", "counter",
	    "Passwords that were not checked because too many others were.",
	    s->logins.nr_refused);
	put(out, "certificate_refused", "gauge",
	    "1 if the certificate's files changed, but cannot be used.",
	    s->refuses_files);
	put(out, "cache_bytes", "gauge", "Memory of kept answers.", s->cache.bytes);
	put(out, "cache_hits_total", "counter", "Questions answered from the cache.",
	    s->cache.nr_hits);
	put(out, "cache_misses_total", "counter", "Questions that needed a report.",
	    s->cache.nr_misses);
	put_ship(s->config->ship_metrics, out);
}
