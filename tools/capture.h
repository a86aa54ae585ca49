/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * capture.h - the parts of cpi-capture
 *
 * A server that has given up its privileges and parses nothing (capture_main.c) forks a
 * worker for each image, which locks itself in (capture_sandbox.c), reads the image
 * (capture_work.c), and may ask the server for debug files (capture_files.c).
 */
#ifndef CPI_TOOLS_CAPTURE_H
#define CPI_TOOLS_CAPTURE_H

#include <stdbool.h>

#define CAPTURE_CPU_S  20  /* CPU time that an image may take; half of it for work */
#define CAPTURE_WALL_S 300 /* a worker that lives longer is killed */

/* Where the parts of a process that forks workers stand; these numbers stay free. */
enum capture_fd {
	CAPTURE_FD_REQUEST = 3,
	CAPTURE_FD_IMAGE,
	CAPTURE_FD_REPLY,
	CAPTURE_FD_ASK, /* a worker asks the server there */
	CAPTURE_FD_END,
};

/*
 * The server's: becomes a user of no account when root, gives up every capability but
 * that to read (CAP_DAC_READ_SEARCH, for debug files) for good, and goes behind
 * everything else that wants the CPU or the disk. 0 or -errno.
 */
int capture_give_up(void);

/*
 * The worker's: no capability, no other system call than those that work on what is
 * open and on memory; bounds on memory and CPU time. Descriptors but the four above,
 * and 0 to 2, are closed. 0 or -errno.
 */
int capture_lock_in(void);

/* The worker's: reads the request and the image, writes the reply. An exit status. */
int capture_work(void);

/*
 * The server's: answers what its worker asks on fd until that ends. False when nothing
 * came, which is the worker's end.
 */
bool capture_answer(int fd);

#endif
