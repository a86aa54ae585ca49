/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bpf_grace.c - waits until running BPF programs have ended
 *
 * By IPI: an empty program is run on each CPU (bpf_prog_test_run_raw_tp(), Linux 5.10).
 * The kernel runs it in the handler of an IPI, and waits for the handler.
 *
 * I1  A program that runs with interrupts off has ended before its CPU takes an IPI
 *     that was sent in the meantime.
 * I2  A program in an NMI may begin after the CPU took the IPI. (a) It begins before
 *     the handler takes the request from the CPU's queue: the NMI interrupts the
 *     handler, so the program ends before the handler goes on and answers. (b) It
 *     begins later: it sees everything that was written before the request was queued,
 *     because queuing is a release operation, and taking an acquire operation.
 * I3  When the IPI is answered, the program's writes can be read: answering is a
 *     release, and waiting for the answer an acquire.
 * I4  The waiting thread's own CPU gets no IPI. While the thread runs, no interrupt's
 *     program is running there.
 * I5  perf removes a CPU's events before the CPU goes offline, so an offline CPU runs
 *     no program. If it comes online later, its programs see all writes made before
 *     bpf_grace_wait(): the daemon executes a full barrier between these writes and its
 *     check whether the CPU is online, and the kernel executes one between coming
 *     online and the first event.
 *
 * This takes microseconds. I1 does not hold for a program that can be interrupted:
 * programs of software events run in tasks and in system calls, with interrupts on.
 *
 * By RCU: programs run in an RCU read-side section with preemption off, so
 * synchronize_rcu() waits for them. The kernel calls it in every update of a map
 * of maps, to wait for running programs (maybe_wait_bpf_programs(), Linux 4.19).
 * It takes about 10 ms, because each CPU must schedule or sleep. membarrier(2)
 * also calls synchronize_rcu() in the end, but does not promise that, and fails
 * with nohz_full; its expedited commands skip CPUs that run other processes.
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
	int outer_fd; /* a map of maps, and the map in it */
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
	/* I5: a CPU that is found offline will see everything that was written. */
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
