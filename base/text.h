/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text.h - names from outside, made safe to show
 *
 * Paths, command names and symbol names may be any bytes: they may control a terminal,
 * and need not be UTF-8. All code that writes for people, or for programs that show
 * text to people, asks text_is_control() which characters to replace.
 */
#ifndef CPI_BASE_TEXT_H
#define CPI_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define TEXT_INVALID 0xfffdu

/*
 * Returns the code point at *s and moves *s past it. A byte that does not begin valid
 * UTF-8 is returned as TEXT_INVALID, one byte long. At the end it returns 0 and *s
 * stays.
 */
uint32_t text_next(const char **s);

/*
 * Whether a code point is a control (C0, DEL, C1), reorders the text after it, ends a
 * line or paragraph, or is invisible, so that two names could look the same.
 */
bool text_is_control(uint32_t code);

/* Appends code as UTF-8. */
void text_put(struct buf *b, uint32_t code);

/* Appends s for a person: one line, controls and invalid bytes as '?'. */
void text_put_clean(struct buf *b, const char *s);

/* The same in place: s does not become longer. */
void text_clean(char *s);

/* Whether text_clean() would not change s. */
bool text_is_clean(const char *s);

/* The number of code points in s, by which columns are aligned. */
size_t text_width(const char *s);

/* Length in bytes of the first width code points of s. */
size_t text_prefix(const char *s, size_t width);

/* How many hexadecimal digits, in lower case, s begins with. */
size_t text_hex_digits(const char *s);

#endif
