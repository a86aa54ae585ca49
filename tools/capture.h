/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - the parts of cpi-capture
 *
 * A server that has given up its privileges and parses nothing (capture_main.c) forks a
 * worker for each image, which locks itself in (sandbox.c), reads the image
 * (capture_work.c), and may ask the server for debug files (capture_files.c).
 */
#ifndef CPI_TOOLS_CAPTURE_H
#define CPI_TOOLS_CAPTURE_H

#include "tools/sandbox.h"

#define CAPTURE_USER   "cpi-capture"
#define CAPTURE_NICE   19
#define CAPTURE_CPU_S  20  /* CPU time that an image may take; half of it for work */
#define CAPTURE_WALL_S 300 /* a worker that lives longer is killed */

enum capture_fd {
	CAPTURE_FD_REQUEST = SANDBOX_FD,
	CAPTURE_FD_IMAGE,
	CAPTURE_FD_REPLY,
	CAPTURE_FD_ASK, /* a worker asks the server there */
	CAPTURE_FD_END,
};
#define CAPTURE_NR_FDS (CAPTURE_FD_END - SANDBOX_FD)

/* The worker's: reads the request and the image, writes the reply. An exit status. */
int capture_work(void);

/*
 * The server's: answers a question that its worker asks on fd. The child that does so,
 * to be waited for; 0 when there could be none; -errno when nothing came, which is the
 * worker's end.
 */
int capture_answer(int fd);

#endif
