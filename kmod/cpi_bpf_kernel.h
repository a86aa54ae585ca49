/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cpi_bpf_kernel.h - the kernel's declarations that the BPF programs need
 *
 * They replace a vmlinux.h of 130,000 lines, and headers whose place differs between
 * distributions. libbpf finds the fields of internal structures where the running
 * kernel has them (CO-RE); everything else is stable interface.
 */
#ifndef CPI_KMOD_CPI_BPF_KERNEL_H
#define CPI_KMOD_CPI_BPF_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int16_t __s16;
typedef int32_t __s32;
typedef int64_t __s64;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint32_t __wsum;

/* <linux/bpf.h> */
enum {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_RINGBUF = 27
};
enum { BPF_ANY = 0 };
enum { BPF_F_MMAPABLE = 1 << 10 };
enum { BPF_RB_NO_WAKEUP = 1 << 0, BPF_RB_FORCE_WAKEUP = 1 << 1 };
enum bpf_func_id { BPF_FUNC_get_current_task_btf = 158 };

/* <asm/ptrace.h> and <asm/bpf_perf_event.h> */
#if defined(__TARGET_ARCH_x86)
struct cpi_regs {
	uint64_t r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	uint64_t orig_ax, ip, cs, flags, sp, ss;
};
#elif defined(__TARGET_ARCH_arm64)
struct cpi_regs {
	uint64_t regs[31];
	uint64_t sp, pc, pstate;
};
#else
#error "cpi: x86-64 and arm64 only"
#endif

/* <linux/bpf_perf_event.h> */
struct bpf_perf_event_data {
	struct cpi_regs regs;
	uint64_t sample_period;
	uint64_t addr;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct thread_struct {
	unsigned long fsbase;
};
#else
struct cpi_user_words {
	unsigned long tp_value;
};

struct thread_struct {
	struct cpi_user_words uw;
};
#endif

struct mm_struct {
	unsigned long locked_vm; /* pages */
};

struct rq;

struct cfs_rq {
	struct rq *rq; /* per CPU: the variable runqueues */
};

struct sched_entity {
	uint64_t exec_start;       /* until when its CPU time is in sum_exec_runtime */
	uint64_t sum_exec_runtime; /* ns of CPU time until then */
	struct cfs_rq *cfs_rq;     /* of a task that runs; only with group scheduling */
};

struct task_struct {
	int pid; /* of the thread */
	int tgid;
	uint64_t self_exec_id;
	uint64_t start_time; /* monotonic */
	unsigned long nvcsw,
		nivcsw; /* how often it was switched out, by itself and by others */
	struct task_struct *group_leader;
	struct mm_struct *mm;
	struct sched_entity se;
	unsigned int in_execve : 1;
	struct thread_struct thread;
};

struct hrtimer {
	void *function;
};

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task; /* NULL at the end */
};

#pragma clang attribute pop

#endif
