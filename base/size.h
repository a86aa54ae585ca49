/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * size.h - parses numbers of bytes as people write them
 */
#ifndef CPI_BASE_SIZE_H
#define CPI_BASE_SIZE_H

#include <stdint.h>

/* Reads "64M", "65536K", "1G", or bytes. Returns 0, or -EINVAL, also for 0 bytes. */
int size_parse(const char *text, uint64_t *bytes);

#endif
