/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procscan.h - what /proc says is mapped now
 *
 * SOSP'97 section 4.3.2: "to obtain image maps for processes already active
 * when the daemon starts, on start-up the daemon scans all active processes".
 * Also what mends the process map after mapping events were lost.
 *
 * /proc/PID/maps takes a lock that its process may hold for ever: so a timed child
 * reads it (timed_child.h), and a process that does not let itself be read in time has
 * a gap (procmap_give_up()), as has one with more mappings than are kept.
 */
#ifndef CPI_DAEMON_PROCSCAN_H
#define CPI_DAEMON_PROCSCAN_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/procmap/images.h"
#include "daemon/procmap/procmap.h"

/* What came of a scan of all processes. */
struct procscan_result {
	int nr_denied; /* did not let us */
	pid_t denied;  /* the first of those, and its name, "" if that is unknown */
	char denied_comm[PROCMAP_COMM_SIZE];
	int nr_no_answer; /* not in time, or their user's share of time was used up */
};

/* Scans all processes into pm (procmap_verify) as of now. 0 or -errno. */
int procscan_all(struct procmap *pm, struct images *im, struct procscan_result *out);

/*
 * Reads the executable mappings of one, and its name; found begins as { 0 } and is
 * the caller's in any case. 0 or -errno; -EFBIG when they are more than
 * PROCMAP_MAX_OWN.
 */
int procscan_read(struct images *im, pid_t tgid, char comm[PROCMAP_COMM_SIZE],
		  struct rangemap *found);

/* Scans one. 0 or -errno (-ENOENT, -ESRCH when it is gone). */
int procscan_one(struct procmap *pm, struct images *im, pid_t tgid);

/*
 * Whether a process has memory of memfd_secret(2) mapped, as it may have it from its
 * parent (0: not known), who shares in what the reading costs. 0 or -errno.
 */
int procscan_secret(struct timed_child *a, pid_t tgid, pid_t parent, bool *has_secret);

/*
 * Reads one line of /proc/PID/maps. Returns 0 when it is an executable
 * mapping, -ENOENT when it is another, -EINVAL when it is none. name points
 * into the line, which is cut at the newline.
 */
struct procscan_line {
	struct range range; /* bias set, since and value not */
	struct image_source source;
	char *name;
};

int procscan_parse(char *line, struct procscan_line *out);

#endif
