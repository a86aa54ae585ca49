/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stepped.h - what t/stepper.c tells t/window_stepped.c: memory that both have mapped
 */
#ifndef CPI_T_STEPPED_H
#define CPI_T_STEPPED_H

#include <stdint.h>

#include "t/data_truth.h"

#define STEPPED_FD     "CPI_STEPPED_FD" /* an environment variable: its descriptor */
#define STEPPED_SIGNAL 50               /* of those that programs leave alone */
#define STEPPED_STEPS  100
#define STEPPED_MAX    60000 /* traces */

struct stepped_trace {
	uint64_t time_ns; /* monotonic: in the signal's handler */
	uint32_t tid;
	uint32_t nr; /* of pc, the first one included */
	uint64_t pc[STEPPED_STEPS + 1];
	struct data_truth_regs regs[STEPPED_STEPS + 1]; /* before each */
};

struct stepped {
	uint32_t nr; /* may be more than there is room for */
	struct stepped_trace trace[STEPPED_MAX];
};

#endif
