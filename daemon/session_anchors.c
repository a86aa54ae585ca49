/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_anchors.c - the breakpoints that a session sets where windows saw calls
 */
#include "config.h"

#include <errno.h>

#include "base/log.h"
#include "daemon/session_private.h"

int session_start_anchors(struct session *s)
{
	const struct anchors_config cfg = {
		.hits_per_s = s->cfg.anchors_hz,
		.attribution = &s->attribution,
		.exclude = s->cfg.windows_exclude,
		.nr_excluded = s->cfg.nr_windows_excluded,
	};

	if (s->cfg.anchors_hz <= 0)
		return 0;
	if (s->cfg.windows_hz <= 0) {
		log_warn(
			"anchors: not available: they are set where windows saw calls");
		return 0;
	}
	return anchors_open(&cfg, &s->anchors) == -ENOMEM ? -ENOMEM : 0;
}

/* A visit counts where the mappings were the same all the time. */
static void end_visit(struct session *s, bool now)
{
	if (!anchors_end(s->anchors, now))
		return;
	session_read_mappings(s);
	anchors_settle(s->anchors);
}

void session_run_anchors(struct session *s)
{
	if (!s->anchors)
		return;
	end_visit(s, false);
	anchors_begin(s->anchors);
}

void session_end_visit(struct session *s)
{
	if (s->anchors)
		end_visit(s, true);
}

double session_anchors_cost(const struct session *s)
{
	return s->anchors ? anchors_cost(s->anchors) / s->cpus.nr : 0;
}

void session_anchors_status(const struct session *s, struct buf *out)
{
	buf_printf(out, "anchors %s\n", s->anchors ? "on" : "off");
	if (s->anchors)
		anchors_status(s->anchors, out);
}
