/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * label.h - how a process says under which label it is profiled
 *
 * It maps a memfd with the label in its name executable, for a moment: the kernel's
 * record of the mapping tells who did, and when, among its records of forks and execs.
 * Nobody speaks of another process, and nothing has to listen. For collectors that
 * begin later the label is in the environment, too.
 */
#ifndef CPI_ABI_LABEL_H
#define CPI_ABI_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#define CPI_LABEL_MAX    63           /* bytes */
#define CPI_LABEL_MEMFD  "cpi-label=" /* then the label */
#define CPI_LABEL_MAPPED "/memfd:" CPI_LABEL_MEMFD
#define CPI_LABEL_ENV    "CPI_LABEL"

/* Whether these are printable ASCII, without spaces; brackets begin names of reports.
 */
static inline bool cpi_label_is_valid(const char *label, size_t len)
{
	if (!len || len > CPI_LABEL_MAX || label[0] == '[')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (label[i] <= ' ' || label[i] > '~')
			return false;
	}
	return true;
}

#endif
