/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - keeping what the procedures of files say, before the files are gone
 *
 * What has samples and was not captured yet waits in a queue; one image at a time goes
 * to cpi-capture, with the descriptor of the very file that was hashed where that is
 * still there. What comes back is stored as it comes: it is either there whole or not
 * at all. The session never waits for it but at its end, for so long.
 */
#ifndef CPI_DAEMON_CAPTURE_H
#define CPI_DAEMON_CAPTURE_H

#include <stdint.h>

#include "base/buf.h"
#include "daemon/attribute/tally.h"
#include "daemon/procmap/images.h"
#include "db/core/db.h"

struct capture;

struct capture_config {
	struct images *images;
	struct db *db;
	uint64_t max_bytes; /* of the database, for all that is captured */
	int epoll_fd; /* becomes readable when capture_run() has something to do */
};

/* Starts cpi-capture: before privileges are given up. What is wrong is logged. 0, or
 * -errno. */
int capture_open(const struct capture_config *cfg, struct capture **out);
void capture_close(struct capture *c); /* accepts NULL */

/* From now on parts go to db. With same, it holds what the database before did. */
void capture_use(struct capture *c, struct db *db, bool same);

/*
 * Queues what has samples in t and is not captured. With newcomers alone, images of
 * which nothing is captured: the others wait for the next flush.
 */
void capture_note(struct capture *c, const struct tally *t, bool newcomers);

/*
 * Takes in what came, and sends the next job. Returns in how many milliseconds it wants
 * to run again, or -1.
 */
int capture_run(struct capture *c);

/* Goes on until nothing is queued, or max_ns are over. */
void capture_finish(struct capture *c, uint64_t max_ns);

/* Marks the images that are in use; forgets those that nobody has marked. */
void capture_mark_images(struct capture *c);

/* Appends lines "name value" (cpid(8), "STATUS"). */
void capture_status(const struct capture *c, struct buf *out);

#endif
