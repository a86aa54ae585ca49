/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * counters.c - opens perf events, one per CPU and configured event, and redraws their
 * periods
 *
 * Periods are randomised from user space with PERF_EVENT_IOC_PERIOD: every two hundred
 * samples, but at most ten times a second, and for clocks at least once a second.
 * (SOSP'97 section 4.1.1 draws one at each interrupt; here that would take a system
 * call per interrupt.) The ioctl restarts the period, so each restart loses half a
 * sample on average. Clock events make up for it: their programmed rate is the wanted
 * rate plus half the number of restarts per second.
 * So count / mean period remains the expected number of samples. Rates, not periods,
 * are drawn, uniformly around the wanted rate. A draw of rate × (1 + d) is followed by
 * one of rate × (1 - d), so their mean is the wanted rate.
 */
#include "config.h"

#include "daemon/collect/counters.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/times.h"

#define RANDOMISE_MIN_NS      (100 * NSEC_PER_MSEC)
#define RANDOMISE_MAX_NS      NSEC_PER_SEC
#define RANDOMISE_PER_TICK    16     /* bounds the ioctls on machines with many CPUs */
#define RANDOMISE_SPREAD      0.0625 /* of the rate, to either side */
#define RANDOMISE_MIN_SAMPLES 200    /* per restart */

struct cpu_event {
	int fd; /* -1: not open */
	uint64_t id;
	struct perfthreads others; /* the same event for the target's other threads */
	double mirror;             /* the next draw, if has_mirror */
	bool has_mirror;
};

struct cpu {
	bool open;
	struct cpu_event *event; /* by event */
};

struct counters {
	struct counters_config cfg;
	struct cpu *cpu; /* by number */
	int nr_cpus, nr_open;
	bool draws_rarely; /* see counters_draw_rarely() */
	uint64_t read_format;
	uint64_t random;
	int next_draw; /* where the next counters_randomise() begins */
	uint64_t drawn_at[CPI_MAX_EVENTS]; /* received when periods were last chosen */
	struct collector_counts gone[CPI_MAX_EVENTS]; /* of CPUs that went offline */
};

/* ---- periods ---- */

static double random_unit(struct counters *cs)
{
	cs->random = hash_u64(cs->random + 0x9e3779b97f4a7c15ULL);
	return (double)(cs->random >> 11) / (double)(1ULL << 53);
}

static bool is_clock(const struct event *e)
{
	return e->unit != EVENT_EVENTS;
}

/*
 * The time in which the fastest clock takes RANDOMISE_MIN_SAMPLES, but at least
 * RANDOMISE_MIN_NS and at most RANDOMISE_MAX_NS. The rate of other events varies, so if
 * there are any, it is RANDOMISE_MIN_NS.
 */
uint64_t counters_random_ns(const struct counters *cs)
{
	double ns = RANDOMISE_MAX_NS;

	for (int i = 0; i < cs->cfg.nr_events; i++) {
		const struct event *e = &cs->cfg.events[i];
		double took = RANDOMISE_MIN_NS;

		if (is_clock(e))
			took = RANDOMISE_MIN_SAMPLES * (double)NSEC_PER_SEC *
			       (double)cs->cfg.periods[i] / (double)e->per_second;
		if (took < ns)
			ns = took;
	}
	return ns > RANDOMISE_MIN_NS ? (uint64_t)ns : RANDOMISE_MIN_NS;
}

/* The number of threads whose events are restarted together. */
static int nr_threads(const struct counters *cs)
{
	return 1 + cs->cfg.target.nr_threads;
}

/* How often an event of a CPU is restarted per second. */
static double restarts_per_second(const struct counters *cs)
{
	const int all = cs->nr_open * cs->cfg.nr_events * nr_threads(cs);
	double per_tick = (double)RANDOMISE_PER_TICK / (all > 0 ? all : 1);

	return (per_tick < 1 ? per_tick : 1) * NSEC_PER_SEC /
	       (double)counters_random_ns(cs);
}

