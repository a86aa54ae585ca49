/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unwind.h - the parts of cpi-unwind
 *
 * A server without privileges that parses nothing (unwind_main.c) forks a worker. The
 * worker locks itself in (sandbox.c) and serves the collector until the collector asks
 * for another one. unwind_worker.c takes messages, and unwind_cache.c keeps the tables
 * of images.
 */
#ifndef CPI_HELPERS_UNWIND_H
#define CPI_HELPERS_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/unwind.h"
#include "helpers/sandbox.h"

#define UNWIND_USER "cpi-unwind"
#define UNWIND_NICE 10 /* at 19 it would starve on a busy machine */

enum unwind_fd {
	UNWIND_FD_WORK = SANDBOX_FD,
	UNWIND_FD_IMAGES,
};

struct unwind_worker;

/* A worker that asks for images on images_fd. NULL when out of memory. */
struct unwind_worker *unwind_worker_new(int images_fd);
void unwind_worker_free(struct unwind_worker *w); /* accepts NULL */

/* A server_take_fn: takes a message, which is aligned for its numbers. */
int unwind_worker_take(void *worker, const void *message, size_t size,
		       const void **answer, size_t *answer_size);

struct unwindtables;
struct unwindcache;

/* Asks on fd for images that it lacks. NULL when out of memory. */
struct unwindcache *unwindcache_new(int fd);
void unwindcache_free(struct unwindcache *c); /* accepts NULL */

/*
 * The tables of an image; asks for the image the first time. NULL: it has none, or they
 * cannot be read. They stay until unwindcache_shrink() returns true.
 */
const struct unwindtables *unwindcache_get(void *c, uint32_t image);

/* Drops everything if it has become too much; returns whether it did. */
bool unwindcache_shrink(struct unwindcache *c);

#endif
