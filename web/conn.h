/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conn.h - connections, and how many of them there may be
 *
 * A connection waits, until a request with all its headers is there, or is busy with
 * one. One that waits too long is closed. When there are too many, of one peer or in
 * all, the one that has waited longest is closed for the new one: slow clients cannot
 * keep others out. A peer is an address, or a user on a local socket.
 */
#ifndef CPI_WEB_CONN_H
#define CPI_WEB_CONN_H

#include <stdbool.h>
#include <stdint.h>

struct MHD_Connection;

struct conns_config {
	unsigned int max, max_of_peer;
	unsigned int patience_s; /* for the headers of a request */
	unsigned int sending_s;  /* for the client to take an answer */
};

struct conn {
	struct conn *before, *after; /* in the order in which they began to wait */
	int fd;
	uint8_t peer[16];
	uint64_t deadline_ns; /* 0: none */
	bool waits;
};

struct conns {
	struct conns_config config;
	struct conn *first, *last;
	unsigned int nr;
	uint64_t nr_dropped; /* slow ones, and those that were too many */
};

/* A new connection. NULL when out of memory: then it is closed. */
struct conn *conn_new(struct conns *cs, struct MHD_Connection *mhd, uint64_t now_ns);
void conn_free(struct conns *cs, struct conn *c); /* accepts NULL */

/* It has sent the headers of a request. */
void conn_is_busy(struct conn *c);

/* It is being sent an answer. */
void conn_is_answered(struct conns *cs, struct conn *c, uint64_t now_ns);

/* The request is done: it waits for the next one. */
void conn_waits(struct conns *cs, struct conn *c, uint64_t now_ns);

/* Closes those whose time is over; to be called once a second. */
void conns_tick(struct conns *cs, uint64_t now_ns);

#endif
