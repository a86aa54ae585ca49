/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conn.h - connections, and limits on their number and time
 *
 * A connection either waits for a request with all its headers, or is busy with one. If
 * it waits too long, it is closed. If there are too many connections, of one peer or in
 * total, the one that has waited longest is closed in favour of the new one. So slow
 * clients cannot keep others out. A peer is an address, or a user of a local socket.
 */
#ifndef CPI_WEB_CONN_H
#define CPI_WEB_CONN_H

#include <stdbool.h>
#include <stdint.h>

struct MHD_Connection;

struct conns_config {
	unsigned int max, max_of_peer;
	unsigned int patience_s; /* time limit for the headers of a request */
	unsigned int sending_s;  /* time limit for sending an answer */
};

struct conn {
	struct conn *before, *after; /* sorted by when they began to wait */
	int fd;
	uint8_t peer[16];
	uint64_t deadline_ns; /* 0: none */
	bool waits;
};

struct conns {
	struct conns_config config;
	struct conn *first, *last;
	unsigned int nr;
	uint64_t nr_dropped; /* connections that were closed because they were slow or
				too many */
};

/* Adds a new connection. Returns NULL when out of memory; then it is closed. */
struct conn *conn_new(struct conns *cs, struct MHD_Connection *mhd, uint64_t now_ns);
void conn_free(struct conns *cs, struct conn *c); /* accepts NULL */

/* The client has sent the headers of a request. */
void conn_is_busy(struct conn *c);

/* The server sends an answer. */
void conn_is_answered(struct conns *cs, struct conn *c, uint64_t now_ns);

/* The request is done, and the connection waits for the next one. */
void conn_waits(struct conns *cs, struct conn *c, uint64_t now_ns);

/* Closes connections whose time is over. Call it once a second. */
void conns_tick(struct conns *cs, uint64_t now_ns);

#endif
