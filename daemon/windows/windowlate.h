/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowlate.h - windows that begin while the target already runs
 *
 * The kernel takes half a second of CPU time to verify the BPF program of windows, so a
 * command would begin that much later, and a short one is over before. Instead the
 * clock's events are opened first, stopped, with a program of one tail call, whose
 * target is missing. What the command forks inherits these events. After a while a
 * thread loads the real program; then it becomes the tail call's target, and the events
 * start, those that were inherited as well.
 *
 *	windowlate_new() → windowlate_ready() until it is not -EAGAIN →
 *	windowlate_take() → windowlate_start() → windowlate_free() after the source
 *
 * If it is freed before the program is loaded, the thread goes on alone and frees what
 * it has; the end of the process ends it at once.
 */
#ifndef CPI_DAEMON_WINDOWLATE_H
#define CPI_DAEMON_WINDOWLATE_H

#include "daemon/collect/counters.h"
#include "daemon/windows/windowsource.h"

struct windowlate;

/*
 * Opens the events on the CPUs. Copies what the thread needs of cfg, which must have no
 * module's device and no exclusions. Returns 0 or -errno; nothing is logged.
 */
int windowlate_new(const struct windowsource_config *cfg, const struct cpus *cpus,
		   struct windowlate **out);
void windowlate_free(struct windowlate *wl); /* accepts NULL */

/*
 * Begins to load the program after_ns after windowlate_new(). Returns 0 when it is
 * loaded, -EAGAIN before, or why it cannot be (logged).
 */
int windowlate_ready(struct windowlate *wl, uint64_t after_ns);

/* When ready: the source, which is the caller's from now on and closed before wl. */
struct windowsource *windowlate_take(struct windowlate *wl);

/*
 * Starts the events with that program. Returns 0 or -errno. The events are the caller's
 * then: *out.
 */
int windowlate_start(struct windowlate *wl, int program_fd, struct counters **out);

#endif
