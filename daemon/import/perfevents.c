/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfevents.c - converts the events of a recording
 */
#include "config.h"

#include "daemon/import/perfevents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends perf's modifiers, such as ":upp": what is counted, and how precisely. */
static void add_modifiers(const struct perfdata_event *e, char *name)
{
	char *at = name + strlen(name);

	if (!e->exclude_user && !e->exclude_kernel && !e->precise_ip)
		return;
	*at++ = ':';
	if (e->exclude_user || e->exclude_kernel) {
		if (!e->exclude_user)
			*at++ = 'u';
		if (!e->exclude_kernel)
			*at++ = 'k';
	}
	for (int i = 0; i < e->precise_ip; i++)
		*at++ = 'p';
	*at = '\0';
}

void perfevents_name(const struct perfdata *pd, int event,
		     char out[PERFEVENTS_NAME_SIZE])
{
	const struct perfdata_event *e = &perfdata_info(pd)->event[event];
	const char *generic = event_generic_name(e->type, e->config);
	const char *pmu = perfdata_pmu_name(pd, event);

	if (e->name[0]) {
		snprintf(out, PERFEVENTS_NAME_SIZE, "%s", e->name);
		return;
	}
	if (generic)
		snprintf(out, PERFEVENTS_NAME_SIZE, "%s", generic);
	else if (e->type == PERF_TYPE_RAW)
		snprintf(out, PERFEVENTS_NAME_SIZE, "r%" PRIx64, e->config);
	else if (*pmu)
		snprintf(out, PERFEVENTS_NAME_SIZE, "%.64s/config=0x%" PRIx64 "/", pmu,
			 e->config);
	else
		snprintf(out, PERFEVENTS_NAME_SIZE,
			 "type%" PRIu32 "/config=0x%" PRIx64 "/", e->type, e->config);
	add_modifiers(e, out);
}

enum event_unit perfevents_unit(const char *name)
{
	char plain[32];
	const char *slash = strchr(name, '/');

	name = slash ? slash + 1 : name;
	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(name, ":/,"), name);
	return event_generic_unit(plain);
}

uint64_t perfevents_clock(const char *cpu)
{
	const char *at = cpu ? strrchr(cpu, '@') : NULL;
	char *unit;
	double rate;

	if (!at)
		return 0;
	rate = strtod(at + 1, &unit);
	if (!(rate > 0 && rate < 1e4))
		return 0;
	if (!strncmp(unit, "GHz", 3))
		return (uint64_t)(rate * 1e9 + 0.5);
	if (!strncmp(unit, "MHz", 3))
		return (uint64_t)(rate * 1e6 + 0.5);
	return 0;
}
