/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * log_repeats.h - which lines were written already; only for log.c
 */
#ifndef CPI_BASE_LOG_REPEATS_H
#define CPI_BASE_LOG_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether a line is to be written now; *nr becomes how often it was left out since it
 * was last written. Threads may call this at the same time.
 */
bool log_repeats_pass(const char *text, size_t size, uint64_t *nr);

#endif
