/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_open.c - from a configuration to samples that flow
 */
#include "config.h"

#include <errno.h>
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
#include "daemon/calibrate.h"
#include "daemon/perfev.h"
#include "daemon/procscan.h"
#include "daemon/raw.h"
#include "daemon/session_private.h"
#include "daemon/tick.h"

#define INIT_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO */

/* Random interrupts that see what ticks do not, where ticks bring the volume. */
#define HZ_BESIDE_TICKS 100.0

struct session_config session_config_default(void)
{
	return (struct session_config){
		.db_path = db_default_path(),
		.collector = "auto",
		.budget = 0.005,
		.sweep_ns = 10 * NSEC_PER_SEC,
		.flush_ns = 600 * NSEC_PER_SEC,
		.epoch_ns = 3600 * NSEC_PER_SEC,
		.check_ns = 60 * NSEC_PER_SEC,
		.max_memory = 64 << 20,
		.raw_fd = -1,
	};
}

static pid_t perf_target(const struct session *s)
{
	return s->cfg.target ? s->cfg.target : -1;
}

/* Says why perf refused what, and what helps. */
static void log_refusal(const char *what, int err)
{
	struct buf why = { 0 };

	perfev_explain(err, &why);
	log_err("session: %s: %s", what, buf_str(&why));
	buf_fini(&why);
}

/*
 * PIDs in perf's records are those of our own namespace: processes outside of it
 * have none.
 */
static bool in_initial_namespace(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) || st.st_ino == INIT_PID_NAMESPACE;
}

int session_system_access(void)
{
	int err = perfev_system_access();

	return err ? err : in_initial_namespace() ? 0 : -EXDEV;
}

static int check_system_access(const struct session *s)
{
	int err = s->cfg.target ? 0 : session_system_access();

	if (err == -EXDEV)
		log_err("session: this is not the machine's initial PID namespace, so "
			"most processes cannot be told apart: run CPI on the host");
	else if (err)
		log_refusal("sampling the whole system", err);
	return err;
}

static bool has_ticks(const struct session *s)
{
	return event_is_ticks(&s->events[s->nr_events - 1]);
}

/* Collectors want them there; and there is one tick. */
static int put_ticks_last(struct session *s)
{
	for (int i = 0; i + 1 < s->nr_events; i++) {
		struct event *e = &s->events[i], ticks = e[0];

		if (!event_is_ticks(&e[0]))
			continue;
		if (event_is_ticks(&e[1])) {
			log_err("session: ticks were asked for twice");
			return -EINVAL;
		}
		e[0] = e[1];
		e[1] = ticks;
	}
	return 0;
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
	return put_ticks_last(s);
}

/* The rate that was asked for, or what the budget allows, from a sample's cost here. */
static double choose_rate(struct session *s)
{
	struct perf_event_attr attr = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_REGS_INTR,
		.sample_regs_intr = arch_native.regs_mask,
	};
	int nr = 0, err; /* events that share the budget */
	double hz;

	if (s->cfg.hz > 0)
		return s->cfg.hz;
	if (event_is_ticks(&s->events[0])) /* which cost next to nothing */
		return (double)NSEC_PER_SEC / (double)s->events[0].period;
	event_attr(&s->events[0], &attr);
	err = calibrate_interrupt(&attr, &s->interrupt_ns);
	if (err) {
		log_info("session: an interrupt's cost cannot be measured (%s): "
			 "%.0f us are assumed",
			 err_str(err), CALIBRATE_ASSUMED_NS / 1000);
		s->interrupt_ns = CALIBRATE_ASSUMED_NS;
	}
	for (int i = 0; i < s->nr_events; i++)
		nr += !s->events[i].period;
	hz = calibrate_rate(BUDGET_AT_START * s->cfg.budget / (nr > 1 ? nr : 1),
			    s->interrupt_ns);
	log_info("session: an interrupt costs %.1f us here: "
		 "%.0f samples/s per CPU for a budget of %g %%",
		 s->interrupt_ns / 1000, hz, s->cfg.budget * 100);
	return hz;
}

/* Some collectors hand out samples that are newer than the last cycle's begin. */
static void take_batch(void *ctx, const struct batch *batch)
{
	struct session *s = ctx;

	if (batch->to_ns > s->mapped_ns)
		session_read_mappings(s);
	attribute_batch(&s->attribution, batch);
}

static void classify(void *ctx, const struct raw_sample *sample,
		     unsigned int *generation, enum cpi_outcome *outcome)
{
	struct session *s = ctx;

	attribute_classify(&s->attribution, sample, generation, outcome);
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
		.owner = { take_batch, classify, s },
	};

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

/* In the order in which "auto" tries them. */
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
	log_err("session: there is no collector \"%s\" in this build: auto%s", name,
		buf_str(&known));
	buf_fini(&known);
}

static int try_collector(struct session *s, const struct collector_ops *ops, int *event)
{
	int err;

	s->ops = ops;
	err = open_collector(s, event);
	if (err == -EACCES && s->cfg.target) {
		exclude_kernel(s);
		err = open_collector(s, event);
	}
	return err;
}

