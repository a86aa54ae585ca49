/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stated.h - what a process says of its own mappings, and what is true of it
 *
 * A statement is a hint where to look, no more: all that goes into the process map
 * comes from /proc/PID/maps of the process that the kernel says has spoken. Of what
 * the map has from mapping records already nothing is asked again.
 */
#ifndef CPI_DAEMON_STATED_H
#define CPI_DAEMON_STATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/images.h"
#include "daemon/procmap.h"
#include "daemon/ration.h"

/* What becomes of a statement: name in the status, and what cpid(8) says of it. */
#define STATED_FATES(X)                                                              \
	X(KNOWN, "known")           /* the process map had it already */             \
	X(TAKEN, "taken")           /* it was true, the process map has it now */    \
	X(MALFORMED, "malformed")   /* refused, as are the following: no sense */    \
	X(RATE, "rate")             /* the process takes too much of our time */     \
	X(GONE, "gone")             /* the process cannot be looked at (any more) */ \
	X(STALE, "stale")           /* another program runs there now */             \
	X(NOT_MAPPED, "not_mapped") /* the process has no such mapping */            \
	X(STILL_MAPPED, "still_mapped") /* what was unloaded is there */             \
	X(BUILD_ID, "build_id")         /* the mapped file has another build id */

enum stated_fate {
#define STATED_FATE_ENUM(name, text) STATED_##name,
	STATED_FATES(STATED_FATE_ENUM)
#undef STATED_FATE_ENUM
		NR_STATED_FATES
};

/* The first that is a refusal. */
#define STATED_REFUSED STATED_MALFORMED

#define STATED_SLOTS 1024 /* processes share one where they are more */

struct stated {
	struct procmap *procmap;
	struct images *images;
	struct ration by_process[STATED_SLOTS];
	/* Statements, by what became of them; datagrams that were not looked at. */
	uint64_t nr[NR_STATED_FATES];
};

/* What the kernel says of a datagram. */
struct stated_source {
	uint32_t tgid;
	uint64_t when_ns; /* sent, monotonic */
	bool in_gap;      /* mapping records of then may be missing */
};

/*
 * Takes one datagram. Mapping records up to now have been read. Reads at most one
 * /proc/PID/maps, and nothing at all for a process that has had its share of time.
 */
void stated_take(struct stated *s, const struct stated_source *from, const void *data,
		 size_t size);

const char *stated_fate_name(enum stated_fate fate);

#endif
