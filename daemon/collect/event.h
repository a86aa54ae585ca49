/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event.h - what to sample, by perf's names
 */
#ifndef CPI_DAEMON_EVENT_H
#define CPI_DAEMON_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/profile/model.h"
#include "decode/ibs.h"

/* The scheduler's ticks are nothing of perf's, which refuses this type. */
#define EVENT_TYPE_TICKS UINT32_MAX

enum event_unit { EVENT_NS, EVENT_CYCLES, EVENT_EVENTS };

/* Who tells more of a sampled instruction than its PC. */
enum event_record {
	EVENT_RECORDS_NOTHING,
	EVENT_RECORDS_IBS_FETCH,
	EVENT_RECORDS_IBS_OP,
	EVENT_RECORDS_SPE,
	EVENT_RECORDS_PEBS, /* what perf calls precise */
};

#define EVENT_NAME_SIZE 64

struct event {
	char name[EVENT_NAME_SIZE]; /* without the period */
	uint32_t type;              /* of perf_event_attr */
	uint64_t config, config1, config2;
	bool exclude_user, exclude_kernel, exclude_hv;
	enum event_unit unit;
	uint64_t period;     /* asked for with '@'; 0: from the rate */
	uint64_t per_second; /* for a period from the rate: how many a CPU makes */
	enum landing landing;
	enum event_record record;
	int precise;                      /* precise_ip */
	bool branches;                    /* samples come with the last branches */
	uint64_t weight_type;             /* the PERF_SAMPLE_WEIGHT… that there is */
	uint64_t period_min, period_step; /* what periods the hardware takes; 0: any */
	uint64_t filter_config2;          /* to be set where a mode is excluded */
	struct ibs_machine ibs;           /* its capabilities come with each sample */
};

/*
 * Reads NAME[:MODIFIERS][@PERIOD]: perf's generic and software names and rNNN
 * are known here, ibs_op, ibs_fetch, arm_spe and PMU/TERMS/ are sysfs's (hwevent.h),
 * every other name is libpfm4's. Modifiers u, k, h, and p, at most three times. With
 * "+branches" behind them samples have the branches before them.
 * "ticks" has none, and no period but the kernel's. clock_hz
 * serves those that count cycles; 0: it is not known. Returns 0, or -EINVAL (logged).
 */
int event_parse(const char *spec, uint64_t clock_hz, struct event *out);

/* The same as event_parse() with another sysfs than /sys. */
int event_parse_in(const char *sysfs, const char *spec, uint64_t clock_hz,
		   struct event *out);

/* Whether it is the scheduler's ticks: user mode alone, at the kernel's own rate. */
bool event_is_ticks(const struct event *e);

/* The period for hz samples per second and CPU: from 1 to about EVENT_MAX_PERIOD. */
uint64_t event_period(const struct event *e, double hz);

/* The nearest period that the hardware takes, at least 1. */
uint64_t event_round_period(const struct event *e, uint64_t period);

/*
 * Are samples taken in interrupts and NMIs alone? Those of the kernel's software
 * events but its clocks, and of breakpoints, are taken wherever a task is.
 */
bool event_interrupts(const struct event *e);

/* Fills type, config and what is excluded; everything else is untouched. */
void event_attr(const struct event *e, struct perf_event_attr *attr);

/* perf's name for a generic or software event; NULL: it is none. */
const char *event_generic_name(uint32_t type, uint64_t config);

/* What an event of that name counts; what is not generic counts events. */
enum event_unit event_generic_unit(const char *name);

const char *event_unit_str(enum event_unit unit);

#endif
