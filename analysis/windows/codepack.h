/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * codepack.h - packed pages of micro-ops, as the kernel side reads them
 *
 * A translated page (struct cpi_code_page) has room for a micro-op index at every
 * offset and for the largest number of micro-ops. Few pages need so much. A packed page
 * (abi/uop.h, union cpi_code_cell) has only the micro-ops that exist, and the machine
 * code from which they were translated.
 */
#ifndef CPI_ANALYSIS_CODEPACK_H
#define CPI_ANALYSIS_CODEPACK_H

#include <stddef.h>

#include "abi/uop.h"

/*
 * Packs a page whose nr_uops micro-ops passed translate_check_page(). code points to
 * size bytes: the page and the code that follows it; missing bytes count as 0. out has
 * room for CPI_CODE_MAX_CELLS. Returns the number of cells that were written.
 */
uint32_t codepack_page(const struct cpi_code_page *page, uint32_t nr_uops,
		       const uint8_t *code, size_t size, union cpi_code_cell *out);

/* Returns the cell of an offset's first micro-op; 0: the offset is not translated. */
uint32_t codepack_find(const union cpi_code_cell *packed, uint32_t offset);

/* Returns the cell of an offset's lead-in; 0: it has none. */
uint32_t codepack_find_lead(const union cpi_code_cell *packed, uint32_t offset);

/*
 * Returns the machine code from a translated offset on, of which size bytes are there;
 * NULL if the offset is not translated, or fewer bytes are there. They may include
 * bytes after the page.
 */
const uint8_t *codepack_bytes(const union cpi_code_cell *packed, uint32_t offset,
			      size_t size);

#endif
