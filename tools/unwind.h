/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - the parts of cpi-unwind
 *
 * A server that has given up its privileges and parses nothing (unwind_main.c) forks a
 * worker, which locks itself in (sandbox.c), and serves its collector until that has
 * another one started. unwind_worker.c takes messages, and unwind_cache.c keeps the
 * tables of images.
 */
#ifndef CPI_TOOLS_UNWIND_H
#define CPI_TOOLS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/unwind.h"
#include "tools/sandbox.h"

#define UNWIND_USER "cpi-unwind"
#define UNWIND_NICE 10 /* on a busy machine 19 would be too little for any rate */

enum unwind_fd {
	UNWIND_FD_WORK = SANDBOX_FD,
	UNWIND_FD_IMAGES,
};

struct unwind_worker;

/* A worker that asks for images on images_fd. NULL when out of memory. */
struct unwind_worker *unwind_worker_new(int images_fd);
void unwind_worker_free(struct unwind_worker *w); /* accepts NULL */

/*
 * Takes a message, which is aligned for its numbers, as it came from a collector. 0
 * with the answer, which is the worker's until it is called again, and of no size where
 * there is none; -EPROTO for a message that may not be: then no more come.
 */
int unwind_worker_take(struct unwind_worker *w, const void *message, size_t size,
		       const void **answer, size_t *answer_size);

struct unwindtables;
struct unwindcache;

/* Asks on fd for what it does not have. NULL when out of memory. */
struct unwindcache *unwindcache_new(int fd);
void unwindcache_free(struct unwindcache *c); /* accepts NULL */

/*
 * The tables of an image, which is asked for the first time; NULL: it has none, or they
 * cannot be had. They stay until unwindcache_shrink() says otherwise.
 */
const struct unwindtables *unwindcache_get(void *c, uint32_t image);

/* Forgets everything where it has become too much; says whether it has. */
bool unwindcache_shrink(struct unwindcache *c);

#endif
