/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * window_agrees.h - whether a window is what single-stepping shows
 */
#ifndef CPI_T_WINDOW_AGREES_H
#define CPI_T_WINDOW_AGREES_H

#include <stdbool.h>

#include "analysis/windows/walk.h"

/* pc has the addresses of as many instructions as the window reached, at least. */
static inline bool window_agrees(const uint64_t *pc, uint32_t nr,
				 const struct walk *walk)
{
	uint32_t jump = 0;

	for (uint32_t i = 0; i + 1 < nr; i++) {
		if (jump < walk->nr && walk->jump[jump].from == pc[i]) {
			if (walk->jump[jump++].to != pc[i + 1])
				return false;
		} else if (pc[i + 1] <= pc[i] || pc[i + 1] > pc[i] + CPI_CODE_MORE) {
			return false;
		}
	}
	if (jump < walk->nr && walk->jump[jump].from == walk->last)
		jump++; /* of the last one, which leads out of the window */
	return jump == walk->nr && pc[nr - 1] == walk->last;
}

#endif
