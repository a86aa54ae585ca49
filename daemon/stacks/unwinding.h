/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwinding.h - turns copied registers and stacks into call chains, with cpi-unwind
 *
 * Samples are sent to cpi-unwind (abi/unwind.h), with the mappings of their process,
 * and are pending until their chain comes. Only unwinding_finish() waits for chains.
 * Files of processes are read within the limits of timed_child.h. Lost samples are
 * counted by reason: there was no room for them (full), or no worker (died). If a
 * worker ends or does not answer, its pending samples are lost, and another worker
 * is started: after 1 s, after each further failure twice as long, at most 64 s.
 * Samples that come meanwhile are lost, too.
 *
 * I1  Samples added = samples passed to take() + lost + pending.
 * I2  At most UNWINDING_MAX_PENDING samples are pending, and a sample is accepted
 *     only while less than UNWINDING_MAX_BYTES of messages wait.
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
	/*
	 * Receives a sample with its frames, or a sample that has only kernel frames.
	 */
	void (*take)(void *ctx, const struct chain_sample *sample);
	void *ctx;
};

struct unwinding;

/*
 * Starts cpi-unwind; call it before privileges are given up. Errors are logged. Returns
 * 0 or -errno.
 */
int unwinding_open(const struct unwinding_config *cfg, struct unwinding **out);
void unwinding_close(struct unwinding *u); /* accepts NULL */

/* For take of struct stacksampler_config; ctx is a struct unwinding. */
void unwinding_add(void *ctx, const struct chain_sample *sample);

/*
 * Passes on the chains that have come. Returns after how many milliseconds to call it
 * again, or -1.
 */
int unwinding_run(struct unwinding *u);

/*
 * Waits until no sample is pending; samples that are still pending after max_ns are
 * lost.
 */
void unwinding_finish(struct unwinding *u, uint64_t max_ns);

/* The time of the oldest pending sample; UINT64_MAX: there is none. */
uint64_t unwinding_oldest_ns(const struct unwinding *u);

/* Drops all references to images. Call it before images are swept. */
void unwinding_forget_images(struct unwinding *u);

/* Counts since unwinding_open(), except pending. */
struct unwinding_counts {
	uint64_t pending;
	uint64_t full; /* lost: there was no room */
	uint64_t died; /* lost: there was no worker, or it ended */
	uint64_t done, nr_images, nr_died;
	uint64_t end[CPI_UNWIND_NR_ENDS];
};

const struct unwinding_counts *unwinding_counts(const struct unwinding *u);

/* Whether there is a worker. */
bool unwinding_runs(const struct unwinding *u);

#endif
