/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture_child.h - the client side of cpi-capture
 *
 * These functions do not block, except capture_child_stop(). A job's reply is read as
 * it arrives; a job without a reply in time fails.
 */
#ifndef CPI_DAEMON_CAPTURE_CHILD_H
#define CPI_DAEMON_CAPTURE_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "abi/capture.h"
#include "base/buf.h"

struct capture_child {
	pid_t pid;       /* 0: not running */
	int socket;      /* jobs are sent here */
	int reply;       /* pipe with the running job's reply; -1: no job runs */
	struct buf got;  /* bytes of the reply so far */
	size_t max;      /* maximum size of the reply */
	uint64_t end_ns; /* timeout of the job */
};

/* c->socket and c->reply start as -1, the rest as 0. */

/* Starts cpi-capture. Returns 0 or -errno, as helper_start(). */
int capture_child_start(struct capture_child *c);

/* Stops cpi-capture and waits for its end. Does nothing if it does not run. */
void capture_child_stop(struct capture_child *c);

/*
 * Sends a job; no other job may be running. image is a socket that contains the file's
 * descriptor (images_wrap()); the caller still owns it. offset has the request's
 * nr_offsets offsets. Returns 0; -EPIPE if cpi-capture has died (then this called
 * capture_child_stop()); or another -errno.
 */
int capture_child_send(struct capture_child *c,
		       const struct cpi_capture_request *request,
		       const struct cpi_capture_offset *offset, int image);

/*
 * Reads the available part of the running job's reply. Returns -EAGAIN if it is not
 * complete yet. Returns 0 if it is complete; then no job runs any more, and *covers and
 * *data have the sizes in *reply and are valid until the next job. Otherwise the job
 * has failed: -ETIMEDOUT, -ECHILD (cpi-capture died), -CPI_ECORRUPT, -CPI_ELIMIT, or
 * the error in the reply: -EBUSY if the job was not begun.
 */
int capture_child_take(struct capture_child *c, struct cpi_capture_reply *reply,
		       const void **covers, const void **data);

#endif
