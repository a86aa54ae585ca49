/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mapping.h - maps files into memory, without SIGBUS if a file shrinks
 *
 * Pages that the file no longer has read as zeros. The content may still change while
 * it is mapped. So map only files for which mapping_is_safe() holds, and read() the
 * others.
 */
#ifndef CPI_BASE_MAPPING_H
#define CPI_BASE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>

/* Whether only root and the caller can write to the open file. */
bool mapping_is_safe(int fd);

/*
 * Maps the first size bytes, private and writable; fd may be closed afterwards. 0,
 * -EMFILE when too many are mapped, or -errno.
 */
int mapping_open(int fd, size_t size, void **out);
void mapping_close(void *data, size_t size); /* accepts NULL */

#endif