/* Draws the next period of one event on one CPU. */
static uint64_t draw_period(struct counters *cs, struct cpu_event *ce, int event)
{
	const struct event *e = &cs->cfg.events[event];
	double period = (double)cs->cfg.periods[event], deviation, rate;

	if (ce->has_mirror)
		deviation = ce->mirror;
	else
		deviation = (2 * random_unit(cs) - 1) * RANDOMISE_SPREAD;
	ce->mirror = -deviation;
	ce->has_mirror = !ce->has_mirror;
	rate = (double)e->per_second / period * (1 + deviation);
	if (is_clock(e) && !cs->draws_rarely)
		rate += restarts_per_second(cs) / 2;
	period = (double)e->per_second / rate;
	return event_round_period(e, (uint64_t)(period + 0.5));
}

static void redraw(struct counters *cs, struct cpu_event *ce, int event)
{
	uint64_t period = draw_period(cs, ce, event);

	ioctl(ce->fd, PERF_EVENT_IOC_PERIOD, &period);
	perfthreads_ioctl(&ce->others, PERF_EVENT_IOC_PERIOD, (uintptr_t)&period);
}

void counters_randomise(struct counters *cs, const uint64_t *received)
{
	int all = cs->nr_cpus * cs->cfg.nr_events, done = 0;

	for (int i = 0; i < all && done < RANDOMISE_PER_TICK; i++) {
		int at = cs->next_draw++ % all, event = at / cs->nr_cpus;
		struct cpu *cpu = &cs->cpu[at % cs->nr_cpus];

		if (!cpu->open)
			continue;
		if (!is_clock(&cs->cfg.events[event])) {
			if (received[event] - cs->drawn_at[event] <
			    (uint64_t)cs->nr_open * RANDOMISE_MIN_SAMPLES)
				continue;
			if (at % cs->nr_cpus == cs->nr_cpus - 1)
				cs->drawn_at[event] = received[event];
		}
		redraw(cs, &cpu->event[event], event);
		done += nr_threads(cs);
	}
	if (all)
		cs->next_draw %= all;
}

void counters_draw_rarely(struct counters *cs, bool rarely)
{
	bool begins = rarely && !cs->draws_rarely;

	cs->draws_rarely = rarely;
	for (int i = 0; i < cs->nr_cpus && begins; i++) {
		for (int e = 0; e < cs->cfg.nr_events && cs->cpu[i].open; e++) {
			if (is_clock(&cs->cfg.events[e]))
				redraw(cs, &cs->cpu[i].event[e], e);
		}
	}
}

/* ---- opening ---- */

static void set_attr(const struct counters *cs, int event, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.read_format = cs->read_format,
		.inherit = cs->cfg.target.pid >= 0,
		.disabled = 1,
		.enable_on_exec = cs->cfg.target.enable_on_exec && !cs->cfg.held,
	};
	if (cs->cfg.set_attr)
		cs->cfg.set_attr(cs->cfg.ctx, event, attr);
	event_attr(&cs->cfg.events[event], attr);
}

/*
 * Opens the event for the target's other threads. Their samples go to the ring of the
 * first thread, unless each_thread is set.
 */
static int open_others(struct counters *cs, int cpu, int event,
		       const struct perf_event_attr *attr)
{
	struct cpu_event *ce = &cs->cpu[cpu].event[event];
	int err = perfthreads_open(&cs->cfg.target, attr, cpu, &ce->others);

	if (!err && !cs->cfg.each_thread)
		return perfthreads_ioctl(&ce->others, PERF_EVENT_IOC_SET_OUTPUT,
					 ce->fd);
	for (int i = 0; i < ce->others.nr && !err; i++)
		err = cs->cfg.opened(cs->cfg.ctx, cpu, event, ce->others.event[i].fd);
	return err;
}

static int open_event(struct counters *cs, int cpu, int event)
{
	struct cpu_event *ce = &cs->cpu[cpu].event[event];
	struct perf_event_attr attr;
	int fd, err;

	set_attr(cs, event, &attr);
	attr.sample_period = draw_period(cs, ce, event);
	fd = perfev_open(&attr, cs->cfg.target.pid, cpu);
	if (fd == -EINVAL && cs->read_format & PERF_FORMAT_LOST && !cs->nr_open &&
	    !event) {
		cs->read_format &= ~PERF_FORMAT_LOST; /* before Linux 6.0 */
		attr.read_format = cs->read_format;
		fd = perfev_open(&attr, cs->cfg.target.pid, cpu);
	}
	if (fd < 0)
		return fd;
	ce->fd = fd;
	if (ioctl(fd, PERF_EVENT_IOC_ID, &ce->id))
		return -errno;
	err = cs->cfg.opened(cs->cfg.ctx, cpu, event, fd);
	return err ? err : open_others(cs, cpu, event, &attr);
}

