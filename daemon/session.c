/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.c - the pieces of a collection, put together
 *
 * One cycle (cycle()): note how far the samples go, read the mapping events,
 * then take in those samples. A sample's process was forked, and its code
 * mapped, before it was taken, so what it needs has been read by then.
 */
#include "config.h"

#include "daemon/session.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/arch.h"
#include "daemon/attribute.h"
#include "daemon/calibrate.h"
#include "daemon/collector.h"
#include "daemon/outbox.h"
#include "daemon/perfev.h"
#include "daemon/platform.h"
#include "daemon/procscan.h"
#include "daemon/raw.h"
#include "daemon/sideband.h"
#include "db/store.h"

#define RETRY_NS           (10 * NSEC_PER_SEC) /* after a flush that could not be stored */
#define FORGET_SLACK_NS    NSEC_PER_SEC
#define IMAGES_SWEEP_ABOVE 4096
#define INIT_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO */

struct session {
	struct session_config cfg;
	struct platform platform;
	struct db *db;
	struct store *store;
	int epoll_fd;

	struct cpus cpus;
	struct images *images;
	struct procmap *procmap;
	struct kernel *kernel;
	struct codecache *codecache;
	struct sideband *sideband;
	struct attribution attribution;
	struct outbox *outbox;

	const struct collector_ops *ops;
	struct collector *collector;
	struct event events[SESSION_MAX_EVENTS];
	uint64_t periods[SESSION_MAX_EVENTS];
	struct collector_counts
		flushed[SESSION_MAX_EVENTS]; /* counts at the last flush */
	int nr_events;
	double hz;
	double interrupt_ns; /* 0: not measured */

	uint64_t begun_ns; /* monotonic, as all below but the real ones */
	uint64_t next_sweep_ns, next_flush_ns, next_random_ns, retry_ns;
	uint64_t swept_ns; /* nothing older is in a table */
	uint64_t flush_from_ns, epoch_end_real_ns;
	uint64_t last_flush_real_ns;
	/* since the session was opened, up to the last flush */
	uint64_t stored[SESSION_MAX_EVENTS], lost[SESSION_MAX_EVENTS][NR_LOSSES];
	int64_t not_delivered[SESSION_MAX_EVENTS];
	int store_err; /* of the last attempt */
};

struct session_config session_config_default(void)
{
	return (struct session_config){
		.db_path = db_default_path(),
		.collector = "auto",
		.budget = 0.005,
		.sweep_ns = 10 * NSEC_PER_SEC,
		.flush_ns = 600 * NSEC_PER_SEC,
		.epoch_ns = 3600 * NSEC_PER_SEC,
		.max_memory = 64 << 20,
		.raw_fd = -1,
	};
}

int session_fd(const struct session *s)
{
	return s->epoll_fd;
}

/* ---- opening ---- */

static pid_t perf_target(const struct session *s)
{
	return s->cfg.target ? s->cfg.target : -1;
}

/* PIDs in perf's records are those of our own namespace: outside it has none. */
static int check_namespace(const struct session *s)
{
	struct stat st;

	if (s->cfg.target || stat("/proc/self/ns/pid", &st) ||
	    st.st_ino == INIT_PID_NAMESPACE)
		return 0;
	log_err("session: this is not the machine's initial PID namespace, so most "
		"processes cannot be told apart here: run CPI on the host");
	return -EPERM;
}

/* The events asked for, or cycles. Unprivileged users sample user mode alone. */
static int parse_events(struct session *s)
{
	static const char *const by_default[] = { "cycles" };
	const char *const *names = s->cfg.nr_events ? s->cfg.events : by_default;
	int nr = s->cfg.nr_events ? s->cfg.nr_events : 1, err;

	for (int i = 0; i < nr; i++) {
		err = event_parse(names[i], s->platform.desc.clock_hz, &s->events[i]);
		if (err)
			return err;
	}
	s->nr_events = nr;
	return 0;
}

