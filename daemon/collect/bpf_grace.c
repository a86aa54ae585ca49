/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_grace.c - waiting until BPF programs that were running have ended
 *
 * By IPI: a program that does nothing is run on each CPU, which the kernel does in
 * the handler of an IPI that it waits for (bpf_prog_test_run_raw_tp(), Linux 5.10).
 *
 * I1  A program that runs with interrupts off has ended before its CPU takes an
 *     IPI that was sent meanwhile.
 * I2  One that runs in an NMI may begin after the CPU took the IPI. Either it does
 *     so before the IPI's request is taken from the CPU's queue: then it has ended
 *     when that goes on, which is before the request is answered. Or it comes
 *     later: then it sees all that was written before the request was queued, for
 *     queuing releases and taking acquires.
 * I3  What the program wrote can be read when the IPI is answered: answering
 *     releases, waiting for the answer acquires.
 * I4  On the waiting thread's own CPU there is no IPI. No interrupt's program is
 *     amid its work there while the thread runs.
 * I5  A CPU that is offline runs no program: perf has taken its events off it
 *     before. When it comes back it sees all that was written before: there is a
 *     barrier between that and our look, as there is between its being online and
 *     its first event.
 *
 * It takes microseconds. A program that can be interrupted breaks I1: those of
 * software events run in tasks and in system calls, with interrupts on.
 *
 * By RCU: programs run with preemption off, inside an RCU read-side section, so
 * synchronize_rcu() waits for them. The kernel calls it in every update of a map of
 * maps, which says that it waits for running programs (maybe_wait_bpf_programs(),
 * Linux 4.19). It takes some 10 ms, for each CPU has to go through its scheduler or
 * to sleep. membarrier(2) ends in the same call, but does not promise it, and
 * refuses nohz_full; its expedited kinds miss CPUs that run other processes.
 */
#include "config.h"

#include "daemon/collect/bpf_grace.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

struct bpf_grace {
	enum bpf_grace_way way;
	uint32_t nr_cpus;
	int nop_fd;   /* a program */
	int outer_fd; /* a map of maps, and the one that is in it */
	int inner_fd;
};

static int load_nop(struct bpf_grace *g)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	g->nop_fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "cpi_nop", "GPL", code,
				  sizeof(code) / sizeof(code[0]), NULL);
	return g->nop_fd < 0 ? g->nop_fd : 0;
}

static int create_maps(struct bpf_grace *g)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts);

	g->inner_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "cpi_grace", 4, 4, 1, NULL);
	if (g->inner_fd < 0)
		return g->inner_fd;
	opts.inner_map_fd = g->inner_fd;
	g->outer_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "cpi_graces", 4, 4, 1,
				     &opts);
	return g->outer_fd < 0 ? g->outer_fd : 0;
}

static int wait_by_ipi(const struct bpf_grace *g)
{
	/* I5: a CPU is seen to be offline only if it will see what was written. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (uint32_t cpu = 0; cpu < g->nr_cpus; cpu++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts, .flags = BPF_F_TEST_RUN_ON_CPU,
			    .cpu = cpu);
		int err = bpf_prog_test_run_opts(g->nop_fd, &opts);

		if (err && err != -ENXIO) /* I5 */
			return err;
	}
	return 0;
}

static int wait_by_rcu(const struct bpf_grace *g)
{
	const uint32_t key = 0;

	return bpf_map_update_elem(g->outer_fd, &key, &g->inner_fd, BPF_ANY);
}

int bpf_grace_open(enum bpf_grace_way way, uint32_t nr_cpus, struct bpf_grace **out)
{
	struct bpf_grace *g = calloc(1, sizeof(*g));
	int err;

	if (!g)
		return -ENOMEM;
	g->way = way;
	g->nr_cpus = nr_cpus;
	g->nop_fd = g->outer_fd = g->inner_fd = -1;
	if (way == BPF_GRACE_IPI && (load_nop(g) || wait_by_ipi(g)))
		g->way = BPF_GRACE_RCU;
	err = create_maps(g);
	if (err) {
		bpf_grace_close(g);
		return err;
	}
	*out = g;
	return 0;
}

void bpf_grace_close(struct bpf_grace *g)
{
	if (!g)
		return;
	if (g->nop_fd >= 0)
		close(g->nop_fd);
	if (g->outer_fd >= 0)
		close(g->outer_fd);
	if (g->inner_fd >= 0)
		close(g->inner_fd);
	free(g);
}

enum bpf_grace_way bpf_grace_way(const struct bpf_grace *g)
{
	return g->way;
}

int bpf_grace_wait(const struct bpf_grace *g)
{
	if (g->way == BPF_GRACE_IPI && !wait_by_ipi(g))
		return 0;
	return wait_by_rcu(g);
}