static void cpu_stop(const struct counters *cs, const struct cpu *cpu)
{
	for (int i = 0; i < cs->cfg.nr_events; i++) {
		const struct cpu_event *ce = &cpu->event[i];

		if (ce->fd >= 0)
			ioctl(ce->fd, PERF_EVENT_IOC_DISABLE, 0);
		perfthreads_ioctl(&ce->others, PERF_EVENT_IOC_DISABLE, 0);
	}
}

/* No event is removed while it counts: see CVE-2026-23271 in tools/doctor. */
static void cpu_close(struct counters *cs, int number)
{
	struct cpu *cpu = &cs->cpu[number];

	cpu_stop(cs, cpu);
	if (cs->cfg.closing)
		cs->cfg.closing(cs->cfg.ctx, number);
	for (int i = 0; i < cs->cfg.nr_events; i++) {
		perfthreads_close(&cpu->event[i].others);
		if (cpu->event[i].fd >= 0)
			close(cpu->event[i].fd);
		cpu->event[i].fd = -1;
	}
	cpu->open = false;
}

static int enable(const struct counters *cs, const struct cpu_event *ce)
{
	if (cs->cfg.target.enable_on_exec || cs->cfg.held)
		return 0;
	if (ioctl(ce->fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return perfthreads_ioctl(&ce->others, PERF_EVENT_IOC_ENABLE, 0);
}

/* Opens all events of one CPU and starts them together. */
static int cpu_open(struct counters *cs, int number, int *event)
{
	struct cpu *cpu = &cs->cpu[number];
	int err = 0;

	for (int i = 0; i < cs->cfg.nr_events && !err; i++) {
		*event = i;
		err = open_event(cs, number, i);
	}
	for (int i = 0; i < cs->cfg.nr_events && !err; i++)
		err = enable(cs, &cpu->event[i]);
	if (err) {
		cpu_close(cs, number);
		return err;
	}
	cpu->open = true;
	cs->nr_open++;
	return 0;
}

static int grow_cpus(struct counters *cs, int nr)
{
	struct cpu *grown;

	if (nr <= cs->nr_cpus)
		return 0;
	grown = realloc(cs->cpu, nr * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	cs->cpu = grown;
	for (; cs->nr_cpus < nr; cs->nr_cpus++) {
		struct cpu *cpu = &cs->cpu[cs->nr_cpus];

		*cpu = (struct cpu){ .event = calloc(cs->cfg.nr_events,
						     sizeof(*cpu->event)) };
		if (!cpu->event)
			return -ENOMEM;
		for (int i = 0; i < cs->cfg.nr_events; i++)
			cpu->event[i].fd = -1;
	}
	return 0;
}

void counters_close(struct counters *cs)
{
	if (!cs)
		return;
	for (int i = 0; i < cs->nr_cpus; i++) {
		cpu_close(cs, i);
		free(cs->cpu[i].event);
	}
	free(cs->cpu);
	free(cs);
}

int counters_open(const struct counters_config *cfg, const struct cpus *cpus,
		  struct counters **out, int *event)
{
	struct counters *cs = calloc(1, sizeof(*cs));
	int err;

	*event = -1;
	if (!cs)
		return -ENOMEM;
	cs->cfg = *cfg;
	cs->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			  PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST;
	cs->random = hash_u64(time_real_ns());
	err = grow_cpus(cs, cpus->highest + 1);
	for (int i = 0; i <= cpus->highest && !err; i++) {
		if (cpus->online[i])
			err = cpu_open(cs, i, event);
	}
	if (err) {
		counters_close(cs);
		return err;
	}
	*out = cs;
	return 0;
}

/* ---- counts, CPUs, end ---- */

bool counters_has(const struct counters *cs, int cpu)
{
	return cpu < cs->nr_cpus && cs->cpu[cpu].open;
}

int counters_event_of_id(const struct counters *cs, int cpu, uint64_t id)
{
	for (int i = 0; i < cs->cfg.nr_events; i++) {
		const struct cpu_event *ce = &cs->cpu[cpu].event[i];

		if (ce->id == id || perfthreads_have(&ce->others, id))
			return i;
	}
	return 0; /* impossible: the kernel made the id */
}

static void add_counts_of(const struct counters *cs, int fd,
			  struct collector_counts *out)
{
	uint64_t v[4] = { 0 };

	if (read(fd, v, sizeof(v)) < 0)
		return;
	out->event_count += v[0];
	out->enabled_ns += v[1];
	out->running_ns += v[2];
	if (cs->read_format & PERF_FORMAT_LOST)
		out->ring_lost += v[3];
}

/* Adds what the kernel counted for one event on one CPU. */
static void add_counts(const struct counters *cs, const struct cpu_event *ce,
		       struct collector_counts *out)
{
	add_counts_of(cs, ce->fd, out);
	for (int i = 0; i < ce->others.nr; i++)
		add_counts_of(cs, ce->others.event[i].fd, out);
}

/* Whether an event's count equals its running time, except while it is throttled. */
static bool counts_time(const struct counters *cs, int event)
{
	const struct event *e = &cs->cfg.events[event];

	return cs->cfg.target.pid < 0 && e->type == PERF_TYPE_SOFTWARE &&
	       e->config == PERF_COUNT_SW_CPU_CLOCK;
}

bool counters_read(const struct counters *cs, int event, struct collector_counts *out)
{
	struct collector_counts sum = cs->gone[event];

	for (int i = 0; i < cs->nr_cpus; i++) {
		if (cs->cpu[i].open)
			add_counts(cs, &cs->cpu[i].event[event], &sum);
	}
	if (counts_time(cs, event) && sum.running_ns > sum.event_count) {
		sum.throttled_ns = sum.running_ns - sum.event_count;
		sum.event_count = sum.running_ns;
	}
	/* A process's event is enabled on each CPU, and runs where the process does. */
	if (cs->cfg.target.pid >= 0 && cs->nr_open)
		sum.enabled_ns /= cs->nr_open;
	out->event_count = sum.event_count;
	out->enabled_ns = sum.enabled_ns;
	out->running_ns = sum.running_ns;
	out->throttled_ns = sum.throttled_ns;
	if (cs->read_format & PERF_FORMAT_LOST)
		out->ring_lost = sum.ring_lost;
	return cs->read_format & PERF_FORMAT_LOST;
}

int counters_set_cpus(struct counters *cs, const struct cpus *cpus)
{
	int err = grow_cpus(cs, cpus->highest + 1), event;

	for (int i = 0; i < cs->nr_cpus; i++) {
		bool wanted = i <= cpus->highest && cpus->online[i];
		struct cpu *cpu = &cs->cpu[i];

		if (!wanted && cpu->open) {
			for (int e = 0; e < cs->cfg.nr_events; e++)
				add_counts(cs, &cpu->event[e], &cs->gone[e]);
			cpu_close(cs, i);
			cs->nr_open--;
		} else if (wanted && !cpu->open) {
			int failed = cpu_open(cs, i, &event);

			err = failed ? failed : err;
		}
	}
	return err;
}

void counters_stop(struct counters *cs)
{
	for (int i = 0; i < cs->nr_cpus; i++) {
		if (cs->cpu[i].open)
			cpu_stop(cs, &cs->cpu[i]);
	}
}

static int restart_event(struct counters *cs, struct cpu_event *ce, int event)
{
	uint64_t period;

	ce->has_mirror = false;
	period = draw_period(cs, ce, event);
	if (ioctl(ce->fd, PERF_EVENT_IOC_PERIOD, &period) ||
	    ioctl(ce->fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	perfthreads_ioctl(&ce->others, PERF_EVENT_IOC_PERIOD, (uintptr_t)&period);
	return perfthreads_ioctl(&ce->others, PERF_EVENT_IOC_ENABLE, 0);
}

int counters_restart(struct counters *cs)
{
	int err = 0;

	for (int i = 0; i < cs->nr_cpus; i++) {
		for (int e = 0; e < cs->cfg.nr_events && cs->cpu[i].open; e++) {
			int failed = restart_event(cs, &cs->cpu[i].event[e], e);

			err = failed ? failed : err;
		}
	}
	return err;
}

/* The target has executed its program by now, so events are enabled directly. */
int counters_release(struct counters *cs)
{
	cs->cfg.held = false;
	cs->cfg.target.enable_on_exec = false;
	return counters_restart(cs);
}
