/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowlate.c - opens the events with a stub program that only makes a tail
 * call; a thread loads the real program, the target of that call
 *
 * I1  The thread and the owner share only struct loading. The thread reads its cfg and
 *     writes its result before it takes the lock and sets done; the owner reads the
 *     result after it has seen done under the lock.
 * I2  Whichever of the two ends last frees it: the owner in windowlate_free() if done
 *     is set, otherwise the thread, when it sees that abandoned is set.
 */
#include "config.h"

#include "daemon/windows/windowlate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/log.h"
#include "base/times.h"

struct loading {
	struct windowsource_config cfg;
	struct event event; /* cfg's */
	uint64_t period;
	struct cpus cpus;
	struct windowsource *source;
	int err;

	pthread_mutex_t lock;
	bool done, abandoned;
};

struct windowlate {
	struct loading *loading;
	struct counters *counters;
	int targets_fd, gate_fd; /* the tail call's map, and its program; -1 */
	uint64_t begun_ns;
	bool loads; /* the thread was started */
};

/* ---- the thread ---- */

static void loading_free(struct loading *l)
{
	if (l->source)
		l->source->ops->close(l->source);
	if (l->cfg.pairs_fd >= 0)
		close(l->cfg.pairs_fd);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static void *load(void *arg)
{
	struct loading *l = arg;
	bool abandoned;

	l->err = windowsource_bpf.open(&l->cfg, &l->cpus, &l->source);
	pthread_mutex_lock(&l->lock);
	l->done = true;
	abandoned = l->abandoned;
	pthread_mutex_unlock(&l->lock);
	if (abandoned)
		loading_free(l);
	return NULL;
}

/* The signals of this process are for its other threads. */
static int start_thread(struct loading *l)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attr, load, l);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -err;
}

static int loading_new(const struct windowsource_config *cfg, const struct cpus *cpus,
		       struct loading **out)
{
	struct loading *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	pthread_mutex_init(&l->lock, NULL);
	l->cfg = *cfg;
	l->event = *cfg->event;
	l->period = *cfg->period;
	l->cfg.event = &l->event;
	l->cfg.period = &l->period;
	l->cpus = *cpus;
	if (cfg->pairs_fd >= 0)
		l->cfg.pairs_fd = fcntl(cfg->pairs_fd, F_DUPFD_CLOEXEC, 0);
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
		err = load_gate(wl);
	if (!err)
		err = open_events(wl, cfg, cpus);
	if (err)
		windowlate_free(wl);
	else
		*out = wl;
	return err;
}

void windowlate_free(struct windowlate *wl)
{
	bool done = true;

	if (!wl)
		return;
	if (wl->loads) {
		pthread_mutex_lock(&wl->loading->lock);
		done = wl->loading->done;
		wl->loading->abandoned = true;
		pthread_mutex_unlock(&wl->loading->lock);
	}
	if (wl->loading && done)
		loading_free(wl->loading);
	counters_close(wl->counters);
	if (wl->gate_fd >= 0)
		close(wl->gate_fd);
	if (wl->targets_fd >= 0) /* which removes the target */
		close(wl->targets_fd);
	free(wl);
}

int windowlate_ready(struct windowlate *wl, uint64_t after_ns)
{
	struct loading *l = wl->loading;
	bool done;
	int err;

	if (!wl->loads) {
		if (time_mono_ns() < wl->begun_ns + after_ns)
			return -EAGAIN;
		err = start_thread(l);
		wl->loads = !err;
		return err ? err : -EAGAIN;
	}
	pthread_mutex_lock(&l->lock);
	done = l->done;
	pthread_mutex_unlock(&l->lock);
	if (!done)
		return -EAGAIN;
	return l->err == -EAGAIN ? -ENOBUFS : l->err;
}

struct windowsource *windowlate_take(struct windowlate *wl)
{
	struct windowsource *source = wl->loading->source;

	wl->loading->source = NULL;
	return source;
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
