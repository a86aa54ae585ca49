/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A user whose entry was reused gets a fresh quota, so an owner of many user ids
 * could get many. The quota of all users together limits that.
 */
#include "config.h"

#include "daemon/control/askers.h"

#include <stddef.h>

#include "base/times.h"

static const struct time_quota_limit each = { 10, 100 * NSEC_PER_MSEC };
static const struct time_quota_limit together = { 20, 200 * NSEC_PER_MSEC };

/* Returns a new entry, or the least recently used one without clients, or NULL. */
static struct asker *find_place(struct askers *as)
{
	struct asker *place = NULL;

	if (as->nr < ASKERS_MAX)
		return &as->asker[as->nr++];
	for (int i = 0; i < as->nr; i++) {
		struct asker *a = &as->asker[i];

		if (!a->nr_clients && (!place || a->used_ns < place->used_ns))
			place = a;
	}
	return place;
}

struct asker *askers_get(struct askers *as, uid_t uid, uint64_t now_ns)
{
	struct asker *a = NULL;

	for (int i = 0; i < as->nr && !a; i++) {
		if (as->asker[i].uid == uid)
			a = &as->asker[i];
	}
	if (!a) {
		a = find_place(as);
		if (a)
			*a = (struct asker){ .uid = uid };
	}
	if (a)
		a->used_ns = now_ns;
	return a;
}

bool askers_may(struct askers *as, struct asker *a, uint64_t now_ns)
{
	return time_quota_has(&a->quota, &each, now_ns) &&
	       time_quota_has(&as->all, &together, now_ns);
}

bool askers_may_accept(struct askers *as, uint64_t now_ns)
{
	return time_quota_has(&as->all, &together, now_ns);
}

void askers_spend(struct askers *as, struct asker *a, uint64_t ns)
{
	time_quota_spend(&a->quota, ns);
	time_quota_spend(&as->all, ns);
}
