/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unseen.h - how many kinds a sample did not show (capture and recapture)
 *
 * Chao, "Nonparametric estimation of the number of classes in a population",
 * Scandinavian Journal of Statistics 11 (1984), corrected for bias: few kinds are
 * unseen if most that were seen came again.
 */
#ifndef CPI_ANALYSIS_UNSEEN_H
#define CPI_ANALYSIS_UNSEEN_H

/* once and twice: how many kinds were seen so often. A lower bound, in the mean. */
static inline double unseen_kinds(double once, double twice)
{
	return once * (once - 1) / (2 * (twice + 1));
}

#endif
