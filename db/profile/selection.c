/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * selection.c - whether a context is selected
 */
#include "config.h"

#include "db/profile/selection.h"

#include <fnmatch.h>

unsigned int query_restricted_kinds(const struct query_selection *sel)
{
	unsigned int kinds = sel->takes_cgroup ? 1u << CONTEXT_CGROUP : 0;

	for (int kind = 0; kind < NR_CONTEXT_KINDS; kind++)
		kinds |= sel->context[kind] ? 1u << kind : 0;
	return kinds;
}

/* An empty value is no value. */
static bool takes_value(const struct query_selection *sel, enum context_kind kind,
			const char *value)
{
	const char *glob = sel->context[kind];

	if (!*value || (glob && fnmatch(glob, value, 0)))
		return false;
	return kind != CONTEXT_CGROUP || !sel->takes_cgroup ||
	       sel->takes_cgroup(sel, value);
}

bool query_takes_context(const struct query_selection *sel, const char *name)
{
	const unsigned int restricted = query_restricted_kinds(sel);
	const unsigned int kinds = restricted | sel->apart;
	const bool several = kinds & (kinds - 1);
	char value[CONTEXT_VALUE_MAX + 1];

	if (several && !context_is_whole(name))
		return false;
	if (!(context_kinds(name) & kinds))
		return false;
	for (int kind = 0; kind < NR_CONTEXT_KINDS; kind++) {
		if (restricted & 1u << kind && (!context_value(name, kind, value) ||
						!takes_value(sel, kind, value)))
			return false;
	}
	return true;
}
