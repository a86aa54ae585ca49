/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * label.h - how a process sets the label under which it is profiled
 *
 * The process creates a memfd whose name contains the label, maps it as executable, and
 * unmaps it at once. The kernel's record of the mapping says which process did this,
 * and when, in order with its forks and execs. So a process can only label itself, and
 * no daemon has to run. For collectors that start later, the label is also in the
 * environment.
 */
#ifndef CPI_ABI_LABEL_H
#define CPI_ABI_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#define CPI_LABEL_MAX    63           /* bytes */
#define CPI_LABEL_MEMFD  "cpi-label=" /* the label follows */
#define CPI_LABEL_MAPPED "/memfd:" CPI_LABEL_MEMFD
#define CPI_LABEL_ENV    "CPI_LABEL"

/*
 * Whether the label is printable ASCII without spaces, and does not begin with a
 * bracket, as reserved names such as [other] do.
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
