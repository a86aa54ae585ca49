/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loop.h - waits for descriptors: one thread, one event at a time
 *
 * One event at a time, so that a function may remove and free any watch, also another
 * one's.
 */
#ifndef CPI_WEB_LOOP_H
#define CPI_WEB_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct watch {
	int fd; /* not the loop's: its owner closes it after loop_remove() */
	void (*fn)(struct watch *w, uint32_t events);
};

struct loop {
	int epoll;
	bool stop; /* set by a watch's function */
};

int loop_init(struct loop *l); /* 0 or -errno */
void loop_fini(struct loop *l);

/* The watch is the caller's and stays in place until it is removed. 0 or -errno. */
int loop_add(struct loop *l, struct watch *w, uint32_t events);
void loop_remove(struct loop *l, struct watch *w);

/* Waits at most timeout_ms (-1: without end) and serves one event. 0 or -errno. */
int loop_once(struct loop *l, int timeout_ms);

#endif
