/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox.h - what a collector's helpers give up before they read hostile files
 *
 * Each is two processes: a server that parses nothing, which has given up its
 * privileges, and workers that it forks, which lock themselves in.
 */
#ifndef CPI_TOOLS_SANDBOX_H
#define CPI_TOOLS_SANDBOX_H

#include <stdbool.h>

/* Where workers' own descriptors begin; these numbers stay free in a server. */
#define SANDBOX_FD      3
#define SANDBOX_MAX_FDS 8

/*
 * The server's: becomes user when root (nobody, where there is no such account), gives
 * up every capability, but with keep_reading that to read (CAP_DAC_READ_SEARCH), for
 * good, and goes behind everything else that wants the CPU (to that nice value) or the
 * disk. 0 or -errno.
 */
int sandbox_give_up(const char *user, bool keep_reading, int nice);

/*
 * The worker's: puts fd[0..nr) where its descriptors begin, and what is standard output
 * in the place of standard input. 0 or -errno.
 */
int sandbox_place_fds(const int *fd, int nr);

/*
 * The worker's: no capability, no other system call than those that work on what is
 * open and on memory; at most 512 MiB of memory, and cpu_s seconds of CPU time if that
 * is not 0. Descriptors but 0 to 2 and nr_fds of its own are closed. 0 or -errno.
 */
int sandbox_lock_in(int nr_fds, unsigned int cpu_s);

#endif
