/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thin.h - the levels of a store's thinned samples (table thin_profile)
 *
 * At level k each sample was kept with a probability of 1/5^k. Level 1 is not stored,
 * because it would take a fifth of the space of the rows, and save little time.
 */
#ifndef CPI_DB_CLICKHOUSE_THIN_H
#define CPI_DB_CLICKHOUSE_THIN_H

#include <stdint.h>

#define THIN_FIRST 2
#define THIN_LAST  8
#define THIN_BY    5

/* 5^level: how many samples each kept one stands for. */
static inline uint64_t thin_factor(unsigned int level)
{
	uint64_t factor = 1;

	while (level--)
		factor *= THIN_BY;
	return factor;
}

#endif
