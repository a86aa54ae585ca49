/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * conn.c - closes connections that wait too long, or are too many
 *
 * 	             headers are there              answer begins
 * 	waits --------------------------> busy --------------------------> busy
 * 	deadline:                         no deadline                      deadline:
 * 	patience_s  <----------------------------------------------------- sending_s
 * 	                              the answer was taken
 *
 * Only a connection that waits can be closed for a new one. The list is in the order in
 * which they began to wait, so the first that waits has waited longest. Closing is
 * shutdown(): libmicrohttpd owns the descriptor, and closes it when it sees the end.
 */
#include "config.h"

#include "web/conn.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/times.h"

static void read_peer(struct conn *c, const struct sockaddr *address)
{
	struct ucred user = { .uid = 0 };
	socklen_t size = sizeof(user);

	if (address && address->sa_family == AF_INET6) {
		memcpy(c->peer, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
	} else if (address && address->sa_family == AF_INET) {
		memcpy(c->peer, &((const struct sockaddr_in *)address)->sin_addr, 4);
	} else if (!getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &user, &size)) {
		memcpy(c->peer, &user.uid, sizeof(user.uid));
	}
}

static void link_last(struct conns *cs, struct conn *c)
{
	c->before = cs->last;
	c->after = NULL;
	*(cs->last ? &cs->last->after : &cs->first) = c;
	cs->last = c;
}

static void unlink_conn(struct conns *cs, struct conn *c)
{
	*(c->before ? &c->before->after : &cs->first) = c->after;
	*(c->after ? &c->after->before : &cs->last) = c->before;
}

/* The library sees the end, and closes it. */
static void drop(struct conns *cs, struct conn *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->waits = false;
	c->deadline_ns = 0;
	cs->nr_dropped++;
}

/* The connection that has waited longest, of a peer or of all peers. */
static struct conn *find_slowest(struct conns *cs, const uint8_t *peer)
{
	for (struct conn *c = cs->first; c; c = c->after) {
		if (c->waits && (!peer || !memcmp(c->peer, peer, sizeof(c->peer))))
			return c;
	}
	return NULL;
}

static unsigned int count_of_peer(const struct conns *cs, const uint8_t *peer)
{
	unsigned int n = 0;

	for (const struct conn *c = cs->first; c; c = c->after)
		n += !memcmp(c->peer, peer, sizeof(c->peer));
	return n;
}

/* Closes a connection if this peer, or all peers together, have too many. */
static void make_room(struct conns *cs, struct conn *c)
{
	struct conn *slowest = NULL;

	if (count_of_peer(cs, c->peer) > cs->config.max_of_peer)
		slowest = find_slowest(cs, c->peer);
	else if (cs->nr > cs->config.max)
		slowest = find_slowest(cs, NULL);
	else
		return;
	drop(cs, slowest ? slowest : c);
}

struct conn *conn_new(struct conns *cs, struct MHD_Connection *mhd, uint64_t now_ns)
{
	const union MHD_ConnectionInfo *fd =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *address =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct conn *c = calloc(1, sizeof(*c));

	if (!c) {
		shutdown(fd->connect_fd, SHUT_RDWR);
		return NULL;
	}
	c->fd = fd->connect_fd;
	read_peer(c, address ? address->client_addr : NULL);
	link_last(cs, c);
	cs->nr++;
	c->waits = true;
	c->deadline_ns = now_ns + cs->config.patience_s * NSEC_PER_SEC;
	make_room(cs, c);
	return c;
}

void conn_free(struct conns *cs, struct conn *c)
{
	if (!c)
		return;
	unlink_conn(cs, c);
	cs->nr--;
	free(c);
}

void conn_is_busy(struct conn *c)
{
	if (!c || !c->waits)
		return;
	c->waits = false;
	c->deadline_ns = 0;
}

void conn_is_answered(struct conns *cs, struct conn *c, uint64_t now_ns)
{
	if (c)
		c->deadline_ns = now_ns + cs->config.sending_s * NSEC_PER_SEC;
}

void conn_waits(struct conns *cs, struct conn *c, uint64_t now_ns)
{
	if (!c)
		return;
	unlink_conn(cs, c);
	link_last(cs, c);
	c->waits = true;
	c->deadline_ns = now_ns + cs->config.patience_s * NSEC_PER_SEC;
}

void conns_tick(struct conns *cs, uint64_t now_ns)
{
	for (struct conn *c = cs->first; c; c = c->after) {
		if (c->deadline_ns && now_ns > c->deadline_ns)
			drop(cs, c);
	}
}
