/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate_check.h - checks that micro-ops are safe for the interpreter
 */
#ifndef CPI_DAEMON_TRANSLATE_CHECK_H
#define CPI_DAEMON_TRANSLATE_CHECK_H

#include "abi/translate.h"

/*
 * Checks that each index and each direct jump is within nr_uops, that each op and each
 * reason to stop is known, and that read-only registers are not written. 0 or
 * -CPI_ECORRUPT.
 */
int translate_check_page(const struct cpi_code_page *page, uint32_t nr_uops);

/* The same of forms, whose jumps have no place in a page. */
int translate_check_forms(const struct cpi_translate_forms *forms, uint32_t nr_forms,
			  uint32_t nr_uops);

#endif
