/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - stores code and symbols of sampled procedures before their files are gone
 *
 * Images with sampled offsets that were not captured yet wait in a queue. One image at
 * a time is sent to cpi-capture, with a descriptor of the file that was hashed, if the
 * file can still be opened. A worker of cpi-capture replies with a part of the image:
 * code and symbols of some procedures. Each part is stored as a whole or not at all. An
 * image whose worker gave no answer is tried again a few times, later. The session
 * waits for captures only at its end, for a limited time (capture_finish()).
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
 * Queues each image for which t has samples at offsets that are not captured yet.
 * newcomers: only images of which nothing is captured; the others wait for the next
 * flush.
 */
void capture_note(struct capture *c, const struct tally *t, bool newcomers);

/*
 * Reads the reply so far, and sends the next job. Returns the number of milliseconds
 * after which to call it again, or -1 if nothing waits.
 */
int capture_run(struct capture *c);

/*
 * Captures all queued images, for at most max_ns. Leaves those that wait longer because
 * a worker gave no answer.
 */
void capture_finish(struct capture *c, uint64_t max_ns);

/*
 * Marks the images that are queued or being captured, for images_sweep(). Frees what c
 * knows about the other images that nobody has marked.
 */
void capture_mark_images(struct capture *c);

/* Appends lines "name value" (cpid(8), "STATUS"). */
void capture_status(const struct capture *c, struct buf *out);

#endif
