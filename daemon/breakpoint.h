/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * breakpoint.h - counts how often one thread comes to an address, for a short while
 *
 * The CPU's own breakpoint, by perf: nothing is written to the program, which goes on
 * from each hit by itself. A hit costs it an exception of some microseconds.
 *
 * I1  After max_hits the kernel takes the breakpoint away, whatever we do; after our
 *     end, too, for it closes the descriptor.
 * I2  Two of the CPU's breakpoints stay free for debuggers; a thread that has a
 *     debugger gets none.
 */
#ifndef CPI_DAEMON_BREAKPOINT_H
#define CPI_DAEMON_BREAKPOINT_H

#include <stdint.h>
#include <sys/types.h>

struct breakpoint_counts {
	uint64_t hits;
	uint64_t running_ns; /* CPU time of the thread with it, hits included */
};

/*
 * Begins at once; *fd is for breakpoint_close(). 0, -ESRCH: the thread is gone; -EBUSY:
 * it has a debugger; -ENOSPC: too few are free; or another -errno: this machine, or
 * what it runs in, has none, or it is not allowed.
 */
int breakpoint_open(pid_t tid, uint64_t address, uint32_t max_hits, int *fd);

/* Ends it. 0, or -ENODATA where the kernel has given it up before, after an exec. */
int breakpoint_close(int fd, struct breakpoint_counts *out);

/* What each of so many hits costs, in ns, on a function of our own. 0 or -errno. */
int breakpoint_measure(uint32_t hits, double *hit_ns);

#endif
