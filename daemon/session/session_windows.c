/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_windows.c - the sampler of windows
 *
 * Windows use the same clock as stacks. If windows are not possible here, the session
 * goes on without them.
 *
 * The first windows of a procedure add much to a report; after thousands of windows,
 * another one adds little. So the first windows are taken at the full rate, and later
 * ones at a rate that the budget decides (budget_windows_hz()). It is lowered at once,
 * and raised at the earliest half an hour after its last change, because each rate is a
 * stream of its own.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/session/session_private.h"
#include "daemon/windows/windowlate.h"
#include "daemon/windows/windowsampler.h"

/*
 * The stream has its own event name, because its samples must not be added to the time
 * of other samples.
 */
#define STREAM_EVENT "windows"

/* The rate is not lowered before there are so many windows per CPU: a busy minute's. */
#define FULL_RATE_WINDOWS (60 * SESSION_WINDOWS_HZ)

/* Samples wait no longer for these windows, which never come where the kernel works. */
#define FIRST_WAIT_NS (300 * NSEC_PER_SEC)

#define RATE_LOOK_NS (10 * NSEC_PER_SEC)
#define RATE_STAY_NS (1800 * NSEC_PER_SEC) /* before it is raised */

struct windows_sampler {
	struct sampler sampler;
	struct windowlate *late; /* NULL: windows began with the session */
	struct event event;
	double hz;
	uint64_t begun_ns;
	uint64_t next_look_ns; /* whether another rate is better */
	uint64_t may_raise_ns;
	uint64_t nr_changes;
	const char *lowered; /* why the rate is below the full one; NULL: it is not */
	uint64_t period;
	struct stream stream;
	struct windowtally *tally;
	struct windowtally *next; /* the tally for the next flush; or NULL */
	uint64_t cut;             /* windows that were cut, up to the last flush */
	struct outbox_windows described; /* for the flush that is being made */
	struct collector_counts now;
};

static struct windows_sampler *windows_of(const struct sampler *p)
{
	return container_of(p, struct windows_sampler, sampler);
}

static void close_windows(struct sampler *p)
{
	struct windows_sampler *w = windows_of(p);

	windowtally_free(w->tally);
	windowtally_free(w->next);
	windowlate_free(w->late);
	free(w);
}

static struct windowsampler_config make_config(struct session *s,
					       struct windows_sampler *w)
{
	const struct session_events *ev = &s->events;

	return (struct windowsampler_config){
		.event = &w->event,
		.period = &w->period,
		.target = session_target(s),
		.device = ev->ops->device(ev->collector),
		.pairs_fd = ev->ops->pairs(ev->collector),
		.epoll_fd = s->epoll_fd,
		.max_bytes = s->cfg.windows.bytes,
		.with_values = s->cfg.windows.with_values,
		.by_context = s->cfg.windows.by_context,
		.attribution = &s->attribution,
		.tally = &w->tally,
		.exclude = s->cfg.windows.exclude,
		.nr_excluded = s->cfg.windows.nr_excluded,
		.late = w->late,
		.is_patient = s->cfg.windows.is_patient,
	};
}

static int start(struct session *s, struct windows_sampler *w)
{
	const struct windowsampler_config cfg = make_config(s, w);
	const int err = windowsampler_open(&cfg, &s->cpus, &w->sampler.source);

	w->begun_ns = session_now(s);
	if (!err)
		log_info("session: %.0f windows/s per CPU", w->hz);
	return err;
}

/* If windows are to begin later, prepares them. Returns whether it did. */
static bool hold(struct session *s, struct windows_sampler *w)
{
	const struct windowsampler_config cfg = make_config(s, w);

	return s->cfg.windows.after_ns && !windowsampler_hold(&cfg, &s->cpus, &w->late);
}

static int prepare(struct session *s, struct windows_sampler *w)
{
	int err = session_choose_clock(s, &w->event);

	if (err)
		return err;
	w->hz = s->cfg.windows.hz;
	w->period = event_period(&w->event, w->hz);
	w->tally = windowtally_new();
	return w->tally ? 0 : -ENOMEM;
}

