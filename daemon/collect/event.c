/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * event.c - parses the names of events
 *
 * The sources of names are asked in turn: the table of generic events, ticks, rNNN, the
 * PMUs in sysfs (hwevent.h), and last libpfm4.
 */
#include "config.h"

#include "daemon/collect/event.h"

#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "base/number.h"
#include "base/times.h"
#include "daemon/collect/eventperiod.h"
#include "daemon/collect/hwevent.h"
#include "daemon/collect/pmu.h"

/* How often events are assumed to happen per second if it is not known. */
#define EVENTS_PER_SECOND_HARDWARE 100000000ULL
#define EVENTS_PER_SECOND_SOFTWARE 100000ULL

#define PRECISE_MAX 3 /* maximum of precise_ip */

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
	enum event_unit unit;
} generic[] = {
#define SOFTWARE(n, c, u)                                   \
	{                                                   \
		n, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##c, u \
	}
#define HARDWARE(n, c, u)                                   \
	{                                                   \
		n, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##c, u \
	}
	SOFTWARE("cpu-clock", CPU_CLOCK, EVENT_NS),
	SOFTWARE("task-clock", TASK_CLOCK, EVENT_NS),
	SOFTWARE("page-faults", PAGE_FAULTS, EVENT_EVENTS),
	SOFTWARE("faults", PAGE_FAULTS, EVENT_EVENTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN, EVENT_EVENTS),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ, EVENT_EVENTS),
	SOFTWARE("context-switches", CONTEXT_SWITCHES, EVENT_EVENTS),
	SOFTWARE("cs", CONTEXT_SWITCHES, EVENT_EVENTS),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS, EVENT_EVENTS),
	SOFTWARE("migrations", CPU_MIGRATIONS, EVENT_EVENTS),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS, EVENT_EVENTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS, EVENT_EVENTS),
	HARDWARE("cycles", CPU_CYCLES, EVENT_CYCLES),
	HARDWARE("cpu-cycles", CPU_CYCLES, EVENT_CYCLES),
	HARDWARE("ref-cycles", REF_CPU_CYCLES, EVENT_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS, EVENT_EVENTS),
	HARDWARE("cache-references", CACHE_REFERENCES, EVENT_EVENTS),
	HARDWARE("cache-misses", CACHE_MISSES, EVENT_EVENTS),
	HARDWARE("branches", BRANCH_INSTRUCTIONS, EVENT_EVENTS),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS, EVENT_EVENTS),
	HARDWARE("branch-misses", BRANCH_MISSES, EVENT_EVENTS),
	HARDWARE("bus-cycles", BUS_CYCLES, EVENT_EVENTS),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND, EVENT_EVENTS),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND, EVENT_EVENTS),
#undef SOFTWARE
#undef HARDWARE
};

static int find_generic(struct event *e, const char *name)
{
	for (size_t i = 0; i < sizeof(generic) / sizeof(generic[0]); i++) {
		if (strcmp(generic[i].name, name))
			continue;
		e->type = generic[i].type;
		e->config = generic[i].config;
		e->unit = generic[i].unit;
		return 0;
	}
	return -ENOENT;
}

const char *event_generic_name(uint32_t type, uint64_t config)
{
	for (size_t i = 0; i < sizeof(generic) / sizeof(generic[0]); i++) {
		if (generic[i].type == type && generic[i].config == config)
			return generic[i].name;
	}
	return NULL;
}

enum event_unit event_generic_unit(const char *name)
{
	struct event e = { .unit = EVENT_EVENTS };

	find_generic(&e, name);
	return e.unit;
}

static int find_raw(struct event *e, const char *name)
{
	if (name[0] != 'r' || number_parse(name + 1, 16, &e->config))
		return -ENOENT;
	e->type = PERF_TYPE_RAW;
	e->unit = EVENT_EVENTS;
	return 0;
}

static int find_ticks(struct event *e, const char *name)
{
	if (strcmp(name, "ticks") != 0)
		return -ENOENT;
	e->type = EVENT_TYPE_TICKS;
	e->unit = EVENT_NS;
	return 0;
}