/* Measures what a sample costs here, and takes the rate that the budget allows. */
static void choose_rate(struct session *s)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP |
						       PERF_SAMPLE_TID |
						       PERF_SAMPLE_TIME |
						       PERF_SAMPLE_REGS_INTR,
					.sample_regs_intr = arch_native.regs_mask };
	int err;

	s->hz = s->cfg.hz;
	if (s->hz > 0)
		return;
	event_attr(&s->events[0], &attr);
	err = calibrate_interrupt(&attr, &s->interrupt_ns);
	if (err) {
		log_info(
			"session: an interrupt's cost cannot be measured (%s): %.0f us "
			"are assumed",
			err_str(err), CALIBRATE_ASSUMED_NS / 1000);
		s->interrupt_ns = CALIBRATE_ASSUMED_NS;
	}
	s->hz = calibrate_rate(s->cfg.budget, s->interrupt_ns);
	log_info("session: an interrupt costs %.1f us here: %.0f samples/s per CPU for "
		 "a "
		 "budget of %g %%",
		 s->interrupt_ns / 1000, s->hz, s->cfg.budget * 100);
}

/* The kernel's throttle must never be what decides. */
static void respect_limit(struct session *s)
{
	long max = perfev_sysctl("perf_event_max_sample_rate", 100000);

	if (s->hz <= max * 0.8)
		return;
	log_warn("session: %.0f samples/s are too near "
		 "kernel.perf_event_max_sample_rate "
		 "(%ld): sampling at %.0f; raise that sysctl for more",
		 s->hz, max, max * 0.8);
	s->hz = max * 0.8;
}

static void choose_periods(struct session *s)
{
	for (int i = 0; i < s->nr_events; i++)
		s->periods[i] = event_period(&s->events[i], s->hz);
}

static int open_collector(struct session *s, int *event)
{
	struct collector_config cfg = {
		.events = s->events,
		.periods = s->periods,
		.nr_events = s->nr_events,
		.target = perf_target(s),
		.enable_on_exec = s->cfg.enable_on_exec,
		.epoll_fd = s->epoll_fd,
		.raw_fd = s->cfg.raw_fd,
		.owner = { attribute_batch, attribute_classify, &s->attribution },
	};

	choose_periods(s);
	return s->ops->open(&cfg, &s->cpus, &s->collector, event);
}

static int begin_raw(const struct session *s)
{
	const struct raw_header h = { RAW_MAGIC, RAW_VERSION,
				      sizeof(struct raw_record) };
	int err;

	if (s->cfg.raw_fd < 0)
		return 0;
	err = file_write(s->cfg.raw_fd, &h, sizeof(h));
	if (err)
		log_err("raw trace: %s", err_str(err));
	return err;
}

static bool is_missing(int err)
{
	return err == -ENOENT || err == -EOPNOTSUPP || err == -ENODEV;
}

static void exclude_kernel(struct session *s)
{
	for (int i = 0; i < s->nr_events; i++) {
		struct event *e = &s->events[i];

		if (e->exclude_kernel)
			continue;
		e->exclude_kernel = e->exclude_hv = true;
		if (!strchr(e->name, ':') && strlen(e->name) + 2 < sizeof(e->name))
			strcat(e->name, ":u");
	}
	log_info(
		"session: only user mode may be sampled (kernel.perf_event_paranoid is "
		"%ld)",
		perfev_sysctl("perf_event_paranoid", 2));
}

static int start_collector(struct session *s)
{
	struct buf why = { 0 };
	int event = -1, err;

	s->ops = &collector_perf;
	if (strcmp(s->cfg.collector, "auto") &&
	    strcmp(s->cfg.collector, s->ops->name)) {
		log_err("session: there is no collector \"%s\": auto, %s",
			s->cfg.collector, s->ops->name);
		return -EINVAL;
	}
	err = open_collector(s, &event);
	if (err == -EACCES && s->cfg.target) {
		exclude_kernel(s);
		err = open_collector(s, &event);
	}
	if (err) {
		perfev_explain(err, &why);
		log_err("session: event %s: %s",
			event >= 0 ? s->events[event].name : "buffers", buf_str(&why));
		buf_fini(&why);
	}
	return err;
}

