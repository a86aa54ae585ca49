/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_check.h - whether micro-ops are such that the interpreter may have them
 */
#ifndef CPI_DAEMON_TRANSLATE_CHECK_H
#define CPI_DAEMON_TRANSLATE_CHECK_H

#include "abi/uop.h"

/*
 * Each index and each direct jump is within nr_uops, each op and each reason to stop is
 * known, and registers that nobody writes are not written. 0 or -CPI_ECORRUPT.
 */
int translate_check_page(const struct cpi_code_page *page, uint32_t nr_uops);

#endif
