/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_windows_none.c - a stub for builds without windows
 */
#include "config.h"

#include "base/log.h"
#include "daemon/session/session_private.h"

static int open_none(struct session *s, struct sampler **out)
{
	(void)out;
	if (s->cfg.windows.hz > 0)
		log_info("windows: not available: this build does not have them: "
			 "HACKING.md lists what they need");
	return 0;
}

const struct sampler_ops sampler_windows = {
	.name = "windows",
	.open = open_none,
};
