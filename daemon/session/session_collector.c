/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_collector.c - chooses a session's events and collector
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/collect/hwevent.h"
#include "daemon/os/perfev.h"
#include "daemon/session/session_private.h"

/*
 * The rate of random samples that are taken in addition to ticks. Ticks give most
 * samples; random ones show where ticks are biased, and how the time is divided between
 * user mode, the kernel and idle CPUs. Random samples may cost SHARE_BESIDE_TICKS of
 * the CPUs' time; their rate is between the two limits.
 */
#define SHARE_BESIDE_TICKS  0.0004
#define MIN_HZ_BESIDE_TICKS 25.0
#define MAX_HZ_BESIDE_TICKS 100.0

static bool has_ticks(const struct session *s)
{
	return event_is_ticks(&s->events.event[s->events.nr - 1]);
}

static bool by_thread(const struct session *s)
{
	return s->cfg.by & 1u << CONTEXT_THREAD;
}

/* Returns the first event that the collector does not support, or NULL. */
static const struct event *not_taken(const struct session *s,
				     const struct collector_ops *ops)
{
	for (int i = 0; i < s->events.nr; i++) {
		const struct event *e = &s->events.event[i];

		if (event_is_ticks(e)
			    ? !ops->takes_ticks
			    : (e->record && !(ops->takes_records >> e->record & 1)) ||
				      (e->branches && !ops->takes_branches))
			return e;
		if (by_thread(s) && e->record == EVENT_RECORDS_SPE)
			return e; /* its packets may have no thread */
	}
	return NULL;
}

/* Moves ticks to the end, where collectors expect them. Fails if ticks occur twice. */
static int put_ticks_last(struct session *s)
{
	for (int i = 0; i + 1 < s->events.nr; i++) {
		struct event *e = &s->events.event[i], ticks = e[0];

		if (!event_is_ticks(&e[0]))
			continue;
		if (event_is_ticks(&e[1])) {
			log_err("session: the event ticks was given twice");
			return -EINVAL;
		}
		e[0] = e[1];
		e[1] = ticks;
	}
	return 0;
}

int session_parse_events(struct session *s)
{
	static const char *const by_default[] = { "cycles" };
	const char *const *names = s->cfg.nr_events ? s->cfg.events : by_default;
	int nr = s->cfg.nr_events ? s->cfg.nr_events : 1, err;

	for (int i = 0; i < nr; i++) {
		err = event_parse(names[i], s->platform.desc.clock_hz,
				  &s->events.event[i]);
		if (err)
			return err;
	}
	s->events.nr = nr;
	return put_ticks_last(s);
}

/*
 * Some collectors hand out samples that are newer than the mapping events read so far.
 * Then the newer mapping events are read before the batch is attributed.
 */
static void take_batch(void *ctx, const struct batch *batch)
{
	struct session *s = ctx;

	if (batch->to_ns > s->times.mapped_ns)
		session_read_mappings(s);
	attribute_batch(&s->attribution, batch);
}

static void prepare(void *ctx, const struct raw_sample *sample)
{
	struct session *s = ctx;

	attribute_prepare(&s->attribution, sample);
}

static void classify(void *ctx, const struct raw_sample *sample,
		     unsigned int *generation, enum cpi_outcome *outcome)
{
	struct session *s = ctx;

	attribute_classify(&s->attribution, sample, generation, outcome);
}

static uint64_t find_in_kernel(void *ctx, const char *name)
{
	const struct session *s = ctx;

	return kernel_address_of(s->kernel, name);
}

static int open_collector(struct session *s, int *event)
{
	struct collector_config cfg = {
		.events = s->events.event,
		.periods = s->events.periods,
		.nr_events = s->events.nr,
		.by_thread = by_thread(s),
		.target = session_target(s),
		.epoll_fd = s->epoll_fd,
		.pairs = s->cfg.windows.hz > 0,
		.raw_fd = s->cfg.raw_fd,
		.timed_child = s->timed_child,
		.owner = { .batch = take_batch,
			   .prepare = prepare,
			   .classify = classify,
			   .kernel_address = find_in_kernel,
			   .ctx = s },
	};

	return s->events.ops->open(&cfg, &s->cpus, &s->events.collector, event);
}

static bool is_missing(int err)
{
	return err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV;
}

/*
 * Excludes kernel mode from all events. Returns false, and changes nothing, if an event
 * samples only kernel mode.
 */
static bool exclude_kernel(struct session *s)
{
	for (int i = 0; i < s->events.nr; i++)
		if (s->events.event[i].exclude_user)
			return false;
	for (int i = 0; i < s->events.nr; i++) {
		struct event *e = &s->events.event[i];

		if (e->exclude_kernel)
			continue;
		e->exclude_kernel = e->exclude_hv = true;
		if (strlen(e->name) + 2 < sizeof(e->name))
			strcat(e->name, strchr(e->name, ':') ? "u" : ":u");
	}
	log_info(
		"session: only user mode may be sampled (kernel.perf_event_paranoid is "
		"%ld)",
		perfev_sysctl("perf_event_paranoid", 2));
	return true;
}

/* All collectors, in the order in which "auto" tries them. */
static const struct collector_ops *const collectors[] = {
	&collector_kmod,
#ifdef HAVE_BPF
	&collector_bpf,
#endif
	&collector_perf,
};

#define NR_COLLECTORS (sizeof(collectors) / sizeof(collectors[0]))

static const struct collector_ops *find_collector(const char *name)
{
	for (size_t i = 0; i < NR_COLLECTORS; i++) {
		if (!strcmp(collectors[i]->name, name))
			return collectors[i];
	}
	return NULL;
}

