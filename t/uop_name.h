/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * uop_name.h - the names of micro-ops and of windows' ends; "?" for any other number
 */
#ifndef CPI_T_UOP_NAME_H
#define CPI_T_UOP_NAME_H

#include "abi/uop.h"
#include "abi/window.h"

#define UOP_TEXT(name, text) text,

static inline const char *cpi_uop_name(unsigned int op)
{
	static const char *const names[CPI_NR_UOPS] = { CPI_UOPS(UOP_TEXT) };

	return op < CPI_NR_UOPS ? names[op] : "?";
}

static inline const char *cpi_window_end_name(unsigned int end)
{
	static const char *const names[CPI_NR_WINDOW_ENDS] = { CPI_WINDOW_ENDS(
		UOP_TEXT) };

	return end < CPI_NR_WINDOW_ENDS ? names[end] : "?";
}

#undef UOP_TEXT

#endif
