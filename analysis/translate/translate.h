/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * translate.h - code to micro-ops, a page at a time
 *
 * Windows (kmod/window.h) interpret micro-ops of abi/uop.h. They report each address
 * that they reach and that is not translated. Translation of a page starts at these
 * wanted offsets, and last at the page's start, because where the page's first
 * instruction begins is not known. From each wanted offset it follows the code through
 * jumps within the page, up to a number of instructions, or without limit. In the
 * latter case it goes on decoding behind a jump that is always taken, as long as there
 * is room. The micro-ops of an offset are correct for a jump to that offset, so a wrong
 * guess wastes room, but gives no wrong result.
 */
#ifndef CPI_ANALYSIS_TRANSLATE_H
#define CPI_ANALYSIS_TRANSLATE_H

#include <stddef.h>

#include "abi/form.h"
#include "abi/uop.h"

struct translator;

/*
 * For an ELF machine (EM_X86_64, …). The caller frees it. Returns 0, -EOPNOTSUPP if
 * windows are not built in for it, or -ENOMEM; then *out is untouched.
 */
int translator_open(unsigned int machine, struct translator **out);
void translator_close(struct translator *t); /* accepts NULL */

/*
 * Translates a page. code holds size bytes: the page's, and up to CPI_CODE_MORE of the
 * next page if that is mapped behind it; fewer if the page ends early. wanted holds nr
 * offsets, the most important first; they are translated as long as there is room.
 * Returns the number of micro-ops; *out is written as a whole.
 */
size_t translator_page(struct translator *t, const uint8_t *code, size_t size,
		       const uint16_t *wanted, size_t nr, struct cpi_code_page *out);

/*
 * The same, but only of the code that control reaches from a wanted offset within this
 * many instructions, of which those at starts do not count: a bit for each offset of
 * the page, 64 to a word. What is at starts is translated in any case.
 */
#define TRANSLATOR_ALL UINT32_MAX /* for reach: also what no jump leads to */
size_t translator_reach(struct translator *t, const uint8_t *code, size_t size,
			const uint16_t *wanted, size_t nr,
			const uint64_t starts[CPI_CODE_LINES], uint32_t reach,
			struct cpi_code_page *out);

/*
 * A form and its micro-ops (abi/form.h), whose bits of the length say what is filled
 * in. how has CPI_FORM_CONSTANT if the form includes the constant of the instruction.
 */
struct translator_form {
	uint64_t key[2];
	uint8_t nr; /* micro-ops; 0: the form is refused */
	uint8_t how;
	struct cpi_uop uop[CPI_FORM_UOPS];
};

/*
 * Makes the form of the instruction at the begin of code. Returns 0; or -EINVAL if
 * cpi_form_split() finds no instruction; then *out is untouched.
 */
int translator_form(struct translator *t, const uint8_t code[CPI_FORM_BYTES],
		    struct translator_form *out);

#endif
