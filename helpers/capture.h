/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - the parts of cpi-capture
 *
 * A server without privileges that parses nothing (capture_main.c) forks a worker for
 * each image. The worker locks itself in (sandbox.c), reads the image (capture_work.c),
 * and may ask the server for debug files (capture_files.c). The server opens those that
 * the worker may have (capture_open.c).
 */
#ifndef CPI_HELPERS_CAPTURE_H
#define CPI_HELPERS_CAPTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "helpers/sandbox.h"

#define CAPTURE_USER   "cpi-capture"
#define CAPTURE_NICE   19
#define CAPTURE_CPU_S  20  /* CPU time that an image may take; half of it for work */
#define CAPTURE_WALL_S 300 /* a worker that lives longer is killed */

enum capture_fd {
	CAPTURE_FD_REQUEST = SANDBOX_FD,
	CAPTURE_FD_IMAGE,
	CAPTURE_FD_REPLY,
	CAPTURE_FD_ASK, /* for questions to the server */
	CAPTURE_FD_END,
};
#define CAPTURE_NR_FDS (CAPTURE_FD_END - SANDBOX_FD)

/*
 * For the worker: reads the request and the image, writes the reply. Returns an exit
 * status.
 */
int capture_work(void);

/*
 * For the server: answers a question of its worker on fd, about an image that only
 * author may have written (-1: not known). Unless may_open, the answer is -EBUSY.
 * Returns the child that answers, to be waited for; 0 if there is none; -errno if no
 * question came, because the worker has ended.
 */
int capture_answer(int fd, int64_t author, bool may_open);

/*
 * For the child: opens a debug file that an image's content names. It must be an ELF
 * file below the debug files' root, or have a debug file's name, and be readable by
 * everybody or by the image's author. Returns a descriptor or -errno.
 */
int capture_open(const char *path, int64_t author);

#endif
