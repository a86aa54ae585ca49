/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * status.c - the status of shipping, as metrics and as a line for the service manager
 */
#include "config.h"

#include "ship/status.h"

#include <errno.h>
#include <inttypes.h>

#include "base/err.h"
#include "base/times.h"
#include "service/prometheus.h"

/* clang-format off */
static const struct prometheus_rule rules[] = {
	{ "up", "up", NULL, NULL, GAUGE, 0, "Whether cpi-ship runs.", NULL },
	{ "version", "build_info", "version", NULL, INFO, 0, "The version of cpi-ship, as a label.", NULL },
	{ "failing", "store_failing", NULL, NULL, GAUGE, 0, "Whether the last attempt to ship has failed.", NULL },
	{ "failures", "failures_total", NULL, NULL, COUNTER, 0, "Attempts to ship that have failed.", NULL },
	{ "epochs", "epochs_total", NULL, NULL, COUNTER, 0, "Epochs that were shipped.", NULL },
	{ "rows", "rows_total", NULL, NULL, COUNTER, 0, "Rows of profiles that were shipped.", NULL },
	{ "void", "epochs_void_total", NULL, NULL, COUNTER, 0, "Shipped epochs that a later one replaced.", NULL },
	{ "sent_bytes", "sent_bytes_total", NULL, NULL, COUNTER, 0, "Bytes that were sent to the store.", NULL },
	{ "dropped", "flushes_dropped_total", NULL, NULL, COUNTER, 0, "Flushes that were gone or damaged before they were shipped.", NULL },
	{ "written_s", "written_timestamp_seconds", NULL, NULL, GAUGE, 0, "When these numbers were written.", NULL },
	{ "start_s", "start_timestamp_seconds", NULL, NULL, GAUGE, 0, "When cpi-ship started.", NULL },
	{ "success_s", "last_success_timestamp_seconds", NULL, NULL, GAUGE, 0, "When an attempt succeeded last; 0: not since the start.", NULL },
	{ "level_s", "level_timestamp_seconds", NULL, NULL, GAUGE, 0, "The last time at which no complete epoch waited; at first, the start.", NULL },
};
/* clang-format on */

static const struct prometheus_part part = {
	.prefix = "ship_",
	.rules = rules,
	.nr = sizeof(rules) / sizeof(rules[0]),
};

void ship_status_note(struct ship_status *s, int err, size_t nr)
{
	const uint64_t now_ns = time_real_ns();

	if (err) {
		s->nr_failures++;
		if (!s->err)
			s->failing_ns = now_ns;
	} else {
		s->failing_ns = 0;
		s->success_ns = now_ns;
		if (!nr)
			s->level_ns = now_ns;
	}
	s->err = err;
}

static void put(struct buf *out, const char *name, uint64_t value)
{
	buf_printf(out, "%s %" PRIu64 "\n", name, value);
}

static void put_lines(const struct ship_status *s, struct buf *out)
{
	buf_puts(out, "up 1\nversion " PACKAGE_VERSION "\n");
	put(out, "failing", s->err != 0);
	put(out, "failures", s->nr_failures);
	put(out, "epochs", s->stats.nr_epochs);
	put(out, "rows", s->stats.nr_rows);
	put(out, "void", s->stats.nr_void);
	put(out, "sent_bytes", s->sent_bytes);
	put(out, "dropped", s->stats.nr_dropped);
	put(out, "written_s", time_real_ns() / NSEC_PER_SEC);
	put(out, "start_s", s->started_ns / NSEC_PER_SEC);
	put(out, "success_s", s->success_ns / NSEC_PER_SEC);
	put(out, "level_s", s->level_ns / NSEC_PER_SEC);
}

int ship_status_metrics(const struct ship_status *s, struct buf *out)
{
	struct prometheus *p = prometheus_new();
	struct buf lines = { 0 };
	int err;

	if (!p)
		return -ENOMEM;
	put_lines(s, &lines);
	prometheus_put(p, &part, buf_str(&lines));
	err = lines.err ? lines.err : prometheus_format(p, out);
	buf_fini(&lines);
	prometheus_free(p);
	return err;
}

void ship_status_say(const struct ship_status *s, struct buf *out)
{
	if (s->err)
		buf_printf(out,
			   "shipping has been failing for %llu s (%s); epochs wait in "
			   "the database",
			   (time_real_ns() - s->failing_ns) / NSEC_PER_SEC,
			   err_str(s->err));
	else
		buf_printf(out, "%" PRIu64 " epochs shipped since the start%s",
			   s->stats.nr_epochs,
			   s->level_ns == s->success_ns ? "; none waits" : "");
}
