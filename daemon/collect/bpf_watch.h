/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_watch.h - decides when the BPF collector has something to do
 *
 * The programs' notices (abi/bpf.h) wake the daemon in two cases:
 * - an overflow array is nearly full
 * - the machine was quiet at the last judgement, and since then a CPU has taken
 *   COLLECTOR_QUIET_SAMPLES samples of processes
 * bpf_watch_look() judges the machine at most once a second: it is quiet if no CPU was
 * busy for more than an eighth of the time since the previous judgement. A lost notice
 * does no harm, because each bpf_watch_look() checks the same conditions.
 */
#ifndef CPI_DAEMON_BPF_WATCH_H
#define CPI_DAEMON_BPF_WATCH_H

#include <stdbool.h>

#include "daemon/collect/bpf_table.h"

struct bpf_watch;

/*
 * Adds the notices to epoll_fd. w uses t, which the caller closes after w. Returns 0 or
 * -errno.
 */
int bpf_watch_open(const struct bpf_table *t, uint32_t nr_cpus, int epoll_fd,
		   struct bpf_watch **out);
void bpf_watch_close(struct bpf_watch *w); /* accepts NULL */

/* Reads the pending notices. */
void bpf_watch_take(struct bpf_watch *w);

/*
 * Checks all CPUs. hz is the number of samples per second of a busy CPU. 0 means that
 * it is not known; then the machine never counts as quiet.
 */
void bpf_watch_look(struct bpf_watch *w, double hz);

/* Whether an overflow array was nearly full since the last bpf_watch_emptied(). */
bool bpf_watch_is_full(const struct bpf_watch *w);
void bpf_watch_emptied(struct bpf_watch *w);

bool bpf_watch_is_quiet(const struct bpf_watch *w);

#endif
