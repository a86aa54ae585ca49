/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox_windows.h - windows as a flush wants them
 */
#ifndef CPI_DAEMON_OUTBOX_WINDOWS_H
#define CPI_DAEMON_OUTBOX_WINDOWS_H

#include "daemon/outbox.h"

/* flush points into the rest, and into the tally. */
struct outbox_window_sets {
	struct flush_windows flush;
	struct flush_stream stream;
	struct flush_loss losses[NR_LOSSES];
	struct windowtally *tally; /* NULL: not taken over yet */
};

/* The tally stays its owner's until tally is set. 0 or -ENOMEM. */
int outbox_window_sets_new(const struct outbox_windows *in,
			   struct outbox_window_sets **out);
void outbox_window_sets_free(struct outbox_window_sets *s); /* accepts NULL */

#endif
