/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accounts.c - limits that depend on how much is free
 *
 * The limit of an account's processes is the dynamic threshold of Choudhury and Hahne,
 * "Dynamic queue length thresholds for shared-memory packet switches", IEEE/ACM
 * Transactions on Networking 6(2), 1998, section III, where alpha is ACCOUNT_FACTOR.
 */
#include "config.h"

#include "daemon/procmap/accounts.h"

#include <stdlib.h>

#include "base/hash.h"

void accounts_fini(struct accounts *as)
{
	hmap_fini(&as->by_uid);
}

static struct account *find_account(const struct accounts *as, uint32_t uid)
{
	struct hnode *n;

	for (n = hmap_first(&as->by_uid, hash_u64(uid)); n; n = hmap_next(n)) {
		struct account *a = container_of(n, struct account, node);

		if (a->uid == uid)
			return a;
	}
	return NULL;
}

struct account *accounts_get(struct accounts *as, uint32_t uid)
{
	struct account *a = find_account(as, uid);

	if (a)
		return account_hold(a);
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	if (hmap_insert(&as->by_uid, &a->node, hash_u64(uid))) {
		free(a);
		return NULL;
	}
	a->uid = uid;
	a->nr_users = 1;
	return a;
}

struct account *account_hold(struct account *a)
{
	if (a)
		a->nr_users++;
	return a;
}

void account_put(struct accounts *as, struct account *a)
{
	if (!a || --a->nr_users)
		return;
	hmap_remove(&as->by_uid, &a->node);
	free(a);
}

bool accounts_have_room(const struct accounts *as, size_t nr)
{
	return as->nr_ranges + nr <= as->max_ranges;
}

struct account *accounts_largest(const struct accounts *as)
{
	struct account *largest = NULL;
	struct hnode *n, *next;

	hmap_for_each (&as->by_uid, n, next) {
		struct account *a = container_of(n, struct account, node);

		if (a->nr_ranges && (!largest || a->nr_ranges > largest->nr_ranges))
			largest = a;
	}
	return largest;
}

bool account_has_place(const struct accounts *as, const struct account *a)
{
	const size_t left = as->max_processes - as->nr_processes;

	if (as->nr_processes >= as->max_processes)
		return false;
	return !a || a->nr_processes < ACCOUNT_FACTOR * (left - 1);
}

void account_charge_ranges(struct accounts *as, struct account *a, ptrdiff_t nr)
{
	as->nr_ranges += (size_t)nr;
	if (a)
		a->nr_ranges += (size_t)nr;
}

void account_charge_process(struct accounts *as, struct account *a, int nr)
{
	as->nr_processes += (size_t)nr;
	if (a)
		a->nr_processes += (size_t)nr;
}

void account_note_record(struct accounts *as, struct account *a)
{
	as->nr_records++;
	if (a)
		a->nr_records++;
}

uint64_t accounts_take_excess(struct accounts *as, uint64_t ns, uint64_t share_ns)
{
	double above = 0;
	struct hnode *n, *next;

	hmap_for_each (&as->by_uid, n, next) {
		struct account *a = container_of(n, struct account, node);
		const double part = as->nr_records
					    ? (double)ns * (double)a->nr_records /
						      (double)as->nr_records
					    : 0;

		if (part > (double)share_ns)
			above += part - (double)share_ns;
		a->nr_records = 0;
	}
	as->nr_records = 0;
	return (uint64_t)above;
}
