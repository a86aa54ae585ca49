/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop.h - the poll loop: one thread, one event at a time
 *
 * It fetches one event at a time, so a function may remove and free any watch, also
 * another one.
 */
#ifndef CPI_WEB_LOOP_H
#define CPI_WEB_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct watch {
	int fd; /* the owner closes it after loop_remove() */
	void (*fn)(struct watch *w, uint32_t events);
};

struct loop {
	int epoll;
	bool stop; /* set by a watch's function */
};

int loop_init(struct loop *l); /* 0 or -errno */
void loop_fini(struct loop *l);

/*
 * Adds a watch, which the caller owns and keeps in place until it is removed. Returns 0
 * or -errno.
 */
int loop_add(struct loop *l, struct watch *w, uint32_t events);
void loop_remove(struct loop *l, struct watch *w);

/*
 * Waits at most timeout_ms (-1: without limit) and handles one event. Returns 0 or
 * -errno.
 */
int loop_once(struct loop *l, int timeout_ms);

#endif
