/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * amount.h - sums of samples that may have different weights
 *
 * Machines sample at different periods, and send different parts of their samples. So a
 * number of samples says neither how much they stand for, nor how precise that is. The
 * variance of a sum of weighted counts is the sum of the squares of the weights.
 */
#ifndef CPI_REPORT_FLEET_AMOUNT_H
#define CPI_REPORT_FLEET_AMOUNT_H

#include <stdint.h>

struct fleet_amount {
	uint64_t n;      /* samples that were read */
	double amount;   /* what they stand for: the sum of their weights */
	double variance; /* of amount: the sum of the squares of their weights */
};

/* Adds n samples of the same weight, amount / n. */
void fleet_amount_add(struct fleet_amount *a, uint64_t n, double amount);

/*
 * Returns how many samples of equal weights have the same relative error as these. That
 * is n if all weights are equal, and 0 if there are no samples.
 */
double fleet_amount_samples(const struct fleet_amount *a);

#endif
