/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_watch.h - when the BPF collector has something to do
 *
 * The programs' notices (abi/bpf.h) wake the daemon: when an overflow array is
 * nearly full, and when samples of processes come after a time without. Such a time
 * is quiet: no CPU has worked for an eighth of it. Nothing rests on a notice: what
 * it says is looked at in each bpf_watch_look() as well.
 */
#ifndef CPI_DAEMON_BPF_WATCH_H
#define CPI_DAEMON_BPF_WATCH_H

#include <stdbool.h>

#include "daemon/collect/bpf_table.h"

struct bpf_watch;

/* The table stays the caller's; epoll_fd gets what wakes. 0 or -errno. */
int bpf_watch_open(const struct bpf_table *t, uint32_t nr_cpus, int epoll_fd,
		   struct bpf_watch **out);
void bpf_watch_close(struct bpf_watch *w); /* accepts NULL */

/* Takes in the notices that there are. */
void bpf_watch_take(struct bpf_watch *w);

/*
 * Looks at all CPUs; hz is how many samples a working CPU has per second, 0 where
 * that is not known: then no time is quiet.
 */
void bpf_watch_look(struct bpf_watch *w, double hz);

/* Whether an overflow array was nearly full, since it was last said to be emptied. */
bool bpf_watch_is_full(const struct bpf_watch *w);
void bpf_watch_emptied(struct bpf_watch *w);

bool bpf_watch_is_quiet(const struct bpf_watch *w);

#endif
