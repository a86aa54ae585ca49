/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procscan.h - reads from /proc what is mapped now
 *
 * SOSP'97 section 4.3.2: "to obtain image maps for processes already active when the
 * daemon starts, on start-up the daemon scans all active processes". Such a scan also
 * repairs the process map after mapping records were lost.
 *
 * A read of /proc/PID/maps takes a lock that its process may hold for ever. So a timed
 * child reads it (timed_child.h). A process that cannot be read in time has a gap
 * (procmap_give_up()), and so has one with more mappings than are kept.
 */
#ifndef CPI_DAEMON_PROCSCAN_H
#define CPI_DAEMON_PROCSCAN_H

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/procmap/images.h"
#include "daemon/procmap/procmap.h"

/* The result of a scan of all processes. */
struct procscan_result {
	int nr_denied; /* did not let us */
	pid_t denied;  /* the first such process, and its name ("" if not known) */
	char denied_comm[PROCMAP_COMM_SIZE];
	int nr_no_answer; /* not read in time, or their user's share of time was used up
			   */
};

/*
 * Scans all processes and compares them with pm (procmap_verify()). Returns 0 or
 * -errno.
 */
int procscan_all(struct procmap *pm, struct images *im, struct procscan_result *out);

/*
 * Reads the executable mappings of a process, and its name. found begins as { 0 }, and
 * belongs to the caller in any case. Returns 0, -EFBIG for more than PROCMAP_MAX_OWN
 * mappings, or another -errno.
 */
int procscan_read(struct images *im, pid_t tgid, char comm[PROCMAP_COMM_SIZE],
		  struct rangemap *found);

/* Scans one process. Returns 0 or -errno; -ENOENT or -ESRCH if it has ended. */
int procscan_one(struct procmap *pm, struct images *im, pid_t tgid);

/* The same, and waits for up to 2 s: only the profiled process, before samples begin.
 */
int procscan_target(struct procmap *pm, struct images *im, pid_t tgid);

/*
 * Whether a process has memory of memfd_secret(2) mapped, perhaps inherited from its
 * parent. The time of the read is charged to the parent as well (0 if that is not
 * known). Returns 0 or -errno.
 */
int procscan_secret(struct timed_child *a, pid_t tgid, pid_t parent, bool *has_secret);

/*
 * Parses a line of /proc/PID/maps. Returns 0 if the mapping is executable, -ENOENT if
 * it is not, -EINVAL if the line is malformed. name points into the line, which is cut
 * at the newline.
 */
struct procscan_line {
	struct range range; /* bias is set; since and value are not */
	struct image_source source;
	char *name;
};

int procscan_parse(char *line, struct procscan_line *out);

#endif
