/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procname.h - procedures as people name them: [IMAGE:]NAME
 */
#ifndef CPI_REPORT_PROCNAME_H
#define CPI_REPORT_PROCNAME_H

#include <stdbool.h>

/* Where a ':' ends an image in "IMAGE:NAME"; NULL: nowhere. C++'s "::" ends none. */
const char *procname_image_end(const char *proc);

/* Whether name means the procedure full, "f(int)" also by "f". */
bool procname_is(const char *full, const char *name);

#endif
