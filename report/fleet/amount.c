/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * amount.c - adds samples up with their weights
 */
#include "config.h"

#include "report/fleet/amount.h"

void fleet_amount_add(struct fleet_amount *a, uint64_t n, double amount)
{
	if (!n)
		return;
	a->n += n;
	a->amount += amount;
	a->variance += amount * (amount / (double)n);
}

double fleet_amount_samples(const struct fleet_amount *a)
{
	return a->variance > 0 ? a->amount * (a->amount / a->variance) : 0;
}