static void log_unknown_collector(const char *name)
{
	struct buf known = { 0 };

	for (size_t i = 0; i < NR_COLLECTORS; i++)
		buf_printf(&known, ", %s", collectors[i]->name);
	log_err("session: no collector \"%s\" in this build; there are auto%s", name,
		buf_str(&known));
	buf_fini(&known);
}

static int try_collector(struct session *s, const struct collector_ops *ops, int *event)
{
	int err;

	s->events.ops = ops;
	err = open_collector(s, event);
	if (err == -EACCES && s->cfg.target && exclude_kernel(s))
		err = open_collector(s, event);
	return err;
}

/* Opens the requested collector, or else the first that works. */
static int open_any(struct session *s, const struct collector_ops *asked, int *event)
{
	int err = -EOPNOTSUPP;

	for (size_t i = 0; i < NR_COLLECTORS && err; i++) {
		const struct collector_ops *ops = collectors[i];

		if ((asked && ops != asked) || not_taken(s, ops) ||
		    (by_thread(s) && !ops->takes_threads))
			continue;
		err = try_collector(s, ops, event);
		if (err && *event >= 0 && !asked)
			log_info("session: %s cannot be sampled by %s: %s",
				 s->events.event[*event].name, ops->name, err_str(err));
	}
	return err;
}

static void log_missing_records(const struct event *e)
{
	struct buf why = { 0 };

	hwevent_explain(e, &why);
	log_err("session: %s: this machine does not have it: %s", e->name,
		buf_str(&why));
	buf_fini(&why);
}

static void log_no_collector(const struct session *s, const struct collector_ops *asked,
			     int event, int err)
{
	const struct event *untaken = not_taken(s, asked ? asked : &collector_perf);

	if (has_ticks(s) && (!asked || !asked->takes_ticks))
		log_err("session: ticks need the collector bpf%s: see TICKS in cpid(8)",
			asked ? "" : ", which does not work here");
	else if (by_thread(s) && asked && !asked->takes_threads)
		log_err("session: the collector %s counts by process: profiles by "
			"thread need bpf or perf",
			asked->name);
	else if (by_thread(s) && untaken && untaken->record == EVENT_RECORDS_SPE)
		log_err("session: %s has no threads: leave out --by thread",
			untaken->name);
	else if (untaken && (untaken->record || untaken->branches))
		log_err("session: %s: hardware records need the collector perf",
			untaken->name);
	else if (asked && asked != &collector_perf)
		log_err("session: the collector %s cannot be used: %s: see "
			"COLLECTORS in cpid(8)",
			asked->name, err_str(err));
	else if (event >= 0 && s->events.event[event].record && is_missing(err))
		log_missing_records(&s->events.event[event]);
	else
		session_log_refusal(event >= 0 ? s->events.event[event].name
					       : "buffers",
				    err);
}

/*
 * Whether ticks may be sampled: neither events, rate nor target are configured, and
 * there is no counter of cycles.
 */
static bool may_add_ticks(const struct session *s)
{
	return s->cfg.ticks && !s->cfg.nr_events && s->cfg.hz <= 0 && !s->cfg.target &&
	       s->events.event[0].type == PERF_TYPE_SOFTWARE;
}

static double hz_beside_ticks(const struct session *s)
{
	const double hz = SHARE_BESIDE_TICKS * NSEC_PER_SEC / s->events.interrupt_ns;

	if (!(hz > MIN_HZ_BESIDE_TICKS))
		return MIN_HZ_BESIDE_TICKS;
	return hz < MAX_HZ_BESIDE_TICKS ? hz : MAX_HZ_BESIDE_TICKS;
}

/*
 * Opens ticks in addition to the event, at a lower rate. Returns 0 or -errno; on
 * failure events and rate are as before.
 */
static int open_with_ticks(struct session *s, const struct collector_ops *asked)
{
	const double hz = s->events.hz, max_hz = hz_beside_ticks(s);
	int event = -1, err = event_parse("ticks", 0, &s->events.event[1]);

	if (err)
		return err;
	s->events.nr = 2;
	session_take_rate(s, hz < max_hz ? hz : max_hz);
	err = open_any(s, asked, &event);
	if (!err) {
		s->events.max_hz = max_hz;
		log_info("session: busy CPUs are sampled at the scheduler's ticks, "
			 "and all CPUs at %.0f random samples/s each",
			 s->events.hz);
		return 0;
	}
	s->events.nr = 1;
	session_take_rate(s, hz);
	return err;
}

int session_start_collector(struct session *s)
{
	const struct collector_ops *asked = find_collector(s->cfg.collector);
	int event = -1, err = -EOPNOTSUPP;

	if (!asked && strcmp(s->cfg.collector, "auto") != 0) {
		log_unknown_collector(s->cfg.collector);
		return -EINVAL;
	}
	if (may_add_ticks(s))
		err = open_with_ticks(s, asked);
	if (err)
		err = open_any(s, asked, &event);
	if (err)
		log_no_collector(s, asked, event, err);
	else
		log_info("session: the collector is %s", s->events.ops->name);
	return err;
}

int session_choose_events(struct session *s)
{
	struct perf_event_attr attr = { .disabled = 1 };
	int fd;

	event_attr(&s->events.event[0], &attr);
	attr.exclude_kernel = 1;
	fd = perfev_open(&attr, 0, -1);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (!is_missing(fd) || s->cfg.nr_events)
		return 0;
	log_info("session: no hardware cycle counter here: sampling cpu-clock");
	return event_parse("cpu-clock", s->platform.desc.clock_hz, &s->events.event[0]);
}
