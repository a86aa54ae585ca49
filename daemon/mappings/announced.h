/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announced.h - takes announcements that are true into the process map
 *
 * An announcement is only a hint where to look. Everything that enters the process map
 * comes from /proc/PID/maps of the sender, which the kernel names. A mapping that the
 * map already has from mapping records is not looked up again.
 */
#ifndef CPI_DAEMON_ANNOUNCED_H
#define CPI_DAEMON_ANNOUNCED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/os/time_quota.h"
#include "daemon/procmap/images.h"
#include "daemon/procmap/procmap.h"

/*
 * What became of an announcement: the name in the status, and its meaning in cpid(8).
 */
#define ANNOUNCED_FATES(X)                                                             \
	X(KNOWN, "known")               /* the process map already had it */           \
	X(TAKEN, "taken")               /* it was true; now the process map has it */  \
	X(MALFORMED, "malformed")       /* refused, like all that follow: not sound */ \
	X(RATE, "rate")                 /* the process's time quota is used up */      \
	X(GONE, "gone")                 /* the process has ended, or cannot be read */ \
	X(STALE, "stale")               /* the process runs another program now */     \
	X(NOT_MAPPED, "not_mapped")     /* the process has no such mapping */          \
	X(STILL_MAPPED, "still_mapped") /* an object that was "unloaded" is mapped */  \
	X(BUILD_ID, "build_id")         /* the mapped file has another build id */

enum announced_fate {
#define ANNOUNCED_FATE_ENUM(name, text) ANNOUNCED_##name,
	ANNOUNCED_FATES(ANNOUNCED_FATE_ENUM)
#undef ANNOUNCED_FATE_ENUM
		NR_ANNOUNCED_FATES
};

/* The first fate that is a refusal. */
#define ANNOUNCED_REFUSED ANNOUNCED_MALFORMED

#define ANNOUNCED_SLOTS 1024 /* by a hash of the process id */

struct announced {
	struct procmap *procmap;
	struct images *images;
	struct time_quota by_process[ANNOUNCED_SLOTS];
	/* How many announcements had each fate; RATE counts whole datagrams. */
	uint64_t nr[NR_ANNOUNCED_FATES];
};

/* What the kernel says about a datagram. */
struct announced_source {
	uint32_t tgid;
	uint64_t when_ns; /* sent, monotonic */
	bool in_gap;      /* mapping records of that time may be lost */
};

/*
 * Takes one datagram. The caller has read all mapping records up to now. Reads
 * /proc/PID/maps at most once, and not at all if the process has used up its time
 * quota.
 */
void announced_take(struct announced *s, const struct announced_source *from,
		    const void *data, size_t size);

const char *announced_fate_name(enum announced_fate fate);

#endif
