/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowsampler.h - windows: what programs executed from random moments on
 *
 * A clock of its own at a low rate, beside whatever collects samples; at each of its
 * interrupts a BPF program, or the kernel module, follows the interrupted one forward
 * (kmod/window.h). What it needs to know of processes and their code comes when windows
 * were without it.
 */
#ifndef CPI_DAEMON_WINDOWSAMPLER_H
#define CPI_DAEMON_WINDOWSAMPLER_H

#include "daemon/attribute/attribute.h"
#include "daemon/collect/collector.h"
#include "daemon/windows/windowtally.h"

struct windowsampler_config {
	const struct event *event;
	const uint64_t *period; /* the stream's mean; the owner's */
	struct perftarget target;
	int device; /* of the kernel module; -1: there is none */
	int epoll_fd;
	uint64_t max_bytes; /* of shared memory */
	struct attribution *attribution;
	bool by_context; /* sets of the contexts that attribution has, too */
	struct windowtally *const *tally; /* where windows go; the owner's */
	const char *const *exclude;       /* windowexclude.h; the owner's */
	int nr_excluded;
};

/*
 * Opens the event on the CPUs and starts. Logs why that is not possible. 0 or -errno.
 */
int windowsampler_open(const struct windowsampler_config *cfg, const struct cpus *cpus,
		       struct collector **out);

/* Of its counts, pending is what was received and not drained yet. */
extern const struct source_ops source_windows;

/* In how many ms at the latest there is something to drain; 0: now. */
int windowsampler_wait_ms(const struct collector *ws);

/* Looks for who is new, and has code translated, as far as it comes without waiting. */
void windowsampler_run(struct collector *ws);

/* What an interrupt's window takes, in ns; 0: that is not known yet. */
double windowsampler_mean_ns(const struct collector *ws);

/* Who makes them: "kmod" or "bpf". */
const char *windowsampler_source(const struct collector *ws);

void windowsampler_mark_images(const struct collector *ws);

/* Appends lines "name value" (cpid(8), "STATUS"). */
void windowsampler_status(const struct collector *ws, struct buf *out);

#endif