/*
 * Without an event asked for, and without a counter of cycles, cpu-clock. It is
 * settled before the rate is chosen, for that measures the event's cost.
 */
static int settle_events(struct session *s)
{
	struct perf_event_attr attr = { .disabled = 1 };
	int fd;

	event_attr(&s->events[0], &attr);
	attr.exclude_kernel = 1;
	fd = perfev_open(&attr, 0, -1);
	if (fd >= 0) {
		close(fd);
		return 0;
	}
	if (!is_missing(fd) || s->cfg.nr_events)
		return 0;
	log_info("session: no hardware cycle counter here: sampling cpu-clock");
	return event_parse("cpu-clock", s->platform.desc.clock_hz, &s->events[0]);
}

static int start_sideband(struct session *s)
{
	struct sideband_config cfg = {
		.procmap = s->procmap,
		.images = s->images,
		.target = perf_target(s),
		.enable_on_exec = s->cfg.enable_on_exec,
		.epoll_fd = s->epoll_fd,
		.kernel = s->kernel,
	};
	int err = sideband_open(&cfg, &s->cpus, &s->sideband), denied = 0;
	struct buf why = { 0 };

	if (!err)
		err = s->cfg.target ? procscan_one(s->procmap, s->images, s->cfg.target)
				    : procscan_all(s->procmap, s->images, &denied);
	if (denied)
		log_info("session: %d processes do not let their mappings be read: "
			 "their samples will be unknown",
			 denied);
	if (err) {
		perfev_explain(err, &why);
		log_err("session: mapping events: %s", buf_str(&why));
		buf_fini(&why);
	}
	return err;
}

static int open_parts(struct session *s)
{
	int err;

	s->images = images_new();
	s->procmap = procmap_new();
	s->codecache = codecache_new();
	s->outbox = outbox_new();
	s->attribution = (struct attribution){
		.procmap = s->procmap,
		.codecache = s->codecache,
		.tally = tally_new(),
		.by_comm = s->cfg.by_comm,
	};
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!s->images || !s->procmap || !s->codecache || !s->outbox ||
	    !s->attribution.tally)
		return -ENOMEM;
	if (s->epoll_fd < 0)
		return -errno;
	err = kernel_open(s->images, &s->kernel);
	s->attribution.kernel = s->kernel;
	return err ? err : cpus_online(&s->cpus);
}

static int begin_epoch(struct session *s, uint32_t uncertainty_ms, const char *label)
{
	uint64_t now = time_real_ns();

	s->epoch_end_real_ns = UINT64_MAX;
	if (s->cfg.epoch_ns)
		s->epoch_end_real_ns = (now / s->cfg.epoch_ns + 1) * s->cfg.epoch_ns;
	return outbox_add_epoch(s->outbox, now, uncertainty_ms, label);
}

static int open_database(struct session *s)
{
	int err = db_open(s->cfg.db_path, DB_COLLECT, &s->db);

	if (!err)
		err = store_begin(s->db, &s->platform.desc, time_real_ns(), &s->store);
	if (!err)
		err = begin_epoch(s, 0, s->cfg.label);
	return err ? err : outbox_store(s->outbox, s->store);
}

static void set_timers(struct session *s)
{
	uint64_t now = time_mono_ns();

	s->begun_ns = s->flush_from_ns = s->swept_ns = now;
	s->next_sweep_ns = now + s->cfg.sweep_ns;
	s->next_flush_ns = now + s->cfg.flush_ns;
	s->next_random_ns = now;
}

