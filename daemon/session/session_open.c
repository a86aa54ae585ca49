/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_open.c - opens a session from its configuration
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/collect/calibrate.h"
#include "daemon/collect/raw.h"
#include "daemon/mappings/labels.h"
#include "daemon/mappings/procscan.h"
#include "daemon/mappings/threadscan.h"
#include "daemon/os/arch.h"
#include "daemon/os/clockrate.h"
#include "daemon/os/perfev.h"
#include "daemon/os/procroot.h"
#include "daemon/session/session_private.h"
#include "daemon/windows/windowexclude.h"

/* a repeated message is logged again after this time */
#define LOG_AGAIN_NS (3600 * NSEC_PER_SEC)

#define INIT_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO */

struct session_config session_config_default(void)
{
	return (struct session_config){
		.db_path = db_default_path(),
		.collector = "auto",
		.budget = 0.005,
		.sweep_ns = 10 * NSEC_PER_SEC,
		.flush_ns = 600 * NSEC_PER_SEC,
		.epoch_ns = 60 * NSEC_PER_SEC,
		.check_ns = 60 * NSEC_PER_SEC,
		.max_memory = 64 << 20,
		.capture_bytes = 64 << 20,
		.capture_end_ns = 10 * NSEC_PER_SEC,
		.stacks.copy = SESSION_STACKS_COPY,
		.by = CONTEXT_DEFAULT,
		.raw_fd = -1,
		.clock = &clock_system,
	};
}

struct perftarget session_target(const struct session *s)
{
	return (struct perftarget){
		.pid = s->cfg.target ? s->cfg.target : -1,
		.enable_on_exec = s->cfg.enable_on_exec,
		.thread = s->threads,
		.nr_threads = s->nr_threads,
	};
}

void session_log_refusal(const char *what, int err)
{
	struct buf why = { 0 };

	perfev_explain(err, &why);
	log_err("session: %s: %s", what, buf_str(&why));
	buf_fini(&why);
}

/*
 * Perf's records have the PIDs of our own namespace, and none for processes outside of
 * it.
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
		session_log_refusal("sampling the whole system", err);
	return err;
}

static void refuse_target(pid_t pid, int err)
{
	const pid_t process = perftarget_process(pid);

	if (process && process != pid)
		log_err("process %d: it is a thread of process %d: give the number of "
			"the process",
			(int)pid, (int)process);
	else if (!process || err == -ESRCH)
		log_err("process %d: there is no such process", (int)pid);
	else if (err == -EACCES || err == -EPERM)
		log_err("process %d: not permitted: run as root, or as its user with "
			"kernel.perf_event_paranoid at most 2 (it is %ld)",
			(int)pid, perfev_sysctl("perf_event_paranoid", 2));
	else
		log_err("process %d: %s", (int)pid, err_str(err));
}

/* Checks a running target: reads its threads, and whether it may be sampled. */
static int look_at_target(struct session *s)
{
	const pid_t pid = s->cfg.target;
	int err;

	if (!pid || s->cfg.enable_on_exec)
		return 0;
	err = perftarget_process(pid) == pid ? 0 : -ESRCH;
	if (!err)
		err = perftarget_read_threads(pid, &s->threads, &s->nr_threads);
	if (!err)
		err = perftarget_access(pid);
	if (err)
		refuse_target(pid, err);
	return err;
}

/*
 * Returns the configured rate, or the rate that the budget allows for the measured cost
 * of a sample.
 */
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
	if (event_is_ticks(&s->events.event[0])) /* ticks cost almost nothing */
		return (double)NSEC_PER_SEC / (double)s->events.event[0].period;
	event_attr(&s->events.event[0], &attr);
	err = calibrate_interrupt(&attr, &s->events.interrupt_ns);
	if (err) {
		log_info("session: an interrupt's cost cannot be measured (%s): "
			 "%.0f us are assumed",
			 err_str(err), CALIBRATE_ASSUMED_NS / 1000);
		s->events.interrupt_ns = CALIBRATE_ASSUMED_NS;
	}
	for (int i = 0; i < s->events.nr; i++)
		nr += !s->events.event[i].period;
	hz = calibrate_rate(BUDGET_AT_START * s->cfg.budget / (nr > 1 ? nr : 1),
			    s->events.interrupt_ns);
	log_info("session: an interrupt costs %.1f us here: "
		 "%.0f samples/s per CPU for a budget of %g %%",
		 s->events.interrupt_ns / 1000, hz, s->cfg.budget * 100);
	return hz;
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

/*
 * Reads the target's mappings. Those of a command do not matter, because its events
 * begin at exec. If a process's mappings cannot be read in time, the session goes on:
 * its samples are map_gap, and sweeps try to read its mappings again (rescan.h).
 */
