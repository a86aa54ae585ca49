/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * newprogram.h - notices of programs that have not run before
 *
 * A program's file may be deleted while it runs, so the daemon must read its mapping
 * record soon. The kernel can wake a reader of mapping records for each of them or for
 * none, and nearly all are of files that are known. So a BPF program wakes the daemon
 * when the program of an exec is new (kmod/cpi_newprogram.bpf.c).
 *
 * A program is new at its first exec since newprogram_open(), again if its file was
 * changed, and again if 4096 others have run since. After a notice there is no other
 * one for CPI_NEWPROGRAM_QUIET_MS (abi/newprogram.h), so the owner looks again then.
 */
#ifndef CPI_DAEMON_NEWPROGRAM_H
#define CPI_DAEMON_NEWPROGRAM_H

#include <stdbool.h>
#include <stdint.h>

struct newprogram;

/*
 * Loads the BPF program, which takes some 50 ms of CPU time. Any thread may call this.
 * Returns 0 or -errno, not logged: BPF may not be built in, not allowed, or too old for
 * it (Linux 5.8).
 */
int newprogram_open(struct newprogram **out);

/* Adds its notices to epoll_fd. Returns 0 or -errno. */
int newprogram_watch(const struct newprogram *n, int epoll_fd);
void newprogram_close(struct newprogram *n); /* accepts NULL */

/*
 * Reads the notices, without a system call. Returns whether there was one since the
 * last call, and stores the inode number of the last program in *inode, unless that is
 * NULL.
 */
bool newprogram_take(struct newprogram *n, uint64_t *inode);

#endif
