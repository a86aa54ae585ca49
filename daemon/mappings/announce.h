/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * announce.h - the daemon's end of the loader hook's socket (abi/announce.h)
 *
 * I1  A run takes at most ANNOUNCE_BATCH datagrams. All datagrams together take at
 *     most 2 % of a CPU's time in the long run, and those of one sender a quarter of
 *     that (announced.h). The daemon sends no answer, waits for nobody and allocates
 *     nothing.
 * I2  The kernel names the sender. A process can only announce its own mappings.
 *
 * Only the first datagram wakes the daemon. To wake for each one would cost both sides
 * more than all the rest, and the mapping records usually say the same. Later datagrams
 * wait in the socket, up to net.unix.max_dgram_qlen of them, until the next
 * announce_run(); the sender drops the others. After a few seconds without a datagram,
 * the next one wakes the daemon again.
 */
#ifndef CPI_DAEMON_ANNOUNCE_H
#define CPI_DAEMON_ANNOUNCE_H

#include <stdbool.h>

#include "base/buf.h"
#include "daemon/procmap/images.h"
#include "daemon/procmap/procmap.h"

#define ANNOUNCE_BATCH 256
#define ANNOUNCE_MS    100 /* call announce_run() this often ... */

struct announce;

/*
 * Listens at path; every user may send. True announcements go to procmap and images.
 * The first datagram becomes an event of epoll_fd. Logs the cause of a failure. Returns
 * 0 or -errno.
 */
int announce_open(const char *path, int epoll_fd, struct procmap *procmap,
		  struct images *images, struct announce **out);

/* ... unless this is true: then only after an event of epoll_fd. */
bool announce_wakes(const struct announce *a);

/*
 * Takes the datagrams that have arrived. The caller has read all mapping records up to
 * now; is_gap says that some of them were lost.
 */
void announce_run(struct announce *a, bool is_gap);

/* Appends the counters as status lines, "name value". */
void announce_status(const struct announce *a, struct buf *out);

/* Removes the socket. Accepts NULL. */
void announce_close(struct announce *a);

#endif
