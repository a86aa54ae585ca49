/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_screen.h - the live view on a terminal, until its user has seen enough
 */
#ifndef CPI_TOOLS_TOP_SCREEN_H
#define CPI_TOOLS_TOP_SCREEN_H

#include "tools/top_feed.h"

/*
 * Looks every interval_ns and shows it, at most looks times (0: for ever), until q is
 * pressed or a signal comes. What is logged meanwhile appears at the end. Returns 0 or
 * a negative error, with the terminal as it was.
 */
int top_screen_run(const struct select_request *select, enum top_by by,
		   struct top_feed *feed, uint64_t interval_ns, uint64_t looks);

#endif