/* libpfm4 parses modifiers itself, so name includes them. */
static int find_pfm(struct event *e, const char *name)
{
	struct perf_event_attr attr = { 0 };
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };
	int err = pfm_initialize();

	if (err == PFM_SUCCESS)
		err = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3,
						PFM_OS_PERF_EVENT, &arg);
	if (err != PFM_SUCCESS) {
		log_err("event: %s: %s (perf list shows the names)", name,
			pfm_strerror(err));
		return -EINVAL;
	}
	e->type = attr.type;
	e->config = attr.config;
	e->config1 = attr.config1;
	e->config2 = attr.config2;
	e->exclude_user = attr.exclude_user;
	e->exclude_kernel = attr.exclude_kernel;
	e->exclude_hv = attr.exclude_hv;
	e->unit = EVENT_EVENTS;
	return 0;
}

/* Sets precise_ip and the excluded modes. */
static int apply_modifiers(struct event *e, const char *modifiers)
{
	const size_t length = strlen(modifiers);
	int level = 0;

	if (!length || strspn(modifiers, "ukhp") != length)
		return -EINVAL;
	for (size_t i = 0; i < length; i++)
		level += modifiers[i] == 'p';
	if (level > PRECISE_MAX)
		return -EINVAL;
	e->precise = level;
	if ((size_t)level == length)
		return 0;
	e->exclude_user = !strchr(modifiers, 'u');
	e->exclude_kernel = !strchr(modifiers, 'k');
	e->exclude_hv = !strchr(modifiers, 'h');
	return 0;
}

/* The result is never 0, because a period of 0 would be an interrupt per event. */
static uint64_t events_per_second(const struct event *e, uint64_t clock_hz)
{
	if (e->unit == EVENT_NS)
		return NSEC_PER_SEC;
	if (clock_hz &&
	    (e->unit == EVENT_CYCLES || (e->type == PERF_TYPE_HARDWARE &&
					 e->config == PERF_COUNT_HW_INSTRUCTIONS)))
		return clock_hz;
	return e->type == PERF_TYPE_SOFTWARE ? EVENTS_PER_SECOND_SOFTWARE
					     : EVENTS_PER_SECOND_HARDWARE;
}

/* Cuts "+branches" off name, and returns whether it was there. */
static bool take_branches(char *name)
{
	char *plus = strrchr(name, '+');
	const bool there = plus && !strcmp(plus, "+branches");

	if (there)
		*plus = '\0';
	return there;
}

/*
 * CONFIG_HZ is in no file that exists on all machines. But coarse clocks advance once
 * per tick, and the kernel reports the tick as their resolution.
 */
static uint64_t tick_period_ns(void)
{
	struct timespec t = { .tv_sec = 0 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &t);
	return time_to_ns(&t);
}

static int complete_ticks(struct event *e, const char *spec)
{
	if (strcmp(spec, e->name) != 0 || strchr(spec, ':')) {
		log_err("event: %s: ticks have neither modifiers nor another period "
			"than the kernel's",
			spec);
		return -EINVAL;
	}
	e->period = tick_period_ns();
	return 0;
}

/*
 * Cuts the modifiers off name: they follow the last colon, or the slash after the terms
 * of a PMU. whole is an uncut copy of name. Returns the modifiers in whole, or NULL.
 */
static const char *take_modifiers(char *name, const char *whole)
{
	char *colon = strrchr(name, ':'), *slash = strrchr(name, '/');

	if (slash && slash[1] && slash[1] != ':' && slash != strchr(name, '/')) {
		slash[1] = '\0';
		return whole + (slash + 1 - name);
	}
	if (!colon)
		return NULL;
	*colon = '\0';
	return whole + (colon + 1 - name);
}

/*
 * Looks up name, which has no modifiers, in all sources of names. Returns 0 or -EINVAL
 * (logged).
 */
