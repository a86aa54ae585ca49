/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tick.h - finds things in the running kernel: the scheduler tick, and the registers of
 *          the code that it interrupted (for cpi.bpf.c); a KVM guest's counter of
 *          stolen time (for cpi_pair.h)
 */
#ifndef CPI_DAEMON_TICK_H
#define CPI_DAEMON_TICK_H

#include <stdbool.h>
#include <stdint.h>

struct tick {
	uint64_t function; /* address of the timer's callback; tick_find() never sets 0,
			      which means no ticks */
	/*
	 * Distance in bytes from the timer to the CPU's pointer to the registers of the
	 * last interrupt.
	 */
	int32_t to_regs;
	bool kernel; /* count ticks that interrupt the kernel, too; the caller sets it
		      */
};

/*
 * address() finds a function of the kernel by its name; 0: it is not known. Returns 0,
 * or -EOPNOTSUPP if the tick does not come from a timer, or if the kernel's symbols or
 * BTF lack something. Logs the cause at level info.
 */
int tick_find(uint64_t (*address)(void *ctx, const char *name), void *ctx,
	      struct tick *out);

/*
 * Finds the distance in bytes from a CPU's run queue to its counter of stolen time: the
 * ns that the hypervisor took from that CPU. Returns 0, or -EOPNOTSUPP if the kernel's
 * BTF lacks either of the two: only KVM on x86-64 is known.
 */
int tick_find_stolen(int32_t *from_queue);

/*
 * Logs a warning if some CPUs have no ticks while they run a single task (nohz_full).
 */
void tick_warn_stopped(void);

#endif
