/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_repeats.h - remembers which lines were written; only for log.c
 */
#ifndef CPI_BASE_LOG_REPEATS_H
#define CPI_BASE_LOG_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether to write a line now. *nr becomes the number of times that it was left out
 * since it was last written. Safe in several threads.
 */
bool log_repeats_pass(const char *text, size_t size, uint64_t *nr);

#endif
