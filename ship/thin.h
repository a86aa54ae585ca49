/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thin.h - draws which samples are kept in the store's thinned table
 */
#ifndef CPI_SHIP_THIN_H
#define CPI_SHIP_THIN_H

#include <stdint.h>

/* A state that differs in each process and call. */
uint64_t thin_seed(void);

/*
 * How many of n samples are kept if each one is with a probability of 1/5. Exactly
 * binomial for less than 65536 samples; beyond that the normal distribution with the
 * same mean and variance, which bounds the time.
 */
uint64_t thin_draw(uint64_t *state, uint64_t n);

#endif
