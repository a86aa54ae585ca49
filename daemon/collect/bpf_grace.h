/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_grace.h - waiting until BPF programs that were running have ended
 */
#ifndef CPI_DAEMON_BPF_GRACE_H
#define CPI_DAEMON_BPF_GRACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How to wait. The first holds for programs that run with interrupts off alone:
 * in interrupts and NMIs. The second is for all.
 */
enum bpf_grace_way { BPF_GRACE_IPI, BPF_GRACE_RCU };

struct bpf_grace;

/* What cannot be had (IPI: Linux 5.10) becomes RCU. Returns 0 or -errno. */
int bpf_grace_open(enum bpf_grace_way way, uint32_t nr_cpus, struct bpf_grace **out);
void bpf_grace_close(struct bpf_grace *g); /* accepts NULL */

/* The way that is gone. */
enum bpf_grace_way bpf_grace_way(const struct bpf_grace *g);

/*
 * Returns 0 when every program that was running on one of the CPUs has ended, and
 * those that begin see what was written before; or -errno.
 */
int bpf_grace_wait(const struct bpf_grace *g);

#endif
