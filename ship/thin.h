/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * thin.h - chooses at random which samples are kept in the store's thinned table
 */
#ifndef CPI_SHIP_THIN_H
#define CPI_SHIP_THIN_H

#include <stdint.h>

/* A state that differs in each process and call. */
uint64_t thin_seed(void);

/*
 * Draws how many of n samples are kept, if each one is kept with a probability of 1/5.
 * Called once for each level: level k keeps one of 5^k. The distribution is binomial
 * for fewer than 65536 samples. For more it is the normal distribution with the same
 * mean and variance, to limit the time.
 */
uint64_t thin_draw(uint64_t *state, uint64_t n);

/* The same with a probability of 1/by; all are kept if by is 1. */
uint64_t thin_draw_of(uint64_t *state, uint64_t n, uint64_t by);

/*
 * `kept` of `all` things were chosen at random. Draws how many of these are among n of
 * the things. The distribution is hypergeometric for fewer than 65536 things, otherwise
 * nearly the normal one with the same mean and variance. The result is never more than
 * n or kept, nor so small that the other things could not have the rest.
 */
uint64_t thin_draw_among(uint64_t *state, uint64_t n, uint64_t all, uint64_t kept);

#endif
