/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpi_pair.h - opens and closes pairs of samples (abi/pair.h), for BPF programs
 *
 * Part of kmod/cpi_window.bpf.c, which opens pairs, and of kmod/cpi.bpf.c, which closes
 * them.
 */
#ifndef CPI_KMOD_CPI_PAIR_H
#define CPI_KMOD_CPI_PAIR_H

#include "abi/pair.h"

/*
 * One pair for each CPU. The map belongs to the collector; the program of windows
 * shares it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct cpi_pair_cpu);
} cpi_pairs SEC(".maps");

/* How often a thread was switched out: equal numbers mean that it ran all the time. */
static __always_inline uint64_t cpi_pair_switches(const struct task_struct *task)
{
	return BPF_CORE_READ(task, nvcsw) + BPF_CORE_READ(task, nivcsw);
}

/*
 * The ns for which the hypervisor ran something else on this CPU, since boot; 0 if they
 * are not known. The hypervisor adds them up before the CPU goes on, but the kernel
 * reads them only at its next tick. So they are read where the hypervisor writes them,
 * at a known distance from the run queue of the CPU.
 */
static __always_inline uint64_t cpi_pair_stolen(const struct cpi_pair_cpu *pair,
						const struct task_struct *task)
{
	const int32_t distance = *(const volatile int32_t *)&pair->stolen_at;
	const char *rq;
	uint64_t ns = 0;

	if (!distance || !bpf_core_field_exists(task->se.cfs_rq))
		return 0;
	rq = (const char *)BPF_CORE_READ(task, se.cfs_rq, rq);
	if (!rq || bpf_probe_read_kernel(&ns, sizeof(ns), rq + distance))
		return 0;
	return ns;
}

/*
 * A thread's CPU time, minus the time until which it is accounted for. The difference
 * of two such values, plus the time between them that was not stolen, is the CPU time
 * between them; the distance between the two clocks cancels. The kernel may account for
 * stolen time late. So long pairs of a thread that was switched out are dropped.
 */
static __always_inline uint64_t cpi_pair_ran(const struct task_struct *task)
{
	return BPF_CORE_READ(task, se.sum_exec_runtime) -
	       BPF_CORE_READ(task, se.exec_start);
}

/* Replaces each value by its change. The offsets are constants for the verifier. */
static __always_inline void cpi_pair_subtract(uint64_t *value, const struct cpi_regs *r)
{
#if defined(__TARGET_ARCH_x86)
	value[0] = r->ax - value[0];
	value[1] = r->cx - value[1];
	value[2] = r->dx - value[2];
	value[3] = r->bx - value[3];
	value[4] = r->sp - value[4];
	value[5] = r->bp - value[5];
	value[6] = r->si - value[6];
	value[7] = r->di - value[7];
	value[8] = r->r8 - value[8];
	value[9] = r->r9 - value[9];
	value[10] = r->r10 - value[10];
	value[11] = r->r11 - value[11];
	value[12] = r->r12 - value[12];
	value[13] = r->r13 - value[13];
	value[14] = r->r14 - value[14];
	value[15] = r->r15 - value[15];
#else
#pragma unroll
	for (int i = 0; i < 31; i++)
		value[i] = r->regs[i] - value[i];
	value[31] = r->sp - value[31];
#endif
}

static __always_inline void cpi_pair_drop(struct cpi_pair_cpu *pair,
					  enum cpi_pair_drop why)
{
	pair->counts.dropped[why]++;
	*(volatile uint32_t *)&pair->state = CPI_PAIR_NONE;
}

/*
 * Closes an open pair with these registers of user mode, or drops it if the thread is
 * another one.
 */
static __always_inline void cpi_pair_close(struct cpi_pair_cpu *pair,
					   const struct cpi_regs *regs, uint64_t pc)
{
	const struct task_struct *task = (void *)bpf_get_current_task();
	const uint64_t elapsed = bpf_ktime_get_ns() - pair->record.time;
	const bool switched = cpi_pair_switches(task) != pair->switches;
	const uint64_t stolen = cpi_pair_stolen(pair, task) - pair->stolen;
	uint64_t ns = elapsed - stolen;

	if (switched)
		ns += cpi_pair_ran(task) - pair->ran;
	if ((uint32_t)BPF_CORE_READ(task, pid) != pair->record.tid || ns > elapsed ||
	    (switched && elapsed > CPI_PAIR_MAX_NS)) {
		cpi_pair_drop(pair, CPI_PAIR_DROP_SWITCHED);
		return;
	}
	if (ns < CPI_PAIR_MIN_NS)
		return;
	pair->counts.stolen_ns += stolen;
	pair->record.ns = ns;
	pair->record.to = pc;
	cpi_pair_subtract(pair->record.change, regs);
	*(volatile uint32_t *)&pair->state = CPI_PAIR_CLOSED;
}

#endif
