// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpi_counter.c - one perf counter per CPU and event
 *
 * A single hardware event is pinned: it counts all the time, or is in the error state
 * (nr_error). Several hardware events are not pinned, so that there may be more of them
 * than counters. Then perf rotates them every few milliseconds
 * (perf_event_mux_interval_ms), about as finely as DCPI did (SOSP'97 section 4.1). Each
 * event counts for running_ns / enabled_ns of the time.
 */
#include <linux/err.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/string.h>

#include "kmod/cpi.h"

/* ---- one CPU ---- */

static u32 nr_hardware(void)
{
	u32 nr = 0;

	for (u32 i = 0; i < cpi.config.nr_events; i++)
		nr += !cpi_config_is_clock(&cpi.config.events[i]);
	return nr;
}

struct perf_event *cpi_counter_create(const struct cpi_kmod_event *e, unsigned int cpu,
				      bool pinned, perf_overflow_handler_t handler,
				      void *context)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = e->type,
		.config = e->config,
		.config1 = e->config1,
		.config2 = e->config2,
		.sample_period = e->period,
		.disabled = 1,
		.pinned = pinned,
		.exclude_user = !!(e->flags & CPI_KMOD_EXCLUDE_USER),
		.exclude_kernel = !!(e->flags & CPI_KMOD_EXCLUDE_KERNEL),
		.exclude_hv = !!(e->flags & CPI_KMOD_EXCLUDE_HV),
	};
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&attr, cpu, NULL, handler, context);
	if (IS_ERR(event) || cpi_config_can_sample(e, event))
		return event;
	perf_event_release_kernel(event);
	return ERR_PTR(-EOPNOTSUPP);
}

static int open_event(struct cpi_cpu *cpu, u32 i)
{
	const struct cpi_kmod_event *e = &cpi.config.events[i];
	struct cpi_counter *c = &cpu->counter[i];
	u32 hardware = nr_hardware();
	perf_overflow_handler_t handler =
		cpi_handler_choose(cpi.config.flags & CPI_KMOD_OUTCOME,
				   hardware && hardware < cpi.config.nr_events);
	struct perf_event *event;

	cpi_period_set(&c->period, e->period, e->spread);
	event = cpi_counter_create(e, cpu->number,
				   cpi_config_is_clock(e) || hardware == 1, handler, c);
	if (IS_ERR(event))
		return PTR_ERR(event);
	cpu->event[i] = event;
	cpi_period_draw(&c->period, event);
	return 0;
}

void cpi_counter_add_value(struct perf_event *event, struct cpi_gone *sum)
{
	u64 enabled, running;

	sum->event_count += perf_event_read_value(event, &enabled, &running);
	sum->enabled_ns += enabled;
	sum->running_ns += running;
}

static void close_events(struct cpi_cpu *cpu)
{
	for (int i = 0; i < CPI_MAX_EVENTS; i++) {
		if (!cpu->event[i])
			continue;
		perf_event_disable(cpu->event[i]);
		cpi_counter_add_value(cpu->event[i], &cpi.gone[i]);
		perf_event_release_kernel(cpu->event[i]);
		cpu->event[i] = NULL;
	}
}

/* Some CPUs do not have an event: P and E cores have different PMUs. */
bool cpi_counter_is_missing(int err)
{
	return err == -ENOENT || err == -ENODEV;
}

/*
 * Opens all counters that are not open. Returns the last error; *failed is its event,
 * and *nr has the counters by event.
 */
static int open_events(struct cpi_cpu *cpu, int *failed, u32 *nr)
{
	int err = 0, last = 0;

	for (u32 i = 0; i < cpi.config.nr_events; i++) {
		if (!cpu->event[i]) {
			err = open_event(cpu, i);
			if (err) {
				last = err;
				*failed = i;
				if (!cpi_counter_is_missing(err))
					break;
				continue;
			}
		}
		nr[i]++;
	}
	return last;
}

static int open_cpu(unsigned int number, int *failed, u32 *nr)
{
	if (!cpi.cpus[number])
		cpi.cpus[number] = cpi_buffer_alloc(number);
	if (!cpi.cpus[number])
		return -ENOMEM;
	return open_events(cpi.cpus[number], failed, nr);
}

