/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfmaps.h - builds the process map from the mapping records of a recording
 *
 * No file is opened, because the file at a path may not be the one that was recorded.
 * An image is identified by its path, and by its build id if the recording has it.
 */
#ifndef CPI_DAEMON_PERFMAPS_H
#define CPI_DAEMON_PERFMAPS_H

#include "base/rangemap.h"
#include "daemon/procmap/images.h"
#include "daemon/import/perfdata.h"
#include "daemon/procmap/procmap.h"

struct perfmaps {
	struct images *images;
	struct procmap *procmap;
	struct rangemap kernel; /* values are images */
	const struct perfdata_info *info;
};

/* Gets the recorded kernel's build id; size 0: the recording has none. */
struct image_source perfmaps_kernel_source(const struct perfmaps *m);

/* Applies a record of a task or mapping that was written at when_ns; ignores others. */
void perfmaps_apply(struct perfmaps *m, const struct perf_record *r, uint64_t when_ns);

#endif
