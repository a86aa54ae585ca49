/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stream_account.h - the account of one stream: received, stored and lost samples
 *
 * One account serves every kind of stream: samples, ticks, stacks, windows, imports.
 *
 * I1  received = stored + Σ lost + pending, at any moment.
 */
#ifndef CPI_DB_STREAM_ACCOUNT_H
#define CPI_DB_STREAM_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#define ACCOUNT_LOSSES 32

struct stream_account {
	uint64_t received; /* at the handler's entry */
	uint64_t stored;
	uint64_t lost[ACCOUNT_LOSSES]; /* indexed by the owner's numbers of losses */
	uint64_t pending;              /* received, but neither stored nor lost yet */
	int64_t not_delivered;         /* event count / mean period - received */
};

/*
 * Adds n to a term of an account, or to a sum of terms. A term that would wrap becomes
 * UINT64_MAX and stays so; an account with such a term never adds up.
 */
void account_add(uint64_t *sum, uint64_t n);

/* The sum of lost, added with account_add(). */
uint64_t account_nr_lost(const struct stream_account *a);

/* Whether I1 holds, and received is at most INT64_MAX, which a database can hold. */
bool account_adds_up(const struct stream_account *a);

#endif