static int open_windows(struct session *s, struct sampler **out)
{
	struct windows_sampler *w;
	int err;

	if (s->cfg.windows.hz <= 0)
		return 0;
	w = calloc(1, sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->sampler.from = &source_windows;
	err = prepare(s, w);
	if (!err && (hold(s, w) || !start(s, w)))
		*out = &w->sampler;
	else
		close_windows(&w->sampler);
	return err;
}

/*
 * The time that must pass before windows are loaded. With a target, this is CPU time of
 * the target: if other programs run, even a short command lasts long, and loading
 * windows would make it last about twice as long. The result is then 0, or a time that
 * never passes.
 */
static uint64_t after_ns(const struct session *s)
{
	const struct session_events *ev = &s->events;
	struct collector_counts now;

	if (!s->cfg.target)
		return s->cfg.windows.after_ns;
	ev->ops->source.counts(ev->collector, 0, &now);
	return now.running_ns < s->cfg.windows.after_ns ? UINT64_MAX / 2 : 0;
}

static int open_late(struct sampler *p)
{
	struct windows_sampler *w = windows_of(p);
	struct session *s = p->session;
	int err = windowlate_ready(w->late, after_ns(s));

	if (err)
		return err;
	err = start(s, w);
	/* the source is in use; do not try again */
	return err == -EAGAIN ? -ENOBUFS : err;
}

static int late_cpus(struct sampler *p, const struct cpus *cpus)
{
	return windowlate_set_cpus(windows_of(p)->late, cpus);
}

static int wait_ms(struct sampler *p)
{
	const struct session_events *ev = &p->session->events;
	double unnoticed_ns = 0;

	if (p->session->times.quiet)
		unnoticed_ns = COLLECTOR_QUIET_SAMPLES * NSEC_PER_SEC /
			       event_busy_hz(ev->event, ev->periods, ev->nr);
	return windowsampler_wait_ms(p->source, unnoticed_ns);
}

/* The time that a window takes: the interrupt and the emulation. 0: not known. */
static double window_ns(const struct windows_sampler *w)
{
	const double interrupt_ns = w->sampler.session->events.interrupt_ns;
	const double mean_ns = windowsampler_mean_ns(w->sampler.source);

	return interrupt_ns > 0 && mean_ns > 0 ? interrupt_ns + mean_ns : 0;
}

/* Why the rate hz, which differs from the present one, is below the full one. */
static const char *why_lowered(const struct windows_sampler *w, double hz)
{
	const struct session *s = w->sampler.session;
	const double share = hz * window_ns(w) / NSEC_PER_SEC;

	if (hz >= s->cfg.windows.hz)
		return NULL;
	return share < 0.99 * BUDGET_WINDOWS * s->cfg.budget ? "budget" : "interrupts";
}

/* The flush in between ends the stream, and no window comes meanwhile. */
static void change_rate(struct windows_sampler *w, double hz)
{
	struct session *s = w->sampler.session;
	int err, failed;

	source_windows.stop(w->sampler.source);
	err = session_end_streams(s);
	if (!err) {
		w->lowered = why_lowered(w, hz);
		log_info("session: %.0f windows/s per CPU from now on, limit: %s", hz,
			 w->lowered ? w->lowered : "none");
		session_budget_scale_windows(s, hz / w->hz);
		w->nr_changes++;
		w->hz = hz;
		w->period = event_period(&w->event, hz);
		w->may_raise_ns = session_now(s) + RATE_STAY_NS;
	}
	failed = windowsampler_restart(w->sampler.source);
	if (failed)
		log_err("session: windows are not taken on all CPUs any more: %s",
			err_str(failed));
	if (!err)
		session_store(s);
}

static bool follows_budget(const struct sampler *p)
{
	return p->session->cfg.windows.by_budget && windowsampler_has_rate(p->source);
}

/* Whether enough first windows were taken at the full rate. */
static bool has_first_windows(const struct windows_sampler *w)
{
	const struct session *s = w->sampler.session;
	struct collector_counts now;

	source_windows.counts(w->sampler.source, 0, &now);
	return (double)now.received >= FULL_RATE_WINDOWS * s->cpus.nr;
}

static void follow_budget(struct windows_sampler *w)
{
	struct session *s = w->sampler.session;
	const uint64_t now_ns = session_now(s);
	const struct budget_windows now = {
		.hz = w->hz,
		.max_hz = s->cfg.windows.hz,
		.window_ns = window_ns(w),
		.may_raise = now_ns >= w->may_raise_ns,
		.samples_first = session_samples_first(s),
	};
	double hz;

	if (!follows_budget(&w->sampler) || now_ns < w->next_look_ns)
		return;
	w->next_look_ns = now_ns + RATE_LOOK_NS;
	if (!has_first_windows(w))
		return;
	hz = budget_windows_hz(&s->budget, &now, &s->cost.now);
	if (hz != w->hz)
		change_rate(w, hz);
}

static int run_windows(struct sampler *p)
{
	const int ms = windowsampler_run(p->source);

	follow_budget(windows_of(p));
	return ms;
}

static void mark_images(const struct sampler *p)
{
	windowtally_mark_images(windows_of(p)->tally);
	windowsampler_mark_images(p->source);
}

static size_t memory(const struct sampler *p)
{
	return windowtally_memory(windows_of(p)->tally);
}

static bool is_half_full(const struct sampler *p)
{
	return windowtally_is_half_full(windows_of(p)->tally);
}

static void drop(struct sampler *p)
{
	windowtally_drop(windows_of(p)->tally, SAMPLE_NO_SPACE);
}

static int describe(struct sampler *p, struct outbox_flush *f)
{
	struct windows_sampler *w = windows_of(p);

	if (!w->next)
		w->next = windowtally_new();
	if (!w->next)
		return -ENOMEM;
	source_windows.counts(p->source, 0, &w->now);
	w->described.tally = w->tally;
	w->described.stream =
		stream_describe(&w->stream, &w->event, windowsampler_source(p->source),
				w->period, &w->now);
	w->described.stream.desc.event = STREAM_EVENT;
	f->windows = &w->described;
	return 0;
}

static void committed(struct sampler *p, const struct outbox_flush *f)
{
	struct windows_sampler *w = windows_of(p);

	w->cut += w->tally->tally->cut_stacks;
	stream_commit(&w->stream, &f->windows->stream, w->tally->tally->loss[0],
		      &w->now);
	w->tally = w->next;
	w->next = NULL;
}

static double cost(const struct sampler *p)
{
	const struct session *s = p->session;

	return windows_of(p)->hz *
	       (s->events.interrupt_ns + windowsampler_mean_ns(p->source)) /
	       NSEC_PER_SEC;
}

static uint64_t work_ns(const struct sampler *p, uint64_t *helper_ns)
{
	*helper_ns = windowsampler_translate_ns(p->source);
	return windowsampler_cpu_ns(p->source);
}

static bool gives_way(const struct sampler *p)
{
	const struct windows_sampler *w = windows_of(p);

	if (!follows_budget(p) || w->hz <= BUDGET_LEAST_WINDOWS_HZ)
		return false;
	return (has_first_windows(w) && window_ns(w) > 0) ||
	       session_now(p->session) < w->begun_ns + FIRST_WAIT_NS;
}

static void status(struct sampler *p, struct buf *out)
{
	const struct windows_sampler *w = windows_of(p);
	const struct stream_account *a = &w->stream.account;
	const struct tally *t = w->tally->tally;
	struct collector_counts now;

	source_windows.counts(p->source, 0, &now);
	buf_printf(out, "windows on\n");
	buf_printf(out, "windows_rate_hz %.1f\n", w->hz);
	buf_printf(out, "windows_rate_full_hz %.1f\n", p->session->cfg.windows.hz);
	buf_printf(out, "windows_rate_least_hz %.1f\n",
		   gives_way(p) ? BUDGET_LEAST_WINDOWS_HZ : w->hz);
	buf_printf(out, "windows_rate_changes %llu\n",
		   (unsigned long long)w->nr_changes);
	if (w->lowered)
		buf_printf(out, "windows_lowered %s\n", w->lowered);
	buf_printf(out, "windows_received %llu\n", (unsigned long long)now.received);
	buf_printf(out, "windows_stored %llu\n",
		   (unsigned long long)(a->stored + w->tally->kept));
	buf_printf(out, "windows_pending %llu\n", (unsigned long long)now.pending);
	buf_printf(out, "windows_elsewhere %llu\n", (unsigned long long)now.elsewhere);
	for (int l = 0; l < NR_LOSSES; l++) {
		const uint64_t n = a->lost[l] + t->loss[0][l];

		if (n)
			buf_printf(out, "windows_lost.%s %llu\n", loss_name(l),
				   (unsigned long long)n);
	}
	if (w->cut + t->cut_stacks)
		buf_printf(out, "windows_cut %llu\n",
			   (unsigned long long)(w->cut + t->cut_stacks));
	buf_printf(out, "windows_memory_bytes %zu\n", windowtally_memory(w->tally));
	windowsampler_status(p->source, out);
}

const struct sampler_ops sampler_windows = {
	.name = "windows",
	.open = open_windows,
	.open_late = open_late,
	.late_cpus = late_cpus,
	.close = close_windows,
	.wait_ms = wait_ms,
	.run = run_windows,
	.mark_images = mark_images,
	.memory = memory,
	.is_half_full = is_half_full,
	.drop = drop,
	.describe = describe,
	.committed = committed,
	.cost = cost,
	.work_ns = work_ns,
	.gives_way = gives_way,
	.status = status,
};
