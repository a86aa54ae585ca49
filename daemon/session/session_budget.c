/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_budget.c - measures the cost of a session, and adjusts its rate
 *
 * The time that a sample takes from the interrupted program is measured repeatedly, one
 * sample at a time, by spinning until the next sample comes (calibrate.h). This takes
 * at most a hundredth of the budget, and is included in the daemon's time. The daemon's
 * own CPU time and that of cpi-translate, as a share of all CPUs, enters as a moving
 * average that begins at 0. So neither a flush nor the first minute, in which all
 * images are new, lowers the rate.
 *
 * The part of this time that is spent on windows is measured apart, and expected to
 * follow their rate: it gives way before that of samples (budget.h, I4).
 *
 * The time for mapping records does not depend on the rate, so a lower rate would not
 * reduce it. Therefore at most a tenth of the budget is counted for the records of one
 * user's processes; their excess appears only in the status.
 *
 * A busy CPU gets the full number of samples of a clock or of cycles, even if other
 * CPUs are idle. So these events are counted at their full rate, and other events by
 * the samples that came.
 */
#include "config.h"

#include <sys/resource.h>
#include <time.h>

#include "base/log.h"
#include "base/times.h"
#include "daemon/collect/calibrate.h"
#include "daemon/session/session_private.h"

/* upper limit of the time of a tick's program, with outcomes */
#define TICK_NS             500.0
#define MEASURING_SHARE     0.01         /* part of the budget for measuring */
#define MEASURING_PAUSE     NSEC_PER_SEC /* between the first measurements */
#define MEASURING_PER_CHECK 6
#define MEASURING_MAX_PAUSE (3600 * NSEC_PER_SEC)
#define MEASURING_MAX_NS    (25 * NSEC_PER_MSEC)
#define DAEMON_SMOOTHING    0.25
#define USER_SHARE          0.1 /* part of the budget for one user's mapping records */
#define FIRST_CHECK_NS      (10 * NSEC_PER_SEC) /* the first rate may have been wrong */

