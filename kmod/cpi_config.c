// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi_config.c - which configurations user space may ask for
 *
 * Only two kinds of events may be sampled: hardware counters that can interrupt, and
 * cpu-clock. Other software events (tracepoints, probes, breakpoints, page faults) are
 * refused: they happen in any context, so the handler would run inside whatever the
 * kernel is doing. Counters that cannot interrupt are refused because they would never
 * produce a sample.
 */
#include <linux/perf_event.h>

#include "kmod/cpi.h"

#define CLOCK_MIN_PERIOD_NS 10000 /* perf raises shorter periods to this */

bool cpi_config_is_clock(const struct cpi_kmod_event *e)
{
	return e->type == PERF_TYPE_SOFTWARE;
}

int cpi_config_check_period(const struct cpi_kmod_event *e, u64 period, u64 spread)
{
	if (!period || period >> 62 || spread >= period || spread > U32_MAX / 2)
		return -EINVAL;
	if (cpi_config_is_clock(e) && period - spread < CLOCK_MIN_PERIOD_NS)
		return -ERANGE;
	return 0;
}

int cpi_config_check_event(const struct cpi_kmod_event *e)
{
	if (e->flags & ~CPI_KMOD_EVENT_FLAGS)
		return -EINVAL;
	if (e->type == PERF_TYPE_TRACEPOINT || e->type == PERF_TYPE_BREAKPOINT ||
	    (cpi_config_is_clock(e) && e->config != PERF_COUNT_SW_CPU_CLOCK))
		return -EOPNOTSUPP;
	return cpi_config_check_period(e, e->period, e->spread);
}

static int check_size(u32 *size, u32 by_default, u32 min, u32 max)
{
	if (!*size)
		*size = by_default;
	return *size < min || *size > max ? -EINVAL : 0;
}

int cpi_config_check(struct cpi_kmod_config *config)
{
	int err;

	if (config->version != CPI_KMOD_VERSION)
		return -EPROTO;
	if (config->flags & ~CPI_KMOD_CONFIG_FLAGS || config->reserved ||
	    !config->nr_events || config->nr_events > CPI_MAX_EVENTS)
		return -EINVAL;
	err = check_size(&config->nr_buckets, CPI_KMOD_DEFAULT_BUCKETS,
			 CPI_KMOD_MIN_BUCKETS, CPI_KMOD_MAX_BUCKETS);
	if (!err)
		err = check_size(&config->nr_entries, CPI_KMOD_DEFAULT_ENTRIES,
				 CPI_KMOD_MIN_ENTRIES, CPI_KMOD_MAX_ENTRIES);
	if (!err && config->nr_buckets & (config->nr_buckets - 1))
		err = -EINVAL;
	for (u32 i = 0; i < config->nr_events && !err; i++) {
		err = cpi_config_check_event(&config->events[i]);
		if (err)
			config->failed_event = i;
	}
	return err;
}

/*
 * Whether the event can interrupt. Clocks are known by their type, others only by
 * the PMU that perf chose.
 */
bool cpi_config_can_sample(const struct cpi_kmod_event *e,
			   const struct perf_event *event)
{
	return cpi_config_is_clock(e) ||
	       (event->pmu->task_ctx_nr != perf_sw_context &&
		!(event->pmu->capabilities & PERF_PMU_CAP_NO_INTERRUPT));
}
