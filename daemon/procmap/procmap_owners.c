/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * procmap_owners.c - whose account a process is in
 *
 * A system call for each process of a build would be a twentieth of the daemon's time.
 * So root's processes are asked for their user after a reading of events, at most once
 * a second, when most of them have ended.
 */
#include "config.h"

#include "daemon/procmap/processmaps.h"
#include "daemon/procmap/procmap_private.h"

#define MAX_UNASKED 1024 /* processes; then procmap_ask_owners() is due */

/*
 * Returns a reference to the account of tgid's owner; NULL if the owner is not known or
 * memory is short.
 */
struct account *procmap_account_of(struct procmap *pm, uint32_t tgid)
{
	uint32_t uid;

	return pm->owner && !pm->owner(tgid, &uid) ? accounts_get(&pm->accounts, uid)
						   : NULL;
}

/*
 * Returns a reference to the account of a process that inherits the account `from`.
 * Only a process in root's account may move to another account (accounts.h).
 */
static struct account *inherit_account(struct procmap *pm, struct account *from,
				       uint32_t tgid)
{
	struct account *a = !from || !from->uid ? procmap_account_of(pm, tgid) : NULL;

	return a ? a : account_hold(from);
}

/*
 * Moves a process of root to another account if its user has changed.
 */
void procmap_ask_owner(struct procmap *pm, struct process *p)
{
	struct account *a = inherit_account(pm, p->account, p->tgid);

	if (a != p->account) {
		account_charge_process(&pm->accounts, p->account, -1);
		account_charge_process(&pm->accounts, a, 1);
		if (p->maps && p->maps->nr_users == 1) /* else they stay the parent's */
			maps_move(&pm->accounts, p->maps, a);
	}
	account_put(&pm->accounts, p->account);
	p->account = a;
}

void procmap_ask_owners(struct procmap *pm)
{
	for (struct process *p = pm->all; p && pm->nr_unasked; p = p->next) {
		if (!p->unasked)
			continue;
		p->unasked = false;
		pm->nr_unasked--;
		if (!p->exited && !p->superseded)
			procmap_ask_owner(pm, p);
	}
}

/* In a flood of processes the first ones are asked before the last ones come. */
void procmap_ask_later(struct procmap *pm, struct process *p)
{
	if (p->unasked)
		return;
	p->unasked = true;
	if (++pm->nr_unasked >= MAX_UNASKED)
		procmap_ask_owners(pm);
}
