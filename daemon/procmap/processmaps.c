/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * processmaps.c - mappings that a fork shares until one side changes them
 *
 * Most children exec at once, so a fork copies nothing; maps_own() copies before the
 * first change. A mapping that is replaced or unmapped moves to a list of retired
 * mappings, with its end time, for samples that are attributed later.
 */
#include "config.h"

#include "daemon/procmap/processmaps.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"

/* mappings that one change can add: a split leaves two, and one is retired */
#define MOST_ADDED 2

/* Returns empty maps with one user; NULL if out of memory. */
static struct maps *maps_new(struct account *account)
{
	struct maps *maps = calloc(1, sizeof(*maps));

	if (!maps)
		return NULL;
	maps->nr_users = 1;
	maps->account = account_hold(account);
	return maps;
}

void maps_put(struct accounts *as, struct maps *maps)
{
	if (!maps || --maps->nr_users)
		return;
	account_charge_ranges(as, maps->account, -(ptrdiff_t)maps_nr(maps));
	account_put(as, maps->account);
	rangemap_fini(&maps->live);
	free(maps->retired);
	free(maps);
}

size_t maps_nr(const struct maps *maps)
{
	return maps ? maps->live.nr + maps->nr_retired : 0;
}

/* Samples of the time before the copy may still come. */
static int copy_retired(struct accounts *as, struct maps *to, const struct maps *from)
{
	int err = accounts_have_room(as, from->nr_retired) ? 0 : -ENOBUFS;

	for (size_t i = 0; !err && i < from->nr_retired; i++) {
		if (GROW(to->retired, to->nr_retired))
			err = -ENOMEM;
		else
			to->retired[to->nr_retired++] = from->retired[i];
	}
	account_charge_ranges(as, to->account, (ptrdiff_t)to->nr_retired);
	return err;
}

int maps_own(struct accounts *as, struct account *account, size_t max,
	     struct maps **maps)
{
	struct maps *old = *maps, *copy;
	int err = 0;

	if (old && old->nr_users == 1)
		return 0;
	copy = maps_new(account);
	if (!copy)
		return -ENOMEM;
	if (old)
		err = maps_fill(as, copy, max, &old->live);
	if (!err && old)
		err = copy_retired(as, copy, old);
	if (err) {
		maps_put(as, copy);
		return err;
	}
	maps_put(as, old);
	*maps = copy;
	return 0;
}

static int find_room(const struct accounts *as, const struct maps *maps, size_t max,
		     size_t nr)
{
	if (maps_nr(maps) + nr > max)
		return -ENOSPC;
	return accounts_have_room(as, nr) ? 0 : -ENOBUFS;
}

struct retirement {
	struct maps *maps;
	uint64_t when;
	const struct range *by; /* the new mapping; NULL: the old one was unmapped */
	bool failed;
};

static void retire(void *ctx, const struct range *piece, int nr_change)
{
	struct retirement *r = ctx;
	struct maps *maps = r->maps;

	(void)nr_change;
	if (r->by && piece->value == r->by->value && piece->bias == r->by->bias)
		return; /* the same mapping again, as after mprotect() */
	if (GROW(maps->retired, maps->nr_retired)) {
		r->failed = true;
		return;
	}
	maps->retired[maps->nr_retired++] = (struct retired){ *piece, r->when };
}

/* Charges the account after a change of maps that had nr ranges before. */
static int finish_change(struct accounts *as, const struct retirement *r, size_t nr,
			 int err)
{
	account_charge_ranges(as, r->maps->account,
			      (ptrdiff_t)maps_nr(r->maps) - (ptrdiff_t)nr);
	return r->failed ? -ENOMEM : err;
}

int maps_insert(struct accounts *as, struct maps *maps, size_t max,
		const struct range *r)
{
	struct retirement retirement = { .maps = maps, .when = r->since, .by = r };
	const size_t nr = maps_nr(maps);
	int err;

	err = find_room(as, maps, max, 1);
	if (err)
		return err;
	return finish_change(as, &retirement, nr,
			     rangemap_insert(&maps->live, r, retire, &retirement));
}

int maps_remove(struct accounts *as, struct maps *maps, size_t max, uint64_t start,
		uint64_t end, uint64_t when)
{
	struct retirement retirement = { .maps = maps, .when = when };
	const size_t nr = maps_nr(maps);
	int err;

	err = find_room(as, maps, max, MOST_ADDED);
	if (err)
		return err;
	return finish_change(as, &retirement, nr,
			     rangemap_remove(&maps->live, start, end, retire,
					     &retirement));
}

int maps_fill(struct accounts *as, struct maps *maps, size_t max,
	      const struct rangemap *found)
{
	int err;

	err = find_room(as, maps, max, found->nr);
	if (err)
		return err;
	err = rangemap_copy(&maps->live, found);
	if (!err)
		account_charge_ranges(as, maps->account, (ptrdiff_t)found->nr);
	return err;
}

void maps_forget(struct accounts *as, struct maps *maps, uint64_t horizon)
{
	size_t kept = 0;

	for (size_t i = 0; i < maps->nr_retired; i++) {
		if (maps->retired[i].until >= horizon)
			maps->retired[kept++] = maps->retired[i];
	}
	account_charge_ranges(as, maps->account,
			      (ptrdiff_t)kept - (ptrdiff_t)maps->nr_retired);
	maps->nr_retired = kept;
	if (kept)
		return;
	free(maps->retired);
	maps->retired = NULL;
}

void maps_move(struct accounts *as, struct maps *maps, struct account *to)
{
	const ptrdiff_t nr = (ptrdiff_t)maps_nr(maps);

	account_hold(to);
	account_charge_ranges(as, maps->account, -nr);
	account_put(as, maps->account);
	account_charge_ranges(as, to, nr);
	maps->account = to;
}
