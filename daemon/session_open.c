/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session_open.c - from a configuration to samples that flow
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/file.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/arch.h"
#include "daemon/calibrate.h"
#include "daemon/labels.h"
#include "daemon/perfev.h"
#include "daemon/procscan.h"
#include "daemon/raw.h"
#include "daemon/session_private.h"
#include "daemon/windowexclude.h"

#define INIT_PID_NAMESPACE 0xeffffffcu /* PROC_PID_INIT_INO */

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
		.windows_bytes = 64 << 20,
		.max_memory = 64 << 20,
		.capture_bytes = 64 << 20,
		.capture_end_ns = 10 * NSEC_PER_SEC,
		.stacks_copy = SESSION_STACKS_COPY,
		.raw_fd = -1,
	};
}

pid_t session_target(const struct session *s)
{
	return s->cfg.target ? s->cfg.target : -1;
}

/* Says why perf refused what, and what helps. */
void session_log_refusal(const char *what, int err)
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
		session_log_refusal("sampling the whole system", err);
	return err;
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

static int start_sideband(struct session *s)
{
	struct sideband_config cfg = {
		.procmap = s->procmap,
		.images = s->images,
		.target = session_target(s),
		.enable_on_exec = s->cfg.enable_on_exec,
		.epoll_fd = s->epoll_fd,
		.kernel = s->kernel,
		.jit = s->attribution.jit,
		.cgroups = s->cgroups,
		.labels = s->cfg.by & 1u << CONTEXT_LABEL ||
			  windowexclude_needs_labels(s->cfg.windows_exclude,
						     s->cfg.nr_windows_excluded),
	};
	int err = sideband_open(&cfg, &s->cpus, &s->sideband), denied = 0;

	if (!err)
		err = s->cfg.target ? procscan_one(s->procmap, s->images, s->cfg.target)
				    : procscan_all(s->procmap, s->images, &denied);
	if (!err && cfg.cgroups)
		cgroups_read_all(cfg.cgroups);
	if (!err && cfg.labels)
		labels_scan(s->procmap, 0);
	if (denied)
		log_info("session: %d processes do not let their mappings be read: "
			 "their samples will be unknown",
			 denied);
	if (err)
		session_log_refusal("mapping events", err);
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
		.by = s->cfg.by,
		.by_process = s->cfg.by_process,
	};
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!s->images || !s->procmap || !s->codecache || !s->outbox ||
	    !s->attribution.jit || !s->attribution.tally)
		return -ENOMEM;
	if (s->epoll_fd < 0)
		return -errno;
	if (s->cfg.by & 1u << CONTEXT_CGROUP) {
		err = cgroups_open(s->procmap, !s->cfg.target, &s->cgroups);
		if (err)
			return err;
	}
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
	err = announce_open(s->cfg.announce_path, s->epoll_fd, s->procmap, s->images,
			    &s->announce);
	if (err)
		log_warn("session: the loader hook is not listened to: %s",
			 err_str(err));
}

/* Nor on this, nor on the next. */
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
	if (capture_open(&cfg, &s->capture))
		return;
	images_keep_files(s->images);
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

static bool retains(const struct session_config *cfg)
{
	return cfg->retain.hourly_ns || cfg->retain.daily_ns || cfg->retain.bytes;
}

/* What is bounded collects for long. */
static enum db_mode db_mode(const struct session_config *cfg)
{
	return retains(cfg) ? DB_COLLECT_YEARS : DB_COLLECT;
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
		err = session_parse_events(s);
	if (!err)
		err = db_open(s->cfg.db_path, db_mode(cfg), &s->db);
	if (!err)
		err = open_parts(s);
	if (!err)
		start_capture(s);
	if (!err)
		err = session_settle_events(s);
	if (!err) {
		session_take_rate(s, choose_rate(s));
		err = start_sideband(s);
	}
	if (!err)
		err = begin_raw(s);
	if (!err)
		err = session_start_collector(s);
	if (!err)
		err = session_start_stacks(s);
	if (!err)
		err = session_start_anchors(s);
	if (!err)
		err = session_start_windows(s);
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

int session_retain(struct session *s)
{
	if (!retains(&s->cfg))
		return 0;
	return keeper_start(s->cfg.db_path, &s->cfg.retain, &s->keeper);
}
