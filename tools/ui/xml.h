/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xml.h - names that others chose, as the text of a picture
 */
#ifndef CPI_TOOLS_XML_H
#define CPI_TOOLS_XML_H

#include "base/buf.h"

/*
 * Appends s so that XML reads it as text and nothing else, also in an attribute in
 * quotes: one line, what XML has no character for as '?', and so is NULL.
 */
void xml_put(struct buf *out, const char *s);

#endif
