/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event.h - parses the names of events, and describes what to sample
 */
#ifndef CPI_DAEMON_EVENT_H
#define CPI_DAEMON_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "db/profile/model.h"
#include "decode/ibs.h"

/*
 * The type of scheduler ticks. They are not a perf event: the kernel refuses this type.
 */
#define EVENT_TYPE_TICKS UINT32_MAX

enum event_unit { EVENT_NS, EVENT_CYCLES, EVENT_EVENTS };

/* The hardware that records more than the PC of a sampled instruction. */
enum event_record {
	EVENT_RECORDS_NOTHING,
	EVENT_RECORDS_IBS_FETCH,
	EVENT_RECORDS_IBS_OP,
	EVENT_RECORDS_SPE,
	EVENT_RECORDS_PEBS, /* precise samples (precise_ip) */
};

#define EVENT_NAME_SIZE 64

struct event {
	char name[EVENT_NAME_SIZE]; /* without the period */
	uint32_t type;              /* of perf_event_attr */
	uint64_t config, config1, config2;
	bool exclude_user, exclude_kernel, exclude_hv;
	enum event_unit unit;
	uint64_t period; /* given with '@'; 0: computed from the rate */
	/*
	 * counts per second on a busy CPU (ns: 1e9; cycles: the clock rate), by which a
	 * rate becomes a period
	 */
	uint64_t per_second;
	enum landing landing;
	enum event_record record;
	int precise;                      /* precise_ip */
	bool branches;                    /* samples have the last branches */
	uint64_t weight_type;             /* the kernel's PERF_SAMPLE_WEIGHT… flag */
	uint64_t period_min, period_step; /* periods that the hardware takes; 0: any */
	uint64_t filter_config2; /* bits of config2 to set if a mode is excluded */
	/* the CPU's family and model; capabilities come with each sample */
	struct ibs_machine ibs;
};

/*
 * Parses NAME[:MODIFIERS][+branches][@PERIOD]. NAME is a generic or software name of
 * perf, rNNN, ticks, a PMU of sysfs (ibs_op, ibs_fetch, arm_spe, PMU/TERMS/; see
 * hwevent.h), or else a name of libpfm4. Modifiers are u, k, h, and p (at most three
 * times). With +branches, samples have the branches before them. ticks takes no
 * modifiers and no period. clock_hz is the CPU's clock rate, used for events that count
 * cycles or instructions; 0: not known. Returns 0 or -EINVAL (logged).
 */
int event_parse(const char *spec, uint64_t clock_hz, struct event *out);

/* The same as event_parse() with another sysfs than /sys. */
int event_parse_in(const char *sysfs, const char *spec, uint64_t clock_hz,
		   struct event *out);

/*
 * Whether the event is the scheduler's ticks, which sample busy CPUs CONFIG_HZ times a
 * second.
 */
bool event_is_ticks(const struct event *e);

/*
 * Returns the event's own period, or else the period for hz samples per second on a
 * busy CPU. The result is from 1 to about EVENT_MAX_PERIOD.
 */
uint64_t event_period(const struct event *e, double hz);

/*
 * Returns how many samples per second a busy CPU takes of those of the nr events that
 * are clocks, all together. periods has the mean period of each.
 */
double event_busy_hz(const struct event *e, const uint64_t *periods, int nr);

/* Returns the nearest period that the hardware takes; at least 1. */
uint64_t event_round_period(const struct event *e, uint64_t period);

/*
 * Whether all samples are taken in interrupts or NMIs. Samples of software events other
 * than clocks, of tracepoints and of breakpoints are taken in the task itself.
 */
bool event_interrupts(const struct event *e);

/*
 * Sets the type, config, excluded modes, precise_ip and branch_sample_type in attr.
 * Other members are unchanged.
 */
void event_attr(const struct event *e, struct perf_event_attr *attr);

/* Returns perf's name of a generic or software event; NULL if it is neither. */
const char *event_generic_name(uint32_t type, uint64_t config);

/*
 * Returns the unit of the generic event with this name; EVENT_EVENTS for other names.
 */
enum event_unit event_generic_unit(const char *name);

const char *event_unit_str(enum event_unit unit);

#endif
