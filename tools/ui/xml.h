/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xml.h - writes names of unknown origin as XML text
 */
#ifndef CPI_TOOLS_XML_H
#define CPI_TOOLS_XML_H

#include "base/buf.h"

/*
 * Appends s so that XML reads it as plain text, also in a quoted attribute: on one
 * line, with '?' for NULL and for characters that XML does not allow.
 */
void xml_put(struct buf *out, const char *s);

#endif