static uint64_t ns_of(struct timeval t)
{
	return (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_usec * 1000;
}

uint64_t session_cpu_ns(void)
{
	struct rusage use;

	if (getrusage(RUSAGE_SELF, &use))
		return 0;
	return ns_of(use.ru_utime) + ns_of(use.ru_stime);
}

void session_count_mappings(struct session *s, uint64_t since_ns)
{
	s->cost.mapping_ns += session_thread_ns() - since_ns;
}

uint64_t session_thread_ns(void)
{
	return time_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* CPU time of the samplers' own work outside of interrupts. */
static uint64_t work_cpu_ns(const struct session *s, uint64_t *helper_ns)
{
	uint64_t work_ns = 0, own_ns;
	const struct sampler *p;

	*helper_ns = 0;
	for_each_sampler (s, p) {
		if (!p->ops->work_ns)
			continue;
		work_ns += p->ops->work_ns(p, &own_ns);
		*helper_ns += own_ns;
	}
	return work_ns;
}

/*
 * CPU time of this thread, of its timed child, and of helpers of samplers. Other
 * threads do work that does not depend on the rate: retention and the control socket.
 */
static uint64_t sampling_cpu_ns(const struct session *s, uint64_t *work_ns)
{
	uint64_t helper_ns;

	*work_ns = work_cpu_ns(s, &helper_ns);
	return session_thread_ns() + timed_child_cpu_ns(s->timed_child) + helper_ns;
}

void session_budget_begin(struct session *s)
{
	struct session_cost *cost = &s->cost;
	uint64_t now = session_now(s);

	s->budget = budget_init(s->cfg.budget, CALIBRATE_MIN_HZ,
				session_rate_limit(s->events.max_hz));
	cost->next_sample_ns = now + MEASURING_PAUSE;
	cost->checked_ns = now;
	cost->next_check_ns = now + (s->cfg.check_ns < FIRST_CHECK_NS ? s->cfg.check_ns
								      : FIRST_CHECK_NS);
	cost->cpu_ns = sampling_cpu_ns(s, &cost->work_ns);
}

/* ---- cost of a sample ---- */

static uint64_t ask_progress(void *ctx, int cpu)
{
	const struct session *s = ctx;

	return s->events.ops->progress(s->events.collector, cpu);
}

/* Whether spinning makes any of the events happen. */
static bool can_measure(const struct session *s)
{
	for (int e = 0; e < s->events.nr && !s->cfg.target; e++) {
		if ((s->events.event[e].unit != EVENT_EVENTS ||
		     s->events.event[e].type != PERF_TYPE_SOFTWARE) &&
		    !event_is_ticks(&s->events.event[e]))
			return true;
	}
	return false;
}

static double at_most(double v, double max)
{
	return v < max ? v : max;
}

/* The pause after a measurement that took spent_ns. */
static double pause_after(const struct session *s, double spent_ns)
{
	double pause_ns = spent_ns / (MEASURING_SHARE * s->cfg.budget * s->cpus.nr);
	double least_ns = (double)s->cfg.check_ns / MEASURING_PER_CHECK;

	if (budget_is_learning(&s->budget))
		return MEASURING_PAUSE; /* in time for the first check */
	if (least_ns < MEASURING_PAUSE)
		least_ns = MEASURING_PAUSE;
	if (pause_ns < least_ns)
		return least_ns;
	return at_most(pause_ns, MEASURING_MAX_PAUSE);
}

static void measure_sample(struct session *s, uint64_t now)
{
	const struct calibrate_samples samples = { ask_progress, s };
	const uint64_t begun_ns = time_mono_ns();
	double max_ns = at_most(2.0 * NSEC_PER_SEC / s->events.hz, MEASURING_MAX_NS),
	       cost_ns = 0;

	if (can_measure(s))
		(void)calibrate_sample(&samples, (uint64_t)max_ns, &cost_ns);
	budget_note(&s->budget, cost_ns);
	budget_sample_cost(&s->budget, &s->events.interrupt_ns);
	s->cost.next_sample_ns =
		now + (uint64_t)pause_after(s, (double)(time_mono_ns() - begun_ns));
}

/* ---- cost of sampling ---- */

/*
 * The CPU time of a sample. A tick's interrupt happens anyway, so only the program
 * counts.
 */
static double sample_ns(const struct session *s, int e)
{
	return event_is_ticks(&s->events.event[e]) ? TICK_NS : s->events.interrupt_ns;
}

/* The number of samples of an event per second on a busy CPU. */
static double samples_per_second(const struct session *s, int e, uint64_t received,
				 double seconds)
{
	double came = (double)received / seconds / s->cpus.nr, full;

	if (s->events.event[e].unit == EVENT_EVENTS)
		return came;
	full = (double)s->events.event[e].per_second / (double)s->events.periods[e];
	return came > full ? came : full;
}

/*
 * Returns the part in ns of the daemon's time since the last check that counts for the
 * budget. Time for one user's mapping records and reads beyond USER_SHARE does not
 * count. Also notes the time for mapping records.
 */
static double counted_ns(struct session *s, uint64_t spent_ns, double seconds)
{
	struct session_cost *cost = &s->cost;
	const double ns = seconds * NSEC_PER_SEC * s->cpus.nr;
	const uint64_t share_ns = (uint64_t)(USER_SHARE * s->cfg.budget * ns);
	const uint64_t above_ns =
		procmap_take_excess(s->procmap, cost->mapping_ns, share_ns) +
		timed_child_take_excess(s->timed_child, share_ns);

	cost->mappings = (double)cost->mapping_ns / ns;
	cost->uncounted = (double)above_ns / ns;
	cost->mapping_ns = 0;
	return spent_ns > above_ns ? (double)(spent_ns - above_ns) : 0;
}

static void estimate(struct session *s, uint64_t now)
{
	struct session_cost *cost = &s->cost;
	double seconds = (double)(now - cost->checked_ns) / NSEC_PER_SEC;
	uint64_t work_ns, cpu_ns = sampling_cpu_ns(s, &work_ns), all = 0, n;
	struct budget_cost c = { .daemon = cost->now.daemon };
	struct collector_counts counts;
	const double ns = seconds * NSEC_PER_SEC * s->cpus.nr;
	const struct sampler *p;
	double share, counted, work;

	for (int e = 0; e < s->events.nr; e++) {
		s->events.ops->source.counts(s->events.collector, e, &counts);
		n = counts.received - cost->received[e];
		cost->received[e] = counts.received;
		share = samples_per_second(s, e, n, seconds) * sample_ns(s, e) /
			NSEC_PER_SEC;
		*(s->events.event[e].period ? &c.fixed : &c.by_rate) += share;
		all += n;
	}
	for_each_sampler (s, p)
		*(p->ops->work_ns ? &c.windows : &c.fixed) +=
			p->ops->cost ? p->ops->cost(p) : 0;
	counted = counted_ns(s, cpu_ns - cost->cpu_ns, seconds) / ns;
	work = at_most((double)(work_ns - cost->work_ns) / ns, counted);
	c.daemon += DAEMON_SMOOTHING * (counted - work - c.daemon);
	cost->work += DAEMON_SMOOTHING * (work - cost->work);
	c.windows += cost->work;
	if (all)
		cost->daemon_ns = (double)(cpu_ns - cost->cpu_ns) / (double)all;
	cost->now = c;
	cost->cpu_ns = cpu_ns;
	cost->work_ns = work_ns;
	cost->checked_ns = now;
	cost->next_check_ns = now + s->cfg.check_ns;
	cost->nr_checks++;
}

void session_budget_scale_windows(struct session *s, double factor)
{
	s->cost.now.windows *= factor;
	s->cost.work *= factor;
}

/* ---- adjusting the rate ---- */

bool session_samples_first(const struct session *s)
{
	return s->cfg.hz <= 0 && budget_samples_first(s->events.hz, &s->cost.now);
}

static bool windows_give_way(const struct session *s)
{
	const struct sampler *p;

	for_each_sampler (s, p) {
		if (p->ops->gives_way && p->ops->gives_way(p))
			return true;
	}
	return false;
}

/* Logs this once, because it may last for weeks. */
static void warn_exceeded(struct session *s, const char *why)
{
	const struct budget_cost *c = &s->cost.now;

	if (!s->cost.warned)
		log_warn(
			"session: sampling costs %.3f %% of the CPUs' time (%.3f %% is "
			"cpid's own processes'), the budget is %g %%: %s",
			budget_total(c) * 100, (c->daemon + s->cost.work) * 100,
			s->cfg.budget * 100, why);
	s->cost.warned = true;
}

static void adjust(struct session *s)
{
	const struct budget_cost *c = &s->cost.now;
	bool exceeded = budget_total(c) > s->cfg.budget;
	double hz;

	s->cost.nr_exceeded += exceeded;
	if (exceeded && !session_samples_first(s) && windows_give_way(s)) {
		s->budget.calm = 0; /* this check is not one of those of I2 */
		return;
	}
	if (s->cfg.hz > 0) {
		if (exceeded)
			warn_exceeded(s, "the rate was fixed, and stays");
		return;
	}
	hz = budget_decide(&s->budget, s->events.hz, c);
	if (hz == s->events.hz) {
		if (exceeded)
			warn_exceeded(s, "the rate cannot be lowered further");
		return;
	}
	log_info("session: sampling costs %.3f %% of the CPUs' time, the budget is %g "
		 "%%: the rate is %s",
		 budget_total(c) * 100, s->cfg.budget * 100,
		 hz < s->events.hz ? "lowered" : "raised");
	if (!session_change_rate(s, hz))
		s->cost.nr_changes++;
}

void session_budget_run(struct session *s)
{
	struct session_cost *cost = &s->cost;
	uint64_t now = session_now(s);

	if (now >= cost->next_sample_ns && !s->times.quiet)
		measure_sample(s, now);
	if (now >= cost->next_check_ns) {
		/* Without a measured cost of a sample the rate stays. */
		estimate(s, now);
		if (s->events.interrupt_ns > 0)
			adjust(s);
	}
}
