/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwinding.h - from copied registers and stacks to call chains, in a timed child
 *
 * Samples go to cpi-unwind (abi/unwind.h) with what their process has mapped, and wait
 * for their chains. Nothing here waits. What there is no room for, and what waited when
 * a worker died or did not answer, is lost by name; another worker is started, the
 * later the more often that was.
 *
 * I1  Samples added = samples handed out + lost + pending.
 * I2  At most UNWINDING_MAX_PENDING samples are pending, and UNWINDING_MAX_BYTES of
 *     messages wait.
 */
#ifndef CPI_DAEMON_UNWINDING_H
#define CPI_DAEMON_UNWINDING_H

#include "daemon/jit/jit.h"
#include "daemon/procmap/images.h"
#include "daemon/procmap/procmap.h"
#include "daemon/stacks/stacksampler.h"

#define UNWINDING_MAX_PENDING 4096
#define UNWINDING_MAX_BYTES   (16u << 20)

struct unwinding_config {
	struct images *images;
	struct procmap *procmap;
	struct jit *jit;
	int epoll_fd; /* becomes readable when unwinding_run() has something to do */
	/* Takes a sample with its frames, or one that is of the kernel alone. */
	void (*take)(void *ctx, const struct chain_sample *sample);
	void *ctx;
};

struct unwinding;

/* Starts cpi-unwind: before privileges are given up. What is wrong is logged. 0, or
 * -errno. */
int unwinding_open(const struct unwinding_config *cfg, struct unwinding **out);
void unwinding_close(struct unwinding *u); /* accepts NULL */

/* stacksampler_config's; ctx is a struct unwinding. */
void unwinding_add(void *ctx, const struct chain_sample *sample);

/*
 * Hands out what came. Returns in how many milliseconds it wants to run again, or -1.
 */
int unwinding_run(struct unwinding *u);

/* Goes on until nothing is pending: what still is after max_ns is lost. */
void unwinding_finish(struct unwinding *u, uint64_t max_ns);

/* When the oldest sample that is pending was taken; UINT64_MAX: there is none. */
uint64_t unwinding_oldest_ns(const struct unwinding *u);

/* Images may go after this: before they are swept. */
void unwinding_forget_images(struct unwinding *u);

/* Since it was opened, but for pending. */
struct unwinding_counts {
	uint64_t pending;
	uint64_t full, died; /* lost: there was no room; their worker died */
	uint64_t done, nr_images, nr_died;
	uint64_t end[CPI_UNWIND_NR_ENDS];
};

const struct unwinding_counts *unwinding_counts(const struct unwinding *u);

/* Whether there is a worker. */
bool unwinding_runs(const struct unwinding *u);

#endif
