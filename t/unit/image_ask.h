/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * image_ask.h - asks an image about everything, whatever it was made of
 */
#ifndef CPI_T_UNIT_IMAGE_ASK_H
#define CPI_T_UNIT_IMAGE_ASK_H

#include "analysis/image/image.h"

#define IMAGE_ASK_STEP   101 /* bytes between two questions */
#define IMAGE_ASK_INSIDE 5   /* places in a procedure */

/* size is the file's. Returns whether what was heard agrees with itself. */
static inline bool image_ask(struct image *im, uint64_t size)
{
	const struct symbol *const *s, *found;
	const struct inlined *inlined;
	uint8_t code[16];
	bool sane = true;
	size_t nr;

	s = image_symbols(im, &nr);
	for (size_t i = 0; i < nr; i++) {
		sane &= s[i]->start < s[i]->end &&
			(!i || s[i - 1]->start < s[i]->start);
		sane &= image_symbol_at(im, s[i]->start) == s[i];
		image_line_at(im, s[i]->start);
		image_line_at(im, s[i]->end - 1);
		for (uint64_t k = 0; k < IMAGE_ASK_INSIDE; k++)
			image_inlined_at(im,
					 s[i]->start + (s[i]->end - s[i]->start) /
							       IMAGE_ASK_INSIDE * k,
					 &inlined);
	}
	for (uint64_t at = 0; at < size; at += IMAGE_ASK_STEP) {
		found = image_symbol_at(im, at);
		sane &= !found || (found->start <= at && at < found->end);
		image_line_at(im, at);
		for (size_t left = image_inlined_at(im, at, &inlined); left--;)
			sane &= inlined[left].name && *inlined[left].name;
		image_address(im, at);
		image_read(im, at, code, sizeof(code));
	}
	image_symbol_named(im, "via_puts", &found);
	return sane;
}

#endif
