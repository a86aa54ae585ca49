/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfmaps.h - the mappings that a recording tells of, as the process map has them
 *
 * No file is opened: what is at a path here and now need not be what was recorded. An
 * image is what the recording says of it, its path and, where it is there, its build
 * id.
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

/* Takes in a record of tasks or mappings, written at a moment; others are ignored. */
void perfmaps_apply(struct perfmaps *m, const struct perf_record *r, uint64_t when_ns);

#endif
