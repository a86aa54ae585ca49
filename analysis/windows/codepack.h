/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codepack.h - packed pages of micro-ops, as the kernel side reads them
 *
 * A translated page (struct cpi_code_page) has room for every offset and for the most
 * micro-ops. Few pages need that. A packed page (abi/uop.h, union cpi_code_cell) has
 * only what was translated, and the code from which it was made.
 */
#ifndef CPI_ANALYSIS_CODEPACK_H
#define CPI_ANALYSIS_CODEPACK_H

#include <stddef.h>

#include "abi/uop.h"

/*
 * Packs a page whose nr_uops micro-ops passed translate_check_page(). code holds size
 * bytes, the page's and those behind it; missing ones count as 0. out has room for
 * CPI_CODE_MAX_CELLS; returns how many were written.
 */
uint32_t codepack_page(const struct cpi_code_page *page, uint32_t nr_uops,
		       const uint8_t *code, size_t size, union cpi_code_cell *out);

/* The place of the micro-ops of an offset of a packed page; 0: it is not translated. */
uint32_t codepack_find(const union cpi_code_cell *packed, uint32_t offset);

#endif
