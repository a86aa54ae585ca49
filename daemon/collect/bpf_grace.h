/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_grace.h - waits until running BPF programs have ended
 */
#ifndef CPI_DAEMON_BPF_GRACE_H
#define CPI_DAEMON_BPF_GRACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * How to wait. BPF_GRACE_IPI is enough for programs that run only in interrupts and
 * NMIs, with interrupts off. BPF_GRACE_RCU is enough for all programs.
 */
enum bpf_grace_way { BPF_GRACE_IPI, BPF_GRACE_RCU };

struct bpf_grace;

/* Uses RCU if IPI is not available (before Linux 5.10). Returns 0 or -errno. */
int bpf_grace_open(enum bpf_grace_way way, uint32_t nr_cpus, struct bpf_grace **out);
void bpf_grace_close(struct bpf_grace *g); /* accepts NULL */

/* Returns the way that is used. */
enum bpf_grace_way bpf_grace_way(const struct bpf_grace *g);

/*
 * Waits until every program that was running on any of the CPUs has ended.
 * Programs that begin after that see everything that the caller wrote before the
 * call. Returns 0 or -errno.
 */
int bpf_grace_wait(const struct bpf_grace *g);

#endif
