/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowsampler.h - windows: what programs executed from random moments on
 *
 * A separate clock interrupts each CPU at a low rate, independent of the collector. At
 * each interrupt a BPF program, or the kernel module, follows the interrupted program
 * forward (kmod/window.h).
 *
 * A window can follow only processes, mappings and pages that are in the kernel side's
 * tables. If one is missing, the window does not begin, or ends early, and its record
 * says what is missing. The daemon then adds it to the tables, for later windows.
 */
#ifndef CPI_DAEMON_WINDOWSAMPLER_H
#define CPI_DAEMON_WINDOWSAMPLER_H

#include "daemon/attribute/attribute.h"
#include "daemon/collect/collector.h"
#include "daemon/windows/windowtally.h"

struct windowsampler_config {
	const struct event *event;
	const uint64_t *period; /* the stream's mean period, in the caller's memory */
	struct perftarget target;
	int device;   /* of the kernel module; -1: there is none */
	int pairs_fd; /* struct windowsource_config */
	int epoll_fd;
	uint64_t max_bytes; /* of shared memory; 0: usual */
	struct attribution *attribution;
	bool with_values; /* also note values of operands */
	bool by_context;  /* also keep windows by the contexts that attribution keeps */
	struct windowtally *const *tally; /* where windows go; the owner's */
	const char *const *exclude;       /* windowexclude.h; the owner's */
	int nr_excluded;
	struct windowlate *late; /* the caller's; NULL: open() loads the program */
	bool is_patient;         /* struct windowsource_config */
};

/*
 * Opens the event on the CPUs and starts. 0 or -errno, logged.
 */
int windowsampler_open(const struct windowsampler_config *cfg, const struct cpus *cpus,
		       struct collector **out);

/*
 * Call this first if windows are to begin while sampling already goes on; it calls
 * windowlate_new(). When *out is ready, pass it to windowsampler_open(). Returns
 * 0; -EOPNOTSUPP if the kernel module makes windows, or if anything is excluded: call
 * windowsampler_open() at once then; or -errno.
 */
int windowsampler_hold(const struct windowsampler_config *cfg, const struct cpus *cpus,
		       struct windowlate **out);

/* In its counts, pending is the number of samples that are not drained yet. */
extern const struct source_ops source_windows;

/*
 * Returns the maximum time in ms until the next drain; 0 means now. unnoticed_ns is the
 * time for which each CPU of a quiet machine may be busy before it wakes the daemon; 0:
 * the machine is not quiet. If the ring cannot become half full in that time, -1 is
 * returned: the next sweep is early enough.
 */
int windowsampler_wait_ms(const struct collector *ws, double unnoticed_ns);

/*
 * Takes records and translated pages, and requests translations; never blocks. Returns
 * the ms until the next call, or -1.
 */
int windowsampler_run(struct collector *ws);

/* The mean time of a window in the interrupt, in ns; 0: not known yet. */
double windowsampler_mean_ns(const struct collector *ws);

/*
 * CPU time of all work on windows so far outside of interrupts: this thread's, the
 * reader's (timed_child.h) and that of cpi-translate, which is a part of it.
 */
uint64_t windowsampler_cpu_ns(const struct collector *ws);
uint64_t windowsampler_translate_ns(const struct collector *ws);

/*
 * Whether the rate can be changed. Then stop the source, flush, change the period, and
 * call windowsampler_restart(), which returns 0 or -errno.
 */
bool windowsampler_has_rate(const struct collector *ws);
int windowsampler_restart(struct collector *ws);

/* The source of windows: "kmod" or "bpf". */
const char *windowsampler_source(const struct collector *ws);

void windowsampler_mark_images(const struct collector *ws);

/* Appends lines "name value" (cpid(8), "STATUS"). */
void windowsampler_status(const struct collector *ws, struct buf *out);

#endif
