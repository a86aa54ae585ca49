/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * apart.h - work that may never end, in a process apart
 *
 * A file of another's choice may be read for as long as that one likes (FUSE, a
 * network), and so may another process's memory (userfaultfd): nothing ends the read
 * then, not even SIGKILL. So a copy of this process does it, which has nothing open
 * but its answer, and is left alone when it takes too long.
 *
 * I1  Nobody waits longer than APART_PATIENCE_MS, nor in the long run more than 2 %
 *     of the time.
 * I2  No more than APART_MAX_STUCK of them are left at any time.
 */
#ifndef CPI_DAEMON_APART_H
#define CPI_DAEMON_APART_H

#include <limits.h>
#include <stddef.h>

#include "daemon/ration.h"

#define APART_PATIENCE_MS 200
#define APART_MAX_STUCK   8
#define APART_MAX_ANSWER  (PIPE_BUF - 16)

/* Starts as { 0 }. */
struct apart {
	struct ration ration;
	int stuck[APART_MAX_STUCK]; /* their ends of pipes, + 1 */
};

/* 0 or a negative error; then *answer does not matter. */
typedef int (*apart_fn)(void *ctx, void *answer);

/*
 * What fn(ctx, answer) returns in the process apart; size bytes of the answer
 * come to out when it is 0. Else -errno: -ETIMEDOUT, or -EBUSY when too many do not
 * answer.
 */
int apart_run(struct apart *a, apart_fn fn, void *ctx, void *out, size_t size);

void apart_fini(struct apart *a);

/*
 * The same without a bound but patience_ms, after which it ends if anything can end it:
 * work(ctx, fd) writes as many answers as it likes. Returns the other end of that pipe,
 * the caller's to close, or -errno.
 */
typedef void (*apart_work_fn)(void *ctx, int fd);

int apart_start(apart_work_fn work, void *ctx, unsigned int patience_ms);

#endif
