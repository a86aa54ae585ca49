/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_child.h - cpi-capture, as its parent sees it: jobs go in, bytes come out
 *
 * Nothing here waits: a job's reply is read as it comes, and given up when it does not.
 */
#ifndef CPI_DAEMON_CAPTURE_CHILD_H
#define CPI_DAEMON_CAPTURE_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "abi/capture.h"
#include "base/buf.h"

struct capture_child {
	pid_t pid;       /* 0: none */
	int socket;      /* jobs go there */
	int reply;       /* the running job's; -1: none runs */
	struct buf got;  /* of it, so far */
	size_t max;      /* bytes that it may be */
	uint64_t end_ns; /* when it is given up */
};

/* c->socket and c->reply start as -1, the rest as 0. */

/*
 * Starts it. -EPERM where it would keep root's rights, for this process can no longer
 * give them up; -ENOENT when it is not installed; -errno.
 */
int capture_child_start(struct capture_child *c);

/* Ends it, and waits for that; harmless when there is none. */
void capture_child_stop(struct capture_child *c);

/*
 * Sends a job while none runs: the image's descriptor stays the caller's, offset is
 * what follows the request. 0; -EPIPE when it has died, which stops it; or -errno.
 */
int capture_child_send(struct capture_child *c,
		       const struct cpi_capture_request *request,
		       const struct cpi_capture_offset *offset, int image);

/*
 * Reads what there is of the running job's reply. -EAGAIN: it is not complete. 0: it
 * is, and no longer runs; *reply with *covers and *data, which are valid until the next
 * job, has sizes that agree with what came. Else why the job has failed: -ETIMEDOUT,
 * -ECHILD (it died), -CPI_ECORRUPT, -CPI_ELIMIT, or the error that it tells: -EBUSY
 * where it was not begun.
 */
int capture_child_take(struct capture_child *c, struct cpi_capture_reply *reply,
		       const void **covers, const void **data);

#endif