static void start_cpu(struct cpi_cpu *cpu)
{
	for (u32 i = 0; i < cpi.config.nr_events; i++) {
		if (cpu->event[i])
			perf_event_enable(cpu->event[i]);
	}
}

static void stop_cpu(struct cpi_cpu *cpu)
{
	for (u32 i = 0; i < cpi.config.nr_events; i++) {
		if (cpu->event[i])
			perf_event_disable(cpu->event[i]);
	}
}

/* ---- all CPUs ---- */

int cpi_counter_configure(struct cpi_kmod_config *config)
{
	u32 nr[CPI_MAX_EVENTS] = { 0 };
	int err, failed = -1;
	unsigned int cpu;

	config->failed_event = -1;
	if (cpi.running)
		return -EBUSY;
	err = cpi_config_check(config);
	if (err)
		return err;
	cpi_counter_close();
	cpi.config = *config;
	cpi.config.pair_bytes = cpi_buffer_pair_bytes();
	config->pair_bytes = cpi.config.pair_bytes;
	for_each_cpu (cpu, &cpi.online) {
		err = open_cpu(cpu, &failed, nr);
		if (err && !cpi_counter_is_missing(err))
			goto fail;
	}
	for (u32 i = 0; i < config->nr_events; i++) {
		if (nr[i])
			continue;
		failed = i;
		err = -ENOENT;
		goto fail;
	}
	return 0;
fail:
	config->failed_event = failed;
	cpi_counter_close();
	return err;
}

/* Ends everything, and frees all memory. */
void cpi_counter_close(void)
{
	for (unsigned int i = 0; i < nr_cpu_ids; i++) {
		if (cpi.cpus[i])
			close_events(cpi.cpus[i]);
		cpi_buffer_free(cpi.cpus[i]);
		cpi.cpus[i] = NULL;
	}
	memset(cpi.gone, 0, sizeof(cpi.gone));
	cpi.config.nr_events = 0;
	cpi.running = false;
}

static void start_all(void)
{
	unsigned int cpu;

	for_each_cpu (cpu, &cpi.online) {
		if (cpi.cpus[cpu])
			start_cpu(cpi.cpus[cpu]);
	}
}

static void stop_all(void)
{
	for (unsigned int i = 0; i < nr_cpu_ids; i++) {
		if (cpi.cpus[i])
			stop_cpu(cpi.cpus[i]);
	}
}

int cpi_counter_start(void)
{
	if (!cpi.config.nr_events)
		return -ENXIO;
	if (cpi.running)
		return -EBUSY;
	cpi.running = true;
	start_all();
	return 0;
}

void cpi_counter_stop(void)
{
	cpi.running = false;
	stop_all();
}

/* Firmware may forget what counters were set to: perf sets them when they start. */
void cpi_counter_suspend(void)
{
	if (cpi.running)
		stop_all();
	cpi_window_suspend();
}

void cpi_counter_resume(void)
{
	if (cpi.running)
		start_all();
	cpi_window_resume();
}

static int set_period_on(struct cpi_cpu *cpu, const struct cpi_kmod_period *p)
{
	struct perf_event *event = cpu->event[p->event];
	struct cpi_counter *c = &cpu->counter[p->event];
	int err;

	cpi_period_set(&c->period, p->period, p->spread);
	if (!event)
		return 0;
	err = perf_event_period(event, p->period);
	cpi_period_draw(&c->period, event);
	return err;
}

int cpi_counter_set_period(const struct cpi_kmod_period *p)
{
	struct cpi_kmod_event *e;
	int err;

	if (!cpi.config.nr_events)
		return -ENXIO;
	if (cpi.running)
		return -EBUSY;
	if (p->reserved || p->event >= cpi.config.nr_events)
		return -EINVAL;
	e = &cpi.config.events[p->event];
	err = cpi_config_check_period(e, p->period, p->spread);
	for (unsigned int i = 0; i < nr_cpu_ids && !err; i++) {
		if (cpi.cpus[i])
			err = set_period_on(cpi.cpus[i], p);
	}
	if (err)
		return err;
	e->period = p->period;
	e->spread = p->spread;
	return 0;
}

