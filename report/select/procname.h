/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procname.h - names of procedures as users type them: [IMAGE:]NAME
 */
#ifndef CPI_REPORT_PROCNAME_H
#define CPI_REPORT_PROCNAME_H

#include <stdbool.h>

/*
 * Returns the ':' after the image in "IMAGE:NAME", or NULL. "::" of C++ does not count.
 */
const char *procname_image_end(const char *proc);

/* Whether `name`, as a user typed it, selects the procedure whose full name is `full`:
 * "f" also selects "f(int)". */
bool procname_is(const char *full, const char *name);

#endif
