/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfevents.h - names and units of a recording's events
 */
#ifndef CPI_DAEMON_PERFEVENTS_H
#define CPI_DAEMON_PERFEVENTS_H

#include "daemon/collect/event.h"
#include "daemon/import/perfdata.h"

#define PERFEVENTS_NAME_SIZE 128

/* The name in the recording, or, if it has none, the name that perf would show. */
void perfevents_name(const struct perfdata *pd, int event,
		     char out[PERFEVENTS_NAME_SIZE]);

/*
 * The unit of an event's period, by the event's name: "cpu_core/cycles/pp" counts
 * cycles.
 */
enum event_unit perfevents_unit(const char *name);

/* The clock rate in a processor's name, "… @ 2.00GHz"; 0: there is none. */
uint64_t perfevents_clock(const char *cpu);

#endif
