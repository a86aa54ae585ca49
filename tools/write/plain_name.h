/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plain_name.h - readable names for text output, where JSON and CSV have names
 * for programs
 *
 * JSON and CSV keep the names that these functions take.
 */
#ifndef CPI_TOOLS_WRITE_PLAIN_NAME_H
#define CPI_TOOLS_WRITE_PLAIN_NAME_H

#include "base/buf.h"

/* Samples without an image, by their reason: "[JIT or generated code]"; "[unknown]". */
const char *plain_unknown(const char *reason);

/*
 * Appends a procedure: "gzip+0x4290 (stripped)" where its name is "[0x4290]"; nothing
 * for NULL. image may be NULL.
 */
void plain_procedure(const char *name, const char *image, struct buf *out);

#endif
