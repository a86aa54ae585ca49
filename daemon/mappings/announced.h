/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announced.h - what a process says of its own mappings, and what is true of it
 *
 * A announcement is a hint where to look, no more: all that goes into the process map
 * comes from /proc/PID/maps of the process that the kernel says has spoken. Of what
 * the map has from mapping records already nothing is asked again.
 */
#ifndef CPI_DAEMON_ANNOUNCED_H
#define CPI_DAEMON_ANNOUNCED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/os/time_quota.h"
#include "daemon/procmap/images.h"
#include "daemon/procmap/procmap.h"

/* What becomes of a announcement: name in the status, and what cpid(8) says of it. */
#define ANNOUNCED_FATES(X)                                                           \
	X(KNOWN, "known")           /* the process map had it already */             \
	X(TAKEN, "taken")           /* it was true, the process map has it now */    \
	X(MALFORMED, "malformed")   /* refused, as are the following: no sense */    \
	X(RATE, "rate")             /* the process takes too much of our time */     \
	X(GONE, "gone")             /* the process cannot be looked at (any more) */ \
	X(STALE, "stale")           /* another program runs there now */             \
	X(NOT_MAPPED, "not_mapped") /* the process has no such mapping */            \
	X(STILL_MAPPED, "still_mapped") /* what was unloaded is there */             \
	X(BUILD_ID, "build_id")         /* the mapped file has another build id */

enum announced_fate {
#define ANNOUNCED_FATE_ENUM(name, text) ANNOUNCED_##name,
	ANNOUNCED_FATES(ANNOUNCED_FATE_ENUM)
#undef ANNOUNCED_FATE_ENUM
		NR_ANNOUNCED_FATES
};

/* The first that is a refusal. */
#define ANNOUNCED_REFUSED ANNOUNCED_MALFORMED

#define ANNOUNCED_SLOTS 1024 /* processes share one where they are more */

struct announced {
	struct procmap *procmap;
	struct images *images;
	struct time_quota by_process[ANNOUNCED_SLOTS];
	/* Announcements, by what became of them; datagrams that were not looked at. */
	uint64_t nr[NR_ANNOUNCED_FATES];
};

/* What the kernel says of a datagram. */
struct announced_source {
	uint32_t tgid;
	uint64_t when_ns; /* sent, monotonic */
	bool in_gap;      /* mapping records of then may be missing */
};

/*
 * Takes one datagram. Mapping records up to now have been read. Reads at most one
 * /proc/PID/maps, and nothing at all for a process that has had its share of time.
 */
void announced_take(struct announced *s, const struct announced_source *from,
		    const void *data, size_t size);

const char *announced_fate_name(enum announced_fate fate);

#endif
