/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - stores code and symbols of sampled procedures before their files are gone
 *
 * Images with sampled offsets that were not captured yet wait in a queue. One image at
 * a time is sent to cpi-capture, with a descriptor of the file that was hashed, if the
 * file can still be opened. The reply, a part, is stored as a whole or not at all. An
 * image whose worker gave no answer is tried again a few times, later. The
 * session waits for captures only at its end, for a limited time (capture_finish()).
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
	uint64_t max_bytes; /* limit of all captures in the database */
	int epoll_fd; /* becomes readable when capture_run() has something to do */
};

/*
 * Starts cpi-capture; call it before privileges are dropped. Returns 0, or -errno
 * (logged).
 */
int capture_open(const struct capture_config *cfg, struct capture **out);
void capture_close(struct capture *c); /* accepts NULL */

/*
 * From now on parts are stored in db. same: it contains the captures of the previous
 * database.
 */
void capture_use(struct capture *c, struct db *db, bool same);

/*
 * Queues the images with samples in t that are not captured. newcomers: only images of
 * which nothing is captured yet; the others wait for the next flush.
 */
void capture_note(struct capture *c, const struct tally *t, bool newcomers);

/*
 * Reads the reply so far, and sends the next job. Returns the number of milliseconds
 * after which to call it again, or -1 if nothing waits.
 */
int capture_run(struct capture *c);

/* Runs until nothing that could be tried now is queued, for at most max_ns. */
void capture_finish(struct capture *c, uint64_t max_ns);

/*
 * Marks the images that are queued or being captured. Drops its data on other images
 * that are not marked.
 */
void capture_mark_images(struct capture *c);

/* Appends lines "name value" (cpid(8), "STATUS"). */
void capture_status(const struct capture *c, struct buf *out);

#endif
