/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacksampler.h - call stacks from perf rings, beside whatever collects samples
 *
 * A clock of its own at a low rate, whose samples carry the chain of callers that the
 * kernel walks by frame pointers; or of user mode the registers and a copy of the
 * stack, which somebody else unwinds (unwinding.h). Nothing is aggregated in the
 * kernel, so that no two stacks can be taken for one; what a full ring loses is
 * counted.
 */
#ifndef CPI_DAEMON_STACKSAMPLER_H
#define CPI_DAEMON_STACKSAMPLER_H

#include "abi/unwind.h"
#include "daemon/collect/collector.h"

/* A chain as the kernel gave it, leaf first, with PERF_CONTEXT_… between. */
struct chain_sample {
	uint64_t time_ns;
	uint32_t tgid;
	const uint64_t *chain;
	size_t nr;
	unsigned int limit; /* the kernel walks so many frames */
	bool is_copied;     /* what is missing is in a copy of the stack */
	/* Of user mode, where that is copied: arch_native's user_mask; NULL: none. */
	const uint64_t *regs;
	const void *stack; /* from the stack pointer on */
	size_t stack_size;
	/* User mode's frames when they are known, and why there are no more; or NULL.
	 */
	const struct cpi_unwind_frame *frame;
	size_t nr_frames;
	enum cpi_unwind_end end;
};

#define STACKSAMPLER_MAX_COPY 65000 /* bytes; a record has less than 64 KiB */

struct stacksampler_config {
	const struct event *event;
	const uint64_t *period; /* the stream's mean; the owner's */
	struct perftarget target;
	uint32_t copy_bytes; /* of user mode's stack; 0: the kernel walks that */
	int epoll_fd;
	/* Takes a sample, whose memory is the ring's. */
	void (*take)(void *ctx, const struct chain_sample *sample);
	void *ctx;
};

/* Opens the event on the CPUs and starts. 0 or -errno. */
int stacksampler_open(const struct stacksampler_config *cfg, const struct cpus *cpus,
		      struct collector **out);

/* What it hands out goes to take(). Of its counts, pending is 0. */
extern const struct source_ops source_stacks;

#endif