/* ---- accounting ---- */

static void add_counts(const struct cpi_cpu *cpu, struct cpi_kmod_counts *counts,
		       struct cpi_gone *sum)
{
	const struct cpi_counter *c = &cpu->counter[counts->event];
	struct perf_event *event = cpu->event[counts->event];

	counts->received += READ_ONCE(c->received);
	counts->nested += READ_ONCE(c->nested);
	counts->overflow += READ_ONCE(cpu->lost[counts->event]);
	if (!event)
		return;
	cpi_counter_add_value(event, sum);
	counts->nr_error += READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR;
}

int cpi_counter_counts(struct cpi_kmod_counts *counts)
{
	struct cpi_gone sum;

	if (!cpi.config.nr_events)
		return -ENXIO;
	if (counts->event >= cpi.config.nr_events)
		return -EINVAL;
	*counts = (struct cpi_kmod_counts){ .event = counts->event };
	sum = cpi.gone[counts->event];
	for (unsigned int i = 0; i < nr_cpu_ids; i++) {
		if (cpi.cpus[i])
			add_counts(cpi.cpus[i], counts, &sum);
	}
	counts->event_count = sum.event_count;
	counts->enabled_ns = sum.enabled_ns;
	counts->running_ns = sum.running_ns;
	return 0;
}

int cpi_counter_stats(struct cpi_kmod_stats *stats)
{
	const struct cpi_tallies *t;
	const struct cpi_cpu *cpu;

	if (stats->cpu >= nr_cpu_ids)
		return -EINVAL;
	cpu = cpi.cpus[stats->cpu];
	if (!cpu)
		return -ENXIO;
	t = &cpu->tallies;
	*stats = (struct cpi_kmod_stats){
		.cpu = stats->cpu,
		.bytes = cpi_buffer_bytes(),
		.direct = READ_ONCE(t->direct),
		.inserts = READ_ONCE(t->inserts),
		.evictions = READ_ONCE(t->evictions),
		.unreadable = READ_ONCE(t->unreadable),
		.wakeups = READ_ONCE(t->wakeups),
		.hit_cycles = READ_ONCE(t->hit_cycles),
		.nr_timed_hits = READ_ONCE(t->nr_timed_hits),
		.miss_cycles = READ_ONCE(t->miss_cycles),
		.nr_timed_misses = READ_ONCE(t->nr_timed_misses),
	};
	for (u32 i = 0; i < cpi.config.nr_events; i++) {
		stats->received += READ_ONCE(cpu->counter[i].received);
		stats->nested += READ_ONCE(cpu->counter[i].nested);
		stats->overflow += READ_ONCE(cpu->lost[i]);
	}
	return 0;
}

/* ---- hotplug: new CPUs are sampled; samples of removed CPUs are kept ---- */

int cpi_cpu_online(unsigned int cpu)
{
	u32 nr[CPI_MAX_EVENTS] = { 0 };
	int err, failed = 0;

	mutex_lock(&cpi.lock);
	cpumask_set_cpu(cpu, &cpi.online);
	if (cpi.config.nr_events) {
		err = open_cpu(cpu, &failed, nr);
		if (err && !cpi_counter_is_missing(err))
			pr_warn("cpi: CPU %u, event %d: error %d: not sampled\n", cpu,
				failed, err);
		if (cpi.cpus[cpu] && cpi.running)
			start_cpu(cpi.cpus[cpu]);
	}
	cpi_window_online(cpu);
	mutex_unlock(&cpi.lock);
	return 0; /* never keep a CPU from coming */
}

int cpi_cpu_offline(unsigned int cpu)
{
	mutex_lock(&cpi.lock);
	cpumask_clear_cpu(cpu, &cpi.online);
	if (cpi.cpus[cpu])
		close_events(cpi.cpus[cpu]);
	cpi_window_offline(cpu);
	mutex_unlock(&cpi.lock);
	return 0;
}
