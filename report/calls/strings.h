/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * strings.h - a table that stores each different string once, and numbers it
 */
#ifndef CPI_REPORT_STRINGS_H
#define CPI_REPORT_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hmap.h"

/* Starts as { 0 }. Numbers are 0, 1, 2, … in the order of first use. */
struct strings {
	struct hmap map;
	struct arena memory;
	struct string **at;
	size_t nr;
};

/* Returns the number of text in *out; copies new text. 0, -ENOMEM or -CPI_ELIMIT. */
int strings_add(struct strings *s, const char *text, uint32_t *out);
const char *strings_at(const struct strings *s, uint32_t i);
void strings_fini(struct strings *s); /* s is empty again */

#endif