/* The one that was asked for, or else the first that works. */
static int open_any(struct session *s, const struct collector_ops *asked, int *event)
{
	int err = -EOPNOTSUPP;

	for (size_t i = 0; i < NR_COLLECTORS && err; i++) {
		const struct collector_ops *ops = collectors[i];

		if ((asked && ops != asked) || (has_ticks(s) && !ops->takes_ticks))
			continue;
		err = try_collector(s, ops, event);
		if (err && *event >= 0 && !asked)
			log_info("session: %s cannot be sampled by %s: %s",
				 s->events[*event].name, ops->name, err_str(err));
	}
	return err;
}

static void log_no_collector(const struct session *s, const struct collector_ops *asked,
			     int event, int err)
{
	if (has_ticks(s) && (!asked || !asked->takes_ticks))
		log_err("session: ticks take the collector bpf%s: see TICKS in cpid(8)",
			asked ? "" : ", which does not work here");
	else if (asked && asked != &collector_perf)
		log_err("session: the collector %s cannot be used: %s: see "
			"COLLECTORS in cpid(8)",
			asked->name, err_str(err));
	else
		log_refusal(event >= 0 ? s->events[event].name : "buffers", err);
}

/* Whether ticks may bring the volume, where nobody said how to sample. */
static bool may_add_ticks(const struct session *s)
{
	return s->cfg.ticks && !s->cfg.nr_events && s->cfg.hz <= 0 && !s->cfg.target &&
	       s->events[0].type == PERF_TYPE_SOFTWARE;
}

/* Adds them, with fewer interrupts beside them, if that works; 0 or -errno. */
static int open_with_ticks(struct session *s, const struct collector_ops *asked)
{
	const double hz = s->hz;
	int event = -1, err = event_parse("ticks", 0, &s->events[1]);

	if (err)
		return err;
	s->nr_events = 2;
	session_take_rate(s, hz < HZ_BESIDE_TICKS ? hz : HZ_BESIDE_TICKS);
	err = open_any(s, asked, &event);
	if (!err) {
		s->max_hz = HZ_BESIDE_TICKS;
		log_info("session: user mode is sampled at the scheduler's ticks, "
			 "everything at %.0f samples/s per CPU",
			 s->hz);
		return 0;
	}
	s->nr_events = 1;
	session_take_rate(s, hz);
	return err;
}

static int start_collector(struct session *s)
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
		log_info("session: the collector is %s", s->ops->name);
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
		.jit = s->attribution.jit,
	};
	int err = sideband_open(&cfg, &s->cpus, &s->sideband), denied = 0;

	if (!err)
		err = s->cfg.target ? procscan_one(s->procmap, s->images, s->cfg.target)
				    : procscan_all(s->procmap, s->images, &denied);
	if (denied)
		log_info("session: %d processes do not let their mappings be read: "
			 "their samples will be unknown",
			 denied);
	if (err)
		log_refusal("mapping events", err);
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
		.images = s->images,
		.procmap = s->procmap,
		.codecache = s->codecache,
		.jit = jit_new(s->images),
		.tally = tally_new(),
		.by_comm = s->cfg.by_comm,
	};
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!s->images || !s->procmap || !s->codecache || !s->outbox ||
	    !s->attribution.jit || !s->attribution.tally)
		return -ENOMEM;
	if (s->epoll_fd < 0)
		return -errno;
	err = kernel_open(s->images, &s->kernel);
	s->attribution.kernel = s->kernel;
	if (!err && !s->cfg.target && !kernel_idle_image(s->kernel))
		log_warn("session: /proc/kallsyms hides its addresses: kernel samples "
			 "will be unknown (run as root, grant CAP_SYSLOG, or lower "
			 "kernel.kptr_restrict)");
	return err ? err : cpus_online(&s->cpus);
}

/* Nothing depends on it alone, so the rest goes on without. */
static void start_announce(struct session *s)
{
	int err;

	if (!s->cfg.announce_path)
		return;
	err = announce_open(s->cfg.announce_path, s->procmap, s->images, &s->announce);
	if (err)
		log_warn("session: the loader hook is not listened to: %s",
			 err_str(err));
}

static int begin_run(struct session *s)
{
	int err = store_begin(s->db, &s->platform.desc, time_real_ns(), &s->store);

	if (!err)
		err = session_begin_epoch(s, 0, s->cfg.label);
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

int session_open(const struct session_config *cfg, struct session **out)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->cfg = *cfg;
	s->epoll_fd = -1;
	s->max_hz = CALIBRATE_MAX_HZ;
	platform_read(&s->platform);
	err = check_system_access(s);
	if (!err)
		err = parse_events(s);
	if (!err)
		err = db_open(s->cfg.db_path, DB_COLLECT, &s->db);
	if (!err)
		err = open_parts(s);
	if (!err)
		err = settle_events(s);
	if (!err) {
		session_take_rate(s, choose_rate(s));
		err = start_sideband(s);
	}
	if (!err)
		err = begin_raw(s);
	if (!err)
		err = start_collector(s);
	if (!err) {
		session_ask_exec_ids(s);
		err = begin_run(s);
	}
	if (err) {
		session_free(s);
		return err;
	}
	start_announce(s);
	set_timers(s);
	session_budget_begin(s);
	*out = s;
	return 0;
}
