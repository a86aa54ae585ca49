/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jsontext.h - text as a JSON string
 */
#ifndef CPI_BASE_JSONTEXT_H
#define CPI_BASE_JSONTEXT_H

#include "base/buf.h"

/*
 * Appends s in quotes. Any bytes: those that are not UTF-8 become U+FFFD; characters
 * that text_is_control() names are escaped.
 */
void jsontext_put(struct buf *b, const char *s);

#endif
