/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announce.h - the daemon's end of the loader hook's socket (abi/announce.h)
 *
 * I1  Whoever sends, and whatever: a run takes at most ANNOUNCE_BATCH datagrams, all
 *     of them take at most 2 % of a CPU's time in the long run, and each sender's a
 *     quarter of that (announced.h). Nobody is answered, nobody is waited for, and no
 *     memory is kept.
 * I2  The sender is who the kernel says it is, and speaks of itself.
 *
 * Only the first datagram wakes the daemon: each would cost both sides more than the
 * rest, for what is hardly ever news. The next ones wait in the socket, as many as
 * net.unix.max_dgram_qlen allows, for the daemon to look; more are dropped at the
 * sender's end. When none have come for a while, the next one is a first one again.
 */
#ifndef CPI_DAEMON_ANNOUNCE_H
#define CPI_DAEMON_ANNOUNCE_H

#include <stdbool.h>

#include "base/buf.h"
#include "daemon/procmap/images.h"
#include "daemon/procmap/procmap.h"

#define ANNOUNCE_BATCH 256
#define ANNOUNCE_MS    100 /* announce_run() is due so often ... */

struct announce;

/*
 * Listens at path, where everybody may write. The cause of a failure is logged.
 * procmap and images get what is true; epoll_fd is told of a first datagram. Returns 0
 * or -errno.
 */
int announce_open(const char *path, int epoll_fd, struct procmap *procmap,
		  struct images *images, struct announce **out);

/* ... but while the next datagram wakes: then whenever something has. */
bool announce_wakes(const struct announce *a);

/*
 * Takes what has come. Mapping records up to now have been read; is_gap: and some of
 * them were lost.
 */
void announce_run(struct announce *a, bool is_gap);

/* Appends lines "name value" for the status. */
void announce_status(const struct announce *a, struct buf *out);

/* Removes the socket. Accepts NULL. */
void announce_close(struct announce *a);

#endif