static void session_free(struct session *s)
{
	if (s->ops)
		s->ops->close(s->collector);
	sideband_close(s->sideband);
	kernel_close(s->kernel);
	outbox_free(s->outbox);
	tally_free(s->attribution.tally);
	codecache_free(s->codecache);
	procmap_free(s->procmap);
	images_free(s->images);
	store_free(s->store);
	db_close(s->db);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s);
}

int session_open(const struct session_config *cfg, struct session **out)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->cfg = *cfg;
	s->epoll_fd = -1;
	platform_read(&s->platform);
	err = check_namespace(s);
	if (!err)
		err = parse_events(s);
	if (!err)
		err = open_parts(s);
	if (!err)
		err = settle_events(s);
	if (!err) {
		choose_rate(s);
		respect_limit(s);
		err = start_sideband(s);
	}
	if (!err)
		err = begin_raw(s);
	if (!err)
		err = start_collector(s);
	if (!err)
		err = open_database(s);
	if (err) {
		session_free(s);
		return err;
	}
	set_timers(s);
	*out = s;
	return 0;
}

/* ---- running ---- */

/*
 * When mapping records were lost, the samples from before that go into a batch
 * of their own, and those from then on too: only the latter have a gap.
 */
static void cycle(struct session *s)
{
	uint64_t lost;

	s->ops->snapshot(s->collector);
	lost = sideband_read(s->sideband);
	if (lost)
		s->ops->sweep(s->collector);
	s->ops->drain(s->collector);
	if (lost)
		s->ops->sweep(s->collector);
}

/* Images that nothing refers to any more are dropped once there are many. */
static void sweep_images(struct session *s)
{
	if (images_nr(s->images) < IMAGES_SWEEP_ABOVE)
		return;
	images_clear_marks(s->images);
	procmap_mark_images(s->procmap);
	kernel_mark_images(s->kernel);
	tally_mark_images(s->attribution.tally);
	outbox_mark_images(s->outbox);
	codecache_clear(s->codecache);
	images_sweep(s->images);
}

static bool is_alive(uint32_t tgid)
{
	return !kill((pid_t)tgid, 0) || errno == EPERM;
}

static void follow_cpus(struct session *s)
{
	struct cpus now;
	int err;

	if (cpus_online(&now) || !memcmp(&now, &s->cpus, sizeof(now)))
		return;
	log_info("session: %d CPUs are online now, before %d", now.nr, s->cpus.nr);
	err = s->ops->set_cpus(s->collector, &now);
	if (!err)
		err = sideband_set_cpus(s->sideband, &now);
	if (err)
		log_warn("session: not all CPUs are sampled: %s", err_str(err));
	s->cpus = now;
}

/* Takes in all samples and empties the tables: none is older than now. */
static void sweep(struct session *s)
{
	uint64_t now = time_mono_ns();

	cycle(s);
	s->ops->sweep(s->collector);
	procmap_forget(s->procmap, s->swept_ns - FORGET_SLACK_NS, is_alive);
	s->swept_ns = now;
	s->next_sweep_ns = now + s->cfg.sweep_ns;
	sweep_images(s);
	follow_cpus(s);
}

/* How many samples the event's own count promised since the last flush, and did not
 * give. */
static int64_t not_delivered(const struct session *s, int e,
			     const struct collector_counts *now)
{
	const struct collector_counts *before = &s->flushed[e];
	uint64_t counted = now->event_count - before->event_count;

	return (int64_t)((counted + s->periods[e] / 2) / s->periods[e]) -
	       (int64_t)(now->received - before->received);
}

