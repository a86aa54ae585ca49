/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - names that others chose, made safe to show
 *
 * Paths, command and symbol names are any bytes at all: they may steer a
 * terminal, or be no UTF-8.
 */
#ifndef CPI_TOOLS_TEXT_H
#define CPI_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TEXT_INVALID 0xfffdu

/*
 * The code point at *s, which moves behind it. A byte that begins no valid
 * UTF-8 is TEXT_INVALID and one byte long. At the end: 0, and *s stays.
 */
uint32_t text_next(const char **s);

/* Controls (C0, DEL, C1) and marks that reorder or hide what follows them. */
bool text_is_control(uint32_t code);

/* Appends code as UTF-8. */
void text_put(struct buf *b, uint32_t code);

/* Appends s for a person: one line, controls and invalid bytes as '?'. */
void text_put_clean(struct buf *b, const char *s);

/* Code points in s, which is what a column of text is aligned by. */
size_t text_width(const char *s);

/* Length in bytes of the first width code points of s. */
size_t text_prefix(const char *s, size_t width);

#endif