static int read_target(struct session *s)
{
	const pid_t pid = s->cfg.target;
	const int err = procscan_target(s->procmap, s->images, pid);

	if (!err || s->cfg.enable_on_exec)
		return 0;
	if (err == -ENOENT || err == -ESRCH || err == -EACCES || err == -EPERM) {
		refuse_target(pid, err);
		return err;
	}
	log_warn("session: process %d: its mappings cannot be read (%s): its samples "
		 "are map_gap until they can",
		 (int)pid, err_str(err));
	return 0;
}

static int read_all(struct session *s)
{
	struct procscan_result scan;
	char others[32] = "";
	int err = procscan_all(s->procmap, s->images, &scan);

	if (scan.nr_denied > 1)
		snprintf(others, sizeof(others), " and %d more", scan.nr_denied - 1);
	if (scan.nr_denied)
		log_info(
			"session: process %d (%s)%s: no right to read the mappings: %s "
			"samples will be unknown",
			(int)scan.denied, scan.denied_comm, others,
			scan.nr_denied > 1 ? "their" : "its");
	if (scan.nr_no_answer)
		log_warn("session: %d processes cannot be read in time: their samples "
			 "are map_gap until they can",
			 scan.nr_no_answer);
	if (err)
		log_err("session: /proc: %s", err_str(err));
	return err;
}

/*
 * Reads the processes that already run, because mapping events report only new
 * mappings.
 */
static int read_processes(struct session *s, const struct sideband_config *cfg)
{
	int err = s->cfg.target ? read_target(s) : read_all(s);

	if (!err && cfg->threads) {
		err = threadscan(&s->threadmap, s->cfg.target);
		if (err)
			log_err("session: the threads of processes in /proc: %s",
				err_str(err));
	}
	if (!err && cfg->cgroups)
		cgroups_read_all(cfg->cgroups);
	if (!err && cfg->labels)
		labels_scan(s->procmap, s->timed_child, 0);
	return err;
}

static int start_sideband(struct session *s)
{
	const bool by_thread = s->cfg.by & 1u << CONTEXT_THREAD;
	struct sideband_config cfg = {
		.procmap = s->procmap,
		.images = s->images,
		.target = session_target(s),
		.epoll_fd = s->epoll_fd,
		.kernel = s->kernel,
		.jit = s->attribution.jit,
		.cgroups = s->cgroups,
		.threads = by_thread ? &s->threadmap : NULL,
		.labels = s->cfg.by & 1u << CONTEXT_LABEL ||
			  windowexclude_needs_labels(s->cfg.windows.exclude,
						     s->cfg.windows.nr_excluded),
	};
	const char *before = heartbeat_begin(s->cfg.heartbeat, "reading what runs");
	int err = sideband_open(&cfg, &s->cpus, &s->sideband);

	if (err)
		session_log_refusal("mapping events", err);
	else
		err = read_processes(s, &cfg);
	heartbeat_end(s->cfg.heartbeat, before);
	return err;
}

/*
 * The measured clock rate differs a little between starts, but all runs of one boot
 * should use the same rate. So a rate that the database already has is kept, unless the
 * measured one is clearly higher. To check this, a few measurements are enough.
 */
static int choose_clock_rate(struct session *s)
{
	struct platform *p = &s->platform;
	uint64_t known_hz;
	int err = store_clock_rate(s->db, &p->desc, &known_hz);

	if (!err)
		p->desc.clock_hz = clockrate_read(p->announced_hz, known_hz);
	return err;
}

static int read_cpus(struct session *s)
{
	const int err = cpus_online(&s->cpus);

	if (err)
		log_err("session: " CPUS_ONLINE ": %s: mount /sys: 'mount -t sysfs "
			"sysfs /sys'",
			err_str(err));
	return err;
}

static int open_parts(struct session *s)
{
	int err;

	err = timed_child_new(&s->timed_child);
	if (err)
		return err;
	s->images = images_new(s->timed_child);
	s->procmap = procmap_new();
	if (s->procmap)
		procmap_set_owner(s->procmap, procowner_uid);
	s->codecache = codecache_new(s->images);
	s->outbox = outbox_new();
	s->attribution = (struct attribution){
		.images = s->images,
		.procmap = s->procmap,
		.codecache = s->codecache,
		.jit = jit_new(s->images),
		.tally = tally_new(),
		.later = later_new(),
		.by = s->cfg.by,
		.threads = s->cfg.by & 1u << CONTEXT_THREAD ? &s->threadmap : NULL,
		.by_process = s->cfg.by_process,
	};
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!s->images || !s->procmap || !s->codecache || !s->outbox ||
	    !s->attribution.jit || !s->attribution.tally || !s->attribution.later)
		return -ENOMEM;
	if (s->epoll_fd < 0)
		return -errno;
	if (s->cfg.by & 1u << CONTEXT_CGROUP) {
		err = cgroups_open(s->procmap, s->timed_child, !s->cfg.target,
				   &s->cgroups);
		if (err)
			return err;
	}
	err = kernel_open(s->images, &s->kernel);
	s->attribution.kernel = s->kernel;
	if (!err && !s->cfg.target && !kernel_idle_image(s->kernel))
		log_warn("session: /proc/kallsyms hides its addresses: kernel samples "
			 "will be unknown (run as root, grant CAP_SYSLOG, or lower "
			 "kernel.kptr_restrict)");
	return err ? err : read_cpus(s);
}

