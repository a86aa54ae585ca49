/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procscan.h - what /proc says is mapped now
 *
 * SOSP'97 section 4.3.2: "to obtain image maps for processes already active
 * when the daemon starts, on start-up the daemon scans all active processes".
 * Also what mends the process map after mapping events were lost.
 */
#ifndef CPI_DAEMON_PROCSCAN_H
#define CPI_DAEMON_PROCSCAN_H

#include <sys/types.h>

#include "daemon/images.h"
#include "daemon/procmap.h"

/*
 * Scans all processes into pm (procmap_verify) as of now; *nr_denied is how
 * many did not let us. 0 or -errno.
 */
int procscan_all(struct procmap *pm, struct images *im, int *nr_denied);

/*
 * Reads the executable mappings of one, and its name; found begins as { 0 } and is
 * the caller's in any case. 0 or -errno.
 */
int procscan_read(struct images *im, pid_t tgid, char comm[PROCMAP_COMM_SIZE],
		  struct rangemap *found);

/* Scans one. 0 or -errno (-ENOENT, -ESRCH when it is gone). */
int procscan_one(struct procmap *pm, struct images *im, pid_t tgid);

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
