/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sandbox.h - what helpers give up before they read hostile files
 *
 * Each helper is a server and its workers. The server gives up its privileges and
 * parses nothing. It forks workers, which lock themselves in.
 */
#ifndef CPI_HELPERS_SANDBOX_H
#define CPI_HELPERS_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

/* A worker's own descriptors have the numbers from here on. */
#define SANDBOX_FD      3
#define SANDBOX_MAX_FDS 8

/*
 * For the server. As root it becomes user, or nobody if there is no such account. It
 * gives up every capability for good; with keep_reading it keeps CAP_DAC_READ_SEARCH,
 * which has no effect until sandbox_read(). It takes the nice value and the lowest disk
 * priority. Returns 0 or -errno.
 */
int sandbox_give_up(const char *user, bool keep_reading, int nice);

/*
 * For the server or its child: switches the kept capability on or off. Returns 0 or
 * -errno.
 */
int sandbox_read(bool effective);

/*
 * For the worker: moves fd[0..nr) to SANDBOX_FD and up, and replaces standard input by
 * standard output. Returns 0 or -errno.
 */
int sandbox_place_fds(const int *fd, int nr);

/*
 * For the worker: drops all capabilities and allows only system calls that work on open
 * descriptors and memory, and newfstatat(), which C libraries use for fstat(). Memory
 * is limited to 512 MiB, CPU time to cpu_s seconds unless that is 0. Closes all
 * descriptors except 0 to 2 and its own nr_fds. Returns 0 or -errno.
 */
int sandbox_lock_in(int nr_fds, unsigned int cpu_s);

/*
 * Kills a child and waits until it is gone, at most one second: a child that a file
 * system holds cannot be killed. Returns whether it is gone.
 */
bool sandbox_end_worker(pid_t worker);

#endif
