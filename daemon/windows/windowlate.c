/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowlate.c - loads the program in the background (daemon/os/background.h)
 *
 * The events are opened at once, with a stub program that only makes a tail call; the
 * real program becomes the callee of that call.
 */
#include "config.h"

#include "daemon/windows/windowlate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/times.h"
#include "daemon/os/background.h"

struct loading {
	struct windowsource_config cfg;
	struct event event; /* cfg's */
	uint64_t period;
	struct cpus cpus;
	struct windowsource *source;
	int err;
};

struct windowlate {
	struct loading *loading; /* the thread's while it runs */
	struct background *thread;
	struct counters *counters;
	struct translate_child *translator;
	int targets_fd, gate_fd; /* the tail call's map, and its program; -1 */
	uint64_t begun_ns;
};

/* ---- the thread ---- */

static void loading_free(void *work)
{
	struct loading *l = work;

	if (l->source)
		l->source->ops->close(l->source);
	if (l->cfg.pairs_fd >= 0)
		close(l->cfg.pairs_fd);
	free(l);
}

static void load(void *work)
{
	struct loading *l = work;

	l->err = windowsource_bpf.open(&l->cfg, &l->cpus, &l->source);
}

static int start_thread(struct windowlate *wl)
{
	const struct background_work work = { .run = load,
					      .discard = loading_free,
					      .work = wl->loading,
					      .is_urgent =
						      !wl->loading->cfg.is_patient };

	return background_start(&work, &wl->thread);
}

static int loading_new(const struct windowsource_config *cfg, const struct cpus *cpus,
		       struct loading **out)
{
	struct loading *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->cfg = *cfg;
	l->event = *cfg->event;
	l->period = *cfg->period;
	l->cfg.event = &l->event;
	l->cfg.period = &l->period;
	l->cpus = *cpus;
	if (cfg->pairs_fd >= 0)
		l->cfg.pairs_fd = fcntl(cfg->pairs_fd, F_DUPFD_CLOEXEC, 0);
	if (cfg->pairs_fd >= 0 && l->cfg.pairs_fd < 0) {
		const int err = -errno;

		free(l);
		return err;
	}
	*out = l;
	return 0;
}

/* ---- the events ---- */

/* bpf_tail_call(ctx, &targets, 0); return 0: nothing goes to a perf ring. */
static int load_gate(struct windowlate *wl)
{
	struct bpf_insn code[] = {
		{ .code = BPF_LD | BPF_DW | BPF_IMM,
		  .dst_reg = BPF_REG_2,
		  .src_reg = BPF_PSEUDO_MAP_FD },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_tail_call },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	wl->targets_fd =
		bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "cpi_late", 4, 4, 1, NULL);
	if (wl->targets_fd < 0)
		return wl->targets_fd;
	code[0].imm = wl->targets_fd;
	wl->gate_fd = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "cpi_late", "GPL", code,
				    sizeof(code) / sizeof(code[0]), NULL);
	return wl->gate_fd < 0 ? wl->gate_fd : 0;
}

static int opened(void *ctx, int cpu, int event, int fd)
{
	const struct windowlate *wl = ctx;

	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, wl->gate_fd) ? -errno : 0;
}

static int open_events(struct windowlate *wl, const struct windowsource_config *cfg,
		       const struct cpus *cpus)
{
	const struct counters_config counters = { .events = cfg->event,
						  .periods = cfg->period,
						  .nr_events = 1,
						  .target = cfg->target,
						  .opened = opened,
						  .each_thread = true,
						  .held = true,
						  .ctx = wl };
	int event;

	return counters_open(&counters, cpus, &wl->counters, &event);
}

static int hold_events(struct windowlate *wl, const struct windowsource_config *cfg,
		       const struct cpus *cpus)
{
	const int err = load_gate(wl);

	return err ? err : open_events(wl, cfg, cpus);
}

int windowlate_new(const struct windowsource_config *cfg, const struct cpus *cpus,
		   struct windowlate **out)
{
	struct windowlate *wl = calloc(1, sizeof(*wl));
	int err;

	if (!wl)
		return -ENOMEM;
	wl->targets_fd = wl->gate_fd = -1;
	wl->begun_ns = time_mono_ns();
	err = loading_new(cfg, cpus, &wl->loading);
	if (!err)
		err = hold_events(wl, cfg, cpus);
	if (!err && cfg->target.pid < 0)
		err = translate_child_open(-1, &wl->translator);
	if (err)
		windowlate_free(wl);
	else
		*out = wl;
	return err;
}

void windowlate_free(struct windowlate *wl)
{
	if (!wl)
		return;
	if (background_end(wl->thread) && wl->loading)
		loading_free(wl->loading);
	translate_child_close(wl->translator);
	counters_close(wl->counters);
	if (wl->gate_fd >= 0)
		close(wl->gate_fd);
	if (wl->targets_fd >= 0) /* which removes the target */
		close(wl->targets_fd);
	free(wl);
}

int windowlate_ready(struct windowlate *wl, uint64_t after_ns)
{
	const struct loading *l = wl->loading;
	int err;

	if (!wl->thread) {
		if (time_mono_ns() < wl->begun_ns + after_ns)
			return -EAGAIN;
		err = start_thread(wl);
		return err ? err : -EAGAIN;
	}
	if (!background_is_done(wl->thread))
		return -EAGAIN;
	return l->err == -EAGAIN ? -ENOBUFS : l->err;
}

struct windowsource *windowlate_take(struct windowlate *wl)
{
	struct windowsource *source = wl->loading->source;

	wl->loading->source = NULL;
	return source;
}

struct translate_child *windowlate_take_translator(struct windowlate *wl)
{
	struct translate_child *translator = wl->translator;

	wl->translator = NULL;
	return translator;
}

int windowlate_set_cpus(struct windowlate *wl, const struct cpus *cpus)
{
	return counters_set_cpus(wl->counters, cpus);
}

int windowlate_start(struct windowlate *wl, int program_fd, struct counters **out)
{
	const uint32_t first = 0;
	int err = bpf_map_update_elem(wl->targets_fd, &first, &program_fd, BPF_ANY);

	if (!err)
		err = counters_release(wl->counters);
	if (err)
		return err;
	*out = wl->counters;
	wl->counters = NULL;
	return 0;
}
