/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tick.h - the running kernel's scheduler tick, as cpi.bpf.c wants to know it
 */
#ifndef CPI_DAEMON_TICK_H
#define CPI_DAEMON_TICK_H

#include <stdint.h>

struct tick {
	uint64_t function; /* its timer's callback; never 0 */
	/* From the timer to where its CPU has the registers of the last interrupt. */
	int32_t to_regs;
};

/*
 * Returns 0; -EOPNOTSUPP where the tick does not come from a timer, or the kernel does
 * not tell enough about itself; -EACCES where kallsyms hides addresses; or another
 * -errno. What is wrong is logged as information.
 */
int tick_find(struct tick *out);

/* Logs a warning about CPUs that do without ticks while they run one task alone. */
void tick_warn_stopped(void);

#endif
