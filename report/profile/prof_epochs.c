/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_epochs.c - merges epochs that follow each other
 */
#include "config.h"

#include "report/profile/prof_epochs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"

#define LOOK_BACK 256 /* stretches that are searched for one of the same machine */

static bool continues(const struct prof_stretch *s, const struct query_epoch *e)
{
	const uint64_t apart =
		e->from_ns > s->to_ns ? e->from_ns - s->to_ns : s->to_ns - e->from_ns;

	return apart < NSEC_PER_SEC && !strcmp(s->first->boot_id, e->boot_id) &&
	       !strcmp(s->first->label, e->label);
}

/* The last stretch of a machine; NULL if it has none, or one that is too far back. */
static struct prof_stretch *last_of(struct prof_stretch *list, size_t nr,
				    const char *host)
{
	for (size_t i = nr; i > 0 && nr - i < LOOK_BACK; i--) {
		if (!strcmp(list[i - 1].first->host, host))
			return &list[i - 1];
	}
	return NULL;
}

int prof_merge_epochs(const struct query_epochs *e, struct prof_stretch **out,
		      size_t *nr)
{
	struct prof_stretch *list = calloc(e->nr + 1, sizeof(*list));
	size_t used = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < e->nr; i++) {
		const struct query_epoch *epoch = &e->epoch[i];
		struct prof_stretch *s = last_of(list, used, epoch->host);

		if (!s || !continues(s, epoch)) {
			s = &list[used++];
			s->first = epoch;
		}
		s->to_ns = epoch->to_ns;
		s->open = epoch->open;
		s->nr++;
	}
	*out = list;
	*nr = used;
	return 0;
}
