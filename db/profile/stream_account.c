/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream_account.c - the one check that no sample was dropped silently
 *
 * The terms come from other processes and from files, so a sum of them may pass 2^64.
 * Such a sum stays at UINT64_MAX. This is more than any account can have received, so
 * the account is refused instead of adding up by accident.
 */
#include "config.h"

#include "db/profile/stream_account.h"

void account_add(uint64_t *sum, uint64_t n)
{
	*sum = n > UINT64_MAX - *sum ? UINT64_MAX : *sum + n;
}

uint64_t account_nr_lost(const struct stream_account *a)
{
	uint64_t n = 0;

	for (int i = 0; i < ACCOUNT_LOSSES; i++)
		account_add(&n, a->lost[i]);
	return n;
}

bool account_adds_up(const struct stream_account *a)
{
	uint64_t sum = a->stored;

	account_add(&sum, account_nr_lost(a));
	account_add(&sum, a->pending);
	return a->received <= INT64_MAX && sum == a->received;
}