/* What one event did since the last flush, in the database's terms. */
static void fill_stream(struct session *s, int e, struct flush_stream *f)
{
	struct collector_counts now, *before = &s->flushed[e];
	struct tally *t = s->attribution.tally;

	s->ops->counts(s->collector, e, &now);
	tally_lose(t, e, SAMPLE_RING_LOST, now.ring_lost - before->ring_lost, NULL);
	tally_lose(t, e, SAMPLE_TABLE_LOST, now.table_lost - before->table_lost, NULL);
	*f = (struct flush_stream){
		.desc = { .event = s->events[e].name,
			  .source = s->ops->name,
			  .cpu_type = "",
			  .unit = event_unit_str(s->events[e].unit),
			  .mean_period = s->periods[e],
			  .landing = s->events[e].landing },
		.received = now.received - before->received,
		.not_delivered =
			(int64_t)(now.event_count / s->periods[e] - now.received) -
			(int64_t)(before->event_count / s->periods[e] -
				  before->received),
		.enabled_ns = now.enabled_ns - before->enabled_ns,
		.running_ns = now.running_ns - before->running_ns,
		.throttled = now.throttled - before->throttled,
	};
	if (f->throttled)
		log_warn("session: the kernel throttled %s %llu times: see "
			 "kernel.perf_event_max_sample_rate",
			 f->desc.event, (unsigned long long)f->throttled);
	*before = now;
}

static void add_up(struct session *s, const struct tally *t,
		   const struct flush_stream *f)
{
	for (int e = 0; e < s->nr_events; e++) {
		uint64_t lost = 0;

		for (int l = 0; l < NR_LOSSES; l++) {
			s->lost[e][l] += t->loss[e][l];
			lost += t->loss[e][l];
		}
		s->stored[e] += f[e].received - lost;
		s->not_delivered[e] += f[e].not_delivered;
	}
}

/* Stores what waits. Says so once when that begins to fail, and when it works again. */
static int store(struct session *s)
{
	int err = outbox_store(s->outbox, s->store);

	if (err && err != s->store_err)
		log_err("session: %s: %s: samples are kept in memory (at most %llu "
			"MiB) "
			"until they can be stored",
			s->cfg.db_path, err_str(err),
			(unsigned long long)(s->cfg.max_memory >> 20));
	else if (!err && s->store_err)
		log_info("session: %s: stored what had been kept", s->cfg.db_path);
	s->store_err = err;
	s->retry_ns = err ? time_mono_ns() + RETRY_NS : 0;
	if (!err)
		s->last_flush_real_ns = time_real_ns();
	return err;
}

/* Memory's bound: what was attributed since the last flush becomes a named loss. */
static void drop_if_full(struct session *s)
{
	struct tally *t = s->attribution.tally;

	if (outbox_memory(s->outbox) + tally_memory(t) <= s->cfg.max_memory)
		return;
	log_err("session: %llu MiB of samples could not be stored: what is new is lost",
		(unsigned long long)(s->cfg.max_memory >> 20));
	tally_drop(t, SAMPLE_NO_SPACE);
}

/* Sweeps, and moves what was attributed into the outbox. */
static int post(struct session *s)
{
	struct flush_stream streams[SESSION_MAX_EVENTS];
	struct outbox_flush f = { .streams = streams,
				  .nr_streams = s->nr_events,
				  .kernel = s->kernel };
	struct tally *next = tally_new();
	uint64_t now;
	int err;

	if (!next)
		return -ENOMEM;
	sweep(s);
	if (s->store_err)
		store(s); /* there may be room again: then nothing is dropped */
	drop_if_full(s);
	f.tally = s->attribution.tally;
	if (s->store_err && !f.tally->profiles.nr && tally_total(f.tally)) {
		tally_free(next); /* nothing but losses: they wait, and grow no list */
		return s->store_err;
	}
	for (int e = 0; e < s->nr_events; e++)
		fill_stream(s, e, &streams[e]);
	add_up(s, f.tally, streams);
	now = time_mono_ns();
	f.to_ns = time_real_ns();
	f.duration_ns = now - s->flush_from_ns;
	f.from_ns = f.to_ns - f.duration_ns;
	err = outbox_add_flush(s->outbox, &f);
	if (err) {
		tally_free(next);
		return err;
	}
	s->attribution.tally = next;
	s->flush_from_ns = now;
	return 0;
}

