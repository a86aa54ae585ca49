/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_path.h - the instructions on a window's way, against single steps
 */
#ifndef CPI_T_WINDOW_PATH_H
#define CPI_T_WINDOW_PATH_H

#include <stdbool.h>

#include "t/window_pages.h"

struct window_path {
	uint32_t nr;
	uint64_t pc[CPI_WINDOW_MAX];
	uint8_t length[CPI_WINDOW_MAX];
};

struct window_counts {
	uint64_t nr_windows, nr_exact, nr_instructions;
	/* Instructions that touch data; of these, whose address windows did not know,
	 * and of which they do not tell. */
	uint64_t nr_accesses, nr_unknown, nr_missed;
	uint64_t nr_ends[CPI_NR_WINDOW_ENDS];
	uint64_t nr_last_op[CPI_NR_WINDOW_ENDS][256];
};

/* Empties s, whose registers are the caller's to set then. */
void window_path_begin(struct cpi_window_state *s, uint32_t length);
/* Follows s from pc for so many micro-ops. */
void window_path_follow(struct cpi_window_state *s, struct window_pages *pages,
			uint64_t pc, uint32_t max_uops, struct window_path *path,
			struct window_counts *c);

/* One instruction, which begins at *pc. Returns 0 and where it led, or -1. */
typedef int window_step_fn(void *ctx, uint64_t *pc);

/*
 * Stores the addresses of data that the instruction at pc, which comes next, touches.
 * Returns how many, at most WINDOW_DATA_MOST.
 */
#define WINDOW_DATA_MOST 2
typedef int window_data_fn(void *ctx, uint64_t pc, uint64_t *address);

/*
 * Steps along the path of s and counts what comes of it. data: NULL if addresses of
 * data are not compared.
 */
void window_path_compare(const struct cpi_window_state *s, struct window_pages *pages,
			 const struct window_path *path, window_step_fn *step,
			 window_data_fn *data, void *ctx, struct window_counts *c);
/* Prints the counts; more of them if verbose. */
void window_counts_print(const struct window_counts *c, bool verbose);

#endif
