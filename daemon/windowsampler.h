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

#include "daemon/anchors.h"
#include "daemon/attribute.h"
#include "daemon/collector.h"
#include "daemon/windowtally.h"

struct windowsampler_config {
	const struct event *event;
	const uint64_t *period; /* the stream's mean; the owner's */
	pid_t target;           /* -1: the whole system */
	int device;             /* of the kernel module; -1: there is none */
	int epoll_fd;
	uint64_t max_bytes; /* of shared memory */
	struct attribution *attribution;
	const char *const *exclude; /* windowexclude.h; the owner's */
	int nr_excluded;
	struct anchors *anchors; /* told of threads, and of what is called; or NULL */
};

struct windowsampler;

/*
 * Opens the event on the CPUs and starts. Logs why that is not possible. 0 or -errno.
 */
int windowsampler_open(const struct windowsampler_config *cfg, const struct cpus *cpus,
		       struct windowsampler **out);
void windowsampler_close(struct windowsampler *ws); /* accepts NULL */

/* In how many ms at the latest there is something to drain; 0: now. */
int windowsampler_wait_ms(const struct windowsampler *ws);

/* As the collector's: between the two, the owner reads the mapping events. */
void windowsampler_snapshot(struct windowsampler *ws);
void windowsampler_drain(struct windowsampler *ws, struct windowtally *to);

/* Looks for who is new, and has code translated, as far as it comes without waiting. */
void windowsampler_run(struct windowsampler *ws);

/* pending is what was received and not drained yet. */
void windowsampler_counts(const struct windowsampler *ws, struct collector_counts *out);

/* What an interrupt's window takes, in ns; 0: that is not known yet. */
double windowsampler_mean_ns(const struct windowsampler *ws);

/* Who makes them: "kmod" or "bpf". */
const char *windowsampler_source(const struct windowsampler *ws);

void windowsampler_randomise(struct windowsampler *ws);
int windowsampler_set_cpus(struct windowsampler *ws, const struct cpus *cpus);
void windowsampler_stop(struct windowsampler *ws); /* drain once more */
void windowsampler_mark_images(const struct windowsampler *ws);

/* Appends lines "name value" (cpid(8), "STATUS"). */
void windowsampler_status(const struct windowsampler *ws, struct buf *out);

#endif