/* Opens the loader hook's socket. The session goes on without it if that fails. */
static void start_announce(struct session *s)
{
	int err;

	if (!s->cfg.announce_path)
		return;
	err = announce_open(s->cfg.announce_path, s->epoll_fd, s->procmap, s->images,
			    &s->announce);
	if (err)
		log_warn("session: cannot open the socket for the loader hook: %s",
			 err_str(err));
}

/* Prepares to read the kernel's code. The session goes on without it if that fails. */
static void start_kerneltext(struct session *s)
{
	int err = kerneltext_open(&s->kerneltext);

	if (err)
		log_info("session: the kernel's code is not kept: %s", err_str(err));
}

static void start_capture(struct session *s)
{
	const struct capture_config cfg = { .images = s->images,
					    .db = s->db,
					    .max_bytes = s->cfg.capture_bytes,
					    .epoll_fd = s->epoll_fd };

	if (!cfg.max_bytes)
		return;
	start_kerneltext(s);
	capture_open(&cfg, &s->capture); /* which logs why it cannot */
}

static int begin_run(struct session *s)
{
	int err = wallclock_init(&s->wall, s->cfg.clock, s->db);

	if (!err)
		err = store_begin(s->db, &s->platform.desc, wallclock_now(&s->wall),
				  &s->store);
	if (!err)
		err = session_begin_epoch(s, 0, s->cfg.label);
	if (!err)
		err = outbox_store(s->outbox, s->store);
	if (!err)
		store_set_patience(s->store, true);
	return err;
}

static void set_timers(struct session *s)
{
	uint64_t now = session_now(s);

	s->times.begun_ns = s->times.flush_from_ns = s->times.last_sweep_ns = now;
	s->times.swept_ns = time_mono_ns();
	s->times.next_sweep_ns = now + s->cfg.sweep_ns;
	s->times.next_flush_ns = now + s->cfg.flush_ns;
	s->times.next_random_ns = now;
}

static bool retains(const struct session_config *cfg)
{
	return cfg->retain.minutely_ns || cfg->retain.hourly_ns ||
	       cfg->retain.daily_ns || cfg->retain.bytes;
}

/* A database with retention is for long collections. */
static enum db_mode db_mode(const struct session_config *cfg)
{
	return retains(cfg) ? DB_COLLECT_YEARS : DB_COLLECT;
}

static int open_samplers(struct session *s)
{
	int err = 0;

	for (int i = 0; !err && i < NR_SAMPLERS; i++) {
		struct sampler *p = NULL;

		err = session_samplers[i]->open(s, &p);
		if (err || !p)
			continue;
		p->ops = session_samplers[i];
		p->session = s;
		if (p->source)
			s->sampler[s->nr_samplers++] = p;
		else
			s->late = p;
	}
	return err;
}

int session_open(const struct session_config *cfg, struct session **out)
{
	struct session *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	log_limit_repeats(LOG_AGAIN_NS);
	s->cfg = *cfg;
	s->epoll_fd = -1;
	s->events.max_hz = CALIBRATE_MAX_HZ;
	platform_read(&s->platform);
	heartbeat_begin(s->cfg.heartbeat, "starting");
	err = check_system_access(s);
	if (!err)
		err = look_at_target(s);
	heartbeat_begin(s->cfg.heartbeat, "opening the database");
	if (!err)
		err = db_open(s->cfg.db_path, db_mode(cfg), &s->db);
	if (!err)
		err = choose_clock_rate(s);
	if (!err)
		err = session_parse_events(s);
	if (!err)
		err = open_parts(s);
	heartbeat_begin(s->cfg.heartbeat, "starting");
	if (!err)
		start_capture(s);
	if (!err)
		err = session_choose_events(s);
	if (!err) {
		session_take_rate(s, choose_rate(s));
		err = start_sideband(s);
	}
	if (!err)
		err = begin_raw(s);
	if (!err)
		err = open_samplers(s);
	if (!err) {
		session_ask_exec_ids(s);
		err = begin_run(s);
	}
	if (err) {
		session_free(s);
		return err;
	}
	session_give_back_memory(s);
	start_announce(s);
	set_timers(s);
	session_late_begin(s);
	session_begin_memory(s);
	session_budget_begin(s);
	*out = s;
	return 0;
}

int session_retain(struct session *s)
{
	if (!retains(&s->cfg))
		return 0;
	return retention_start(s->cfg.db_path, &s->cfg.retain, s->cfg.clock,
			       &s->retention);
}
