/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_screen.h - the live view on a terminal
 */
#ifndef CPI_TOOLS_TOP_SCREEN_H
#define CPI_TOOLS_TOP_SCREEN_H

#include "report/profile/top_feed.h"

/*
 * Looks every interval_ns and shows the result, until q is pressed, a signal arrives,
 * or after looks looks (0: no limit). Log lines of the meantime appear at the end.
 * Restores the terminal, and returns 0 or a negative error.
 */
int top_screen_run(const struct select_request *select, enum top_by by,
		   struct top_feed *feed, uint64_t interval_ns, uint64_t looks);

#endif