static int find_event(const char *sysfs, const char *name, const char *modifiers,
		      uint64_t clock_hz, struct event *e)
{
	int err = find_generic(e, name);

	if (err)
		err = find_ticks(e, name);
	if (err)
		err = find_raw(e, name);
	if (err == -ENOENT)
		err = hwevent_find(sysfs, name, clock_hz, e);
	if (err == -ENOENT)
		return find_pfm(e, e->name);
	if (!err && modifiers && apply_modifiers(e, modifiers)) {
		log_err("event: %s: modifiers are u (user), k (kernel), h "
			"(hypervisor), "
			"and p, pp or ppp (precise)",
			e->name);
		err = -EINVAL;
	}
	return err;
}

int event_parse_in(const char *sysfs, const char *spec, uint64_t clock_hz,
		   struct event *out)
{
	struct event e = { .landing = LANDING_AFTER_GROUP };
	char name[sizeof(e.name)];
	int err;

	if (strlen(spec) >= sizeof(name)) {
		log_err("event: %s: the name is too long", spec);
		return -EINVAL;
	}
	strcpy(name, spec);
	if (eventperiod_read(spec, &e.period))
		return -EINVAL;
	name[strcspn(name, "@")] = '\0';
	e.branches = take_branches(name);
	strcpy(e.name, name);
	err = find_event(sysfs, name, take_modifiers(name, e.name), clock_hz, &e);
	if (!err && event_is_ticks(&e))
		err = complete_ticks(&e, spec);
	if (!err)
		err = hwevent_apply_modifiers(sysfs, clock_hz, &e);
	if (err)
		return err;
	if (!e.per_second)
		e.per_second = events_per_second(&e, clock_hz);
	*out = e;
	return 0;
}

int event_parse(const char *spec, uint64_t clock_hz, struct event *out)
{
	return event_parse_in(PMU_SYSFS, spec, clock_hz, out);
}

bool event_is_ticks(const struct event *e)
{
	return e->type == EVENT_TYPE_TICKS;
}

double event_busy_hz(const struct event *e, const uint64_t *periods, int nr)
{
	double hz = 0;

	for (int i = 0; i < nr; i++) {
		if (e[i].unit != EVENT_EVENTS)
			hz += (double)e[i].per_second / (double)periods[i];
	}
	return hz;
}

uint64_t event_round_period(const struct event *e, uint64_t period)
{
	const uint64_t step = e->period_step ? e->period_step : 1;

	if (period <= UINT64_MAX - step / 2)
		period += step / 2;
	period -= period % step;
	if (period < e->period_min)
		period = e->period_min;
	return period ? period : step;
}

uint64_t event_period(const struct event *e, double hz)
{
	double period = (double)e->per_second / hz;

	if (e->period)
		period = (double)e->period; /* exact, because it is at most 2^53 */
	if (!(period < (double)EVENT_MAX_PERIOD))
		period = (double)EVENT_MAX_PERIOD;
	return event_round_period(e, (uint64_t)(period + 0.5));
}

bool event_interrupts(const struct event *e)
{
	switch (e->type) {
	case PERF_TYPE_SOFTWARE:
		return e->config == PERF_COUNT_SW_CPU_CLOCK ||
		       e->config == PERF_COUNT_SW_TASK_CLOCK;
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT:
		return false;
	default:
		return true;
	}
}

void event_attr(const struct event *e, struct perf_event_attr *attr)
{
	attr->type = e->type;
	attr->config = e->config;
	attr->config1 = e->config1;
	attr->config2 = e->config2;
	attr->exclude_user = e->exclude_user;
	attr->exclude_kernel = e->exclude_kernel;
	attr->exclude_hv = e->exclude_hv;
	attr->precise_ip = e->precise;
	if (e->branches)
		attr->branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	if (e->exclude_user || e->exclude_kernel || e->exclude_hv)
		attr->config2 |= e->filter_config2;
}

const char *event_unit_str(enum event_unit unit)
{
	static const char *const text[] = { "ns", "cycles", "events" };

	return text[unit];
}
