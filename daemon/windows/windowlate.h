/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowlate.h - windows that begin while sampling goes on already
 *
 * The kernel needs half a second of CPU time to verify the BPF program, so loading it
 * first would delay a command, and the samples of the whole system. So a thread loads
 * it later.
 *
 * Events and cpi-translate are opened at once, because a daemon gives up privileges
 * after its start that they may need (kernel.perf_event_paranoid 3), and so that
 * children of a sampled process inherit the events. These are disabled. Their BPF
 * program is a stub with a tail call to nothing. When the real program is loaded, it
 * becomes the callee of the tail call, and all events, including inherited ones, are
 * enabled. If a short command ends before that, it has no windows.
 *
 *	windowlate_new() → windowlate_ready() until it is not -EAGAIN →
 *	windowlate_take(), windowlate_take_translator() → windowlate_start() →
 *	windowlate_free() after the source
 *
 * If the caller frees the struct windowlate before the program is loaded, the thread
 * still finishes loading, and then frees its data. When the process ends, so does the
 * thread.
 */
#ifndef CPI_DAEMON_WINDOWLATE_H
#define CPI_DAEMON_WINDOWLATE_H

#include "daemon/collect/counters.h"
#include "daemon/windows/translate_child.h"
#include "daemon/windows/windowsource.h"

struct windowlate;

/*
 * Opens the events on the CPUs. Without a target (cfg->target), also starts
 * cpi-translate: cpi record, which has one, gives up no privileges. Copies what the
 * thread needs of cfg, whose device is -1 and which has no exclusions. Returns 0 or
 * -errno; nothing is logged.
 */
int windowlate_new(const struct windowsource_config *cfg, const struct cpus *cpus,
		   struct windowlate **out);
void windowlate_free(struct windowlate *wl); /* accepts NULL */

/*
 * Begins to load the program after_ns after windowlate_new(). Returns 0 when it is
 * loaded, -EAGAIN before, or why it cannot be (logged).
 */
int windowlate_ready(struct windowlate *wl, uint64_t after_ns);

/*
 * Returns the source once windowlate_ready() has returned 0. The caller owns it,
 * and must close it before wl.
 */
struct windowsource *windowlate_take(struct windowlate *wl);

/* Returns cpi-translate, which the caller then owns; NULL if it was not started. */
struct translate_child *windowlate_take_translator(struct windowlate *wl);

/*
 * Opens and closes events for CPUs that came or went, before windowlate_start().
 * Returns 0 or the last -errno.
 */
int windowlate_set_cpus(struct windowlate *wl, const struct cpus *cpus);

/*
 * Makes program_fd the callee of the tail call and enables the events. On success
 * the caller owns *out.
 */
int windowlate_start(struct windowlate *wl, int program_fd, struct counters **out);

#endif
