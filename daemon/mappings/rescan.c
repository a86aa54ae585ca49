/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rescan.c - reads incomplete processes again, within a time quota
 *
 * procmap_for_each_incomplete() lists the processes that are due. Their reads use up a
 * time quota of 1 % of a CPU; the rest waits for the next round.
 */
#include "config.h"

#include "daemon/mappings/rescan.h"

#include "base/times.h"
#include "daemon/mappings/procscan.h"

static const struct time_quota_limit limit = { 10, 100 * NSEC_PER_MSEC };

struct rescanning {
	struct rescan *rescan;
	struct procmap *procmap;
	struct images *images;
};

/*
 * Returns whether the quota allows more. The exit record of a process that is gone will
 * come, so that needs nothing.
 */
static bool read_one(void *ctx, uint32_t tgid)
{
	struct rescanning *r = ctx;
	const uint64_t begun_ns = time_mono_ns();
	uint64_t now;

	procscan_one(r->procmap, r->images, (pid_t)tgid);
	r->rescan->nr_read++;
	now = time_mono_ns();
	time_quota_spend(&r->rescan->quota, now - begun_ns);
	return time_quota_has(&r->rescan->quota, &limit, now);
}

void rescan_run(struct rescan *rs, struct procmap *pm, struct images *im)
{
	struct rescanning r = { rs, pm, im };
	const uint64_t now = time_mono_ns();

	if (time_quota_has(&rs->quota, &limit, now))
		procmap_for_each_incomplete(pm, now, read_one, &r);
}