int session_flush(struct session *s)
{
	int err = post(s);

	s->next_flush_ns = time_mono_ns() + s->cfg.flush_ns;
	return err ? err : store(s);
}

int session_new_epoch(struct session *s, const char *label)
{
	uint64_t before = time_mono_ns();
	int err = post(s);

	if (!err)
		err = begin_epoch(s, (time_mono_ns() - before) / NSEC_PER_MSEC + 1,
				  label);
	return err ? err : store(s);
}

/* Profiles of two mean periods are two streams, and share no table. */
int session_set_rate(struct session *s, double hz)
{
	int err, failed;

	if (!(hz >= 1 && hz <= 100000))
		return -EINVAL;
	s->ops->stop(s->collector);
	err = post(s);
	if (!err) {
		s->hz = hz;
		respect_limit(s);
		choose_periods(s);
		log_info("session: %.0f samples/s per CPU from now on", s->hz);
	}
	failed = s->ops->restart(s->collector);
	if (failed)
		log_err("session: not all CPUs are sampled any more: %s",
			err_str(failed));
	if (!err)
		store(s);
	return err;
}

static int until(uint64_t when_ns, uint64_t now_ns)
{
	uint64_t ms = when_ns > now_ns ? (when_ns - now_ns) / NSEC_PER_MSEC + 1 : 0;

	return ms < 60000 ? (int)ms : 60000;
}

static int earliest(const struct session *s, uint64_t now)
{
	int ms = until(s->next_sweep_ns, now), other = until(s->next_random_ns, now);

	ms = other < ms ? other : ms;
	other = until(s->next_flush_ns, now);
	ms = other < ms ? other : ms;
	if (s->epoch_end_real_ns != UINT64_MAX) {
		other = until(s->epoch_end_real_ns, time_real_ns());
		ms = other < ms ? other : ms;
	}
	return ms;
}

/* On a schedule that does not drift: what restarts cost depends on their rate. */
static void randomise(struct session *s, uint64_t now)
{
	uint64_t interval = s->ops->randomise(s->collector);

	s->next_random_ns += interval;
	if (s->next_random_ns <= now) /* the machine slept, or is overloaded */
		s->next_random_ns = now + interval;
}

int session_run(struct session *s)
{
	uint64_t now = time_mono_ns();

	if (now >= s->next_random_ns)
		randomise(s, now);
	/* No epoll_wait() first: the owner's poll() has used perf's wakeup up. */
	cycle(s);
	if (now >= s->next_sweep_ns)
		sweep(s);
	if (time_real_ns() >= s->epoch_end_real_ns)
		session_new_epoch(s, NULL);
	if (now >= s->next_flush_ns ||
	    tally_memory(s->attribution.tally) > s->cfg.max_memory / 2)
		session_flush(s);
	else if (s->retry_ns && now >= s->retry_ns)
		store(s);
	return earliest(s, time_mono_ns());
}

/* ---- status and end ---- */

static uint64_t nr_lost(const struct session *s, int e, enum loss l,
			const struct collector_counts *now)
{
	uint64_t n = s->lost[e][l] + s->attribution.tally->loss[e][l];

	if (l == SAMPLE_RING_LOST)
		n += now->ring_lost - s->flushed[e].ring_lost;
	else if (l == SAMPLE_TABLE_LOST)
		n += now->table_lost - s->flushed[e].table_lost;
	return n;
}

/* In memory: not attributed yet, not posted yet, or not stored yet. */
static uint64_t nr_pending(const struct session *s)
{
	uint64_t n = tally_kept(s->attribution.tally);
	struct collector_counts now;

	for (int e = 0; e < s->nr_events; e++) {
		s->ops->counts(s->collector, e, &now);
		n += now.pending + outbox_nr_samples(s->outbox, e);
	}
	return n;
}

