/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * platform.h - the machine that we run on
 */
#ifndef CPI_DAEMON_PLATFORM_H
#define CPI_DAEMON_PLATFORM_H

#include "db/profile/model.h"

struct platform {
	struct platform_desc desc; /* its strings point into this struct */
	char host[256], arch[65], release[65], cpu[128], boot_id[64];
	double announced_hz; /* for clockrate_read() */
};

/*
 * Fills in what can be found out, except desc.clock_hz; what cannot is "" or 0.
 */
void platform_read(struct platform *p);

#endif
