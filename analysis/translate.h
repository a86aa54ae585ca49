/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate.h - code to micro-ops, a page at a time
 *
 * Windows (kmod/window.h) interpret micro-ops of abi/uop.h. They ask for code as they
 * get there: "this address is not translated". A page is translated from such
 * addresses, and from its start last, for nobody knows where its first instruction
 * begins: from each wanted offset the code is followed, through its jumps within the
 * page, and behind a jump that is always taken decoding just goes on, as long as there
 * is room. What an offset holds is what its bytes mean to who jumps there, so guessing
 * where code goes on costs room, never truth.
 */
#ifndef CPI_ANALYSIS_TRANSLATE_H
#define CPI_ANALYSIS_TRANSLATE_H

#include <stddef.h>

#include "abi/uop.h"

struct translator;

/*
 * For an ELF machine (EM_X86_64, …). The caller frees it. Returns 0, -EOPNOTSUPP if
 * windows are not built in for it, or -ENOMEM; then *out is untouched.
 */
int translator_open(unsigned int machine, struct translator **out);
void translator_close(struct translator *t); /* accepts NULL */

/*
 * Translates a page. code holds size bytes: the page's, and up to CPI_CODE_MORE of
 * the next where it is mapped behind; a page that ends early has fewer. wanted holds
 * nr offsets, the most important first: all that there is room for are translated.
 * Returns the number of micro-ops; *out is written as a whole.
 */
size_t translator_page(struct translator *t, const uint8_t *code, size_t size,
		       const uint16_t *wanted, size_t nr, struct cpi_code_page *out);

/* The names of a micro-op's op and of a window's end; "?" for any other number. */
const char *cpi_uop_name(unsigned int op);
const char *cpi_window_end_name(unsigned int end);

#endif
