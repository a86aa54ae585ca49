// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi_newprogram.bpf.c - tells the daemon that a program runs that has not run before
 *
 * The file of such a program may be gone soon, so the daemon opens it at once. All
 * other execs, which are nearly all, do not wake the daemon. By its inode, generation,
 * size and time of change a file counts as new also if it has the number of a deleted
 * file, or was overwritten.
 *
 * At most one notice is sent in CPI_NEWPROGRAM_QUIET_NS. The daemon reads mapping
 * events once more this long after each notice, so a program that sent none is seen
 * then.
 */
#include "kmod/cpi_bpf_kernel.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "abi/newprogram.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct super_block {
	__u32 s_dev;
};

struct inode {
	unsigned long i_ino;
	struct super_block *i_sb;
	__u32 i_generation;
	__s64 i_size;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

/* The time of change: up to Linux 6.5, up to 6.10, and since then. */
struct inode___to_6_5 {
	struct timespec64 i_ctime;
};

struct inode___to_6_10 {
	struct timespec64 __i_ctime;
};

struct inode___since_6_11 {
	__s64 i_ctime_sec;
	__u32 i_ctime_nsec;
};

struct file {
	struct inode *f_inode;
};

struct linux_binprm {
	struct file *file;
};

#pragma clang attribute pop

/* Above the nanoseconds the kernel marks a time that was asked for. */
#define NSEC_MASK ((1u << 30) - 1)

struct program {
	uint64_t inode;
	uint32_t device, generation;
	uint64_t size;
	uint64_t changed_s, changed_ns; /* its status */
};

/* The programs that ran last. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct program);
	__type(value, uint8_t);
} cpi_programs SEC(".maps");

/* Of struct cpi_newprogram_notice; its size is the loader's. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
} cpi_new_programs SEC(".maps");

uint64_t told_ns; /* the time of the last notice */

static __always_inline void read_change(const struct inode *inode, struct program *p)
{
	const struct inode___since_6_11 *since_6_11 = (const void *)inode;
	const struct inode___to_6_10 *to_6_10 = (const void *)inode;
	const struct inode___to_6_5 *to_6_5 = (const void *)inode;

	if (bpf_core_field_exists(since_6_11->i_ctime_sec)) {
		p->changed_s = BPF_CORE_READ(since_6_11, i_ctime_sec);
		p->changed_ns = BPF_CORE_READ(since_6_11, i_ctime_nsec) & NSEC_MASK;
	} else if (bpf_core_field_exists(to_6_10->__i_ctime)) {
		p->changed_s = BPF_CORE_READ(to_6_10, __i_ctime.tv_sec);
		p->changed_ns = BPF_CORE_READ(to_6_10, __i_ctime.tv_nsec);
	} else if (bpf_core_field_exists(to_6_5->i_ctime)) {
		p->changed_s = BPF_CORE_READ(to_6_5, i_ctime.tv_sec);
		p->changed_ns = BPF_CORE_READ(to_6_5, i_ctime.tv_nsec);
	}
}

/* The event's arguments: the task, its former thread id, and the program. */
SEC("tp_btf/sched_process_exec")
int cpi_new_program(const uint64_t *args)
{
	const struct linux_binprm *bprm = (const struct linux_binprm *)args[2];
	const struct inode *inode = BPF_CORE_READ(bprm, file, f_inode);
	struct cpi_newprogram_notice notice;
	struct program p = { 0 };
	uint8_t seen = 1;

	p.inode = BPF_CORE_READ(inode, i_ino);
	p.device = BPF_CORE_READ(inode, i_sb, s_dev);
	p.generation = BPF_CORE_READ(inode, i_generation);
	p.size = BPF_CORE_READ(inode, i_size);
	read_change(inode, &p);
	if (bpf_map_lookup_elem(&cpi_programs, &p))
		return 0;
	bpf_map_update_elem(&cpi_programs, &p, &seen, BPF_ANY);
	notice.time_ns = bpf_ktime_get_ns();
	notice.inode = p.inode;
	if (notice.time_ns - told_ns < CPI_NEWPROGRAM_QUIET_NS)
		return 0;
	told_ns = notice.time_ns;
	bpf_ringbuf_output(&cpi_new_programs, &notice, sizeof(notice),
			   BPF_RB_FORCE_WAKEUP);
	return 0;
}

char _license[] SEC("license") = "GPL";