static void put_stream(struct session *s, int e, struct buf *out)
{
	struct collector_counts now;
	const char *name = s->events[e].name;

	s->ops->counts(s->collector, e, &now);
	buf_printf(out, "event.%d %s\n", e, name);
	buf_printf(out, "period.%s %llu\n", name, (unsigned long long)s->periods[e]);
	buf_printf(out, "received.%s %llu\n", name, (unsigned long long)now.received);
	buf_printf(out, "stored.%s %llu\n", name,
		   (unsigned long long)(s->stored[e] -
					outbox_nr_samples(s->outbox, e)));
	buf_printf(out, "not_delivered.%s %lld\n", name,
		   (long long)(s->not_delivered[e] + not_delivered(s, e, &now)));
	for (int l = 0; l < NR_LOSSES; l++) {
		uint64_t n = nr_lost(s, e, l, &now);

		if (n)
			buf_printf(out, "%s.%s %llu\n",
				   loss_class_of(l) == LOSS_UNKNOWN ? "unknown"
								    : "lost",
				   loss_name(l), (unsigned long long)n);
	}
}

static void put_database(struct session *s, struct buf *out)
{
	uint64_t file = 0, wal = 0;
	char text[TIME_TEXT_SIZE];

	db_size(s->db, &file, &wal);
	buf_printf(out, "db %s\n", s->cfg.db_path);
	buf_printf(out, "db_bytes %llu\n", (unsigned long long)(file + wal));
	if (s->last_flush_real_ns)
		buf_printf(out, "last_flush %s\n",
			   time_format(s->last_flush_real_ns, text));
	if (s->store_err)
		buf_printf(out, "store_error %s\n", err_str(s->store_err));
}

void session_status(struct session *s, struct buf *out)
{
	const struct tally *t = s->attribution.tally;

	buf_printf(out, "state %s\n", s->store_err ? "cannot store" : "sampling");
	buf_printf(out, "uptime_s %llu\n",
		   (unsigned long long)((time_mono_ns() - s->begun_ns) / NSEC_PER_SEC));
	put_database(s, out);
	buf_printf(out, "collector %s\n", s->ops->name);
	buf_printf(out, "rate_hz %.1f\n", s->hz);
	buf_printf(out, "budget_percent %g\n", s->cfg.budget * 100);
	if (s->interrupt_ns > 0)
		buf_printf(out, "interrupt_cost_ns %.0f\n", s->interrupt_ns);
	buf_printf(out, "cpus %d\n", s->cpus.nr);
	for (int e = 0; e < s->nr_events; e++)
		put_stream(s, e, out);
	buf_printf(out, "pending_samples %llu\n", (unsigned long long)nr_pending(s));
	buf_printf(out, "outcome_unreadable %llu\n", (unsigned long long)t->unreadable);
	buf_printf(out, "mapping_records_lost %llu\n",
		   (unsigned long long)sideband_nr_lost(s->sideband));
	buf_printf(out, "processes %zu\n", procmap_nr_processes(s->procmap));
	buf_printf(out, "mappings %zu\n", procmap_nr_ranges(s->procmap));
	buf_printf(out, "images %zu\n", images_nr(s->images));
	buf_printf(out, "memory_bytes %zu\n",
		   tally_memory(t) + outbox_memory(s->outbox));
}

int session_close(struct session *s)
{
	int err, end;

	if (!s)
		return 0;
	s->ops->stop(s->collector);
	err = post(s);
	if (!err)
		err = store(s);
	if (err)
		log_err("session: %s: %s: %llu samples are lost", s->cfg.db_path,
			err_str(err), (unsigned long long)nr_pending(s));
	end = store_end(s->store, time_real_ns());
	s->store = NULL;
	session_free(s);
	return err ? err : end;
}
