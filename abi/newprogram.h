/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * newprogram.h - what kmod/cpi_newprogram.bpf.c and the daemon share
 */
#ifndef CPI_ABI_NEWPROGRAM_H
#define CPI_ABI_NEWPROGRAM_H

#include <stdint.h>

struct cpi_newprogram_notice {
	uint64_t time_ns; /* monotonic */
	uint64_t inode;   /* the program's */
};

/* After a notice of a new program no other one is sent for this long. */
#define CPI_NEWPROGRAM_QUIET_MS 10
#define CPI_NEWPROGRAM_QUIET_NS (CPI_NEWPROGRAM_QUIET_MS * 1000000ull)

#endif
