/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacksampler.h - samples call stacks with perf rings, beside the collector
 *
 * It uses a separate timer at a low rate. Each sample has the chain of callers that the
 * kernel found by frame pointers; or, for user mode, the registers and a copy of the
 * stack, which unwinding.h unwinds. The kernel aggregates no stacks, so two different
 * stacks are never merged. Samples that a full ring loses are counted.
 */
#ifndef CPI_DAEMON_STACKSAMPLER_H
#define CPI_DAEMON_STACKSAMPLER_H

#include "abi/unwind.h"
#include "daemon/collect/collector.h"

/* A chain as the kernel wrote it, leaf first, with PERF_CONTEXT_… markers. */
struct chain_sample {
	uint64_t time_ns;
	uint32_t tgid;
	const uint64_t *chain;
	size_t nr;
	unsigned int limit; /* the most frames that the kernel walks */
	bool is_copied;     /* the frames of user mode are in a copy of the stack */
	/*
	 * Registers of user mode (arch_native's user_mask), if the stack was copied;
	 * otherwise NULL.
	 */
	const uint64_t *regs;
	const void *stack; /* from the stack pointer on */
	size_t stack_size;
	/*
	 * The frames of user mode after unwinding, and why there are no more; or NULL.
	 */
	const struct cpi_unwind_frame *frame;
	size_t nr_frames;
	enum cpi_unwind_end end;
};

#define STACKSAMPLER_MAX_COPY 65000 /* bytes; a record has less than 64 KiB */

struct stacksampler_config {
	const struct event *event;
	const uint64_t *period; /* mean period of the stream; the caller sets it */
	struct perftarget target;
	uint32_t copy_bytes; /* of the user stack to copy; 0: the kernel walks it */
	int epoll_fd;
	/* Receives a sample, which is valid during the call. */
	void (*take)(void *ctx, const struct chain_sample *sample);
	void *ctx;
};

/* Opens the event on the CPUs and starts it. Returns 0 or -errno. */
int stacksampler_open(const struct stacksampler_config *cfg, const struct cpus *cpus,
		      struct collector **out);

/*
 * The source of call stacks: it passes samples to take(). In its counts, pending is 0.
 */
extern const struct source_ops source_stacks;

#endif
