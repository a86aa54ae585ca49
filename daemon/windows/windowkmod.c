/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowkmod.c - windows from the kernel module, through the file descriptor of
 * the kmod collector
 *
 * The module opens the event on each CPU, also on CPUs that come online later,
 * and draws a new period at every interrupt. Each CPU has a ring of records, in
 * the same mapping as the tables.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/kmod.h"
#include "base/err.h"
#include "base/hmap.h"
#include "base/log.h"
#include "daemon/collect/kmodevent.h"
#include "daemon/windows/windowexclude.h"
#include "daemon/windows/windowsource.h"

#define MIN_RECORDS 64 /* of a CPU */

struct windowkmod {
	struct windowsource source;
	struct cpi_kmod_windows config;
	uint8_t *memory;
};

static struct windowkmod *kmod_of(const struct windowsource *ws)
{
	return container_of(ws, struct windowkmod, source);
}

static uint32_t nr_records(uint32_t nr_cpus, bool with_origins)
{
	const uint32_t fit = windowsource_ring_bytes(nr_cpus, with_origins) / nr_cpus /
			     cpi_window_slot_bytes(with_origins);
	uint32_t nr = MIN_RECORDS;

	while (nr * 2 <= fit)
		nr *= 2;
	return nr;
}

static int set_config(struct windowkmod *wk)
{
	const struct windowsource_config *cfg = &wk->source.cfg;
	struct cpi_kmod_windows *c = &wk->config;
	const long nr_cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t nr_cells;

	if (nr_cpus < 1)
		return -EIO;
	c->nr_entries = cfg->nr_entries;
	c->nr_records = nr_records((uint32_t)nr_cpus, cfg->with_origins);
	c->flags = cfg->with_origins ? CPI_KMOD_WINDOW_ORIGINS : 0;
	nr_cells =
		windowsource_nr_cells(cfg,
				      (uint64_t)nr_cpus * c->nr_records *
					      cpi_window_slot_bytes(cfg->with_origins));
	c->nr_cells = nr_cells < CPI_KMOD_MAX_WINDOW_CELLS ? nr_cells
							   : CPI_KMOD_MAX_WINDOW_CELLS;
	kmodevent_set(cfg->event, *cfg->period, &c->event);
	return 0;
}

static int ask(struct windowkmod *wk)
{
	const struct windowsource_config *cfg = &wk->source.cfg;
	int nr = windowexclude_open_cgroups(cfg->exclude, cfg->nr_excluded,
					    wk->config.excluded, CPI_WINDOW_CGROUPS);
	int err = 0;

	if (nr < 0)
		return nr;
	wk->config.nr_excluded = (uint32_t)nr;
	if (ioctl(cfg->device, CPI_KMOD_IOC_WINDOWS, &wk->config))
		err = -errno;
	for (int i = 0; i < nr; i++)
		close(wk->config.excluded[i]);
	if (err == -EOPNOTSUPP || err == -ENOTTY)
		log_info("windows: the module does not support them on this machine");
	else if (err)
		log_warn("windows: not available: the module refuses: %s",
			 err_str(err));
	return err == -ENOTTY ? -EOPNOTSUPP : err;
}

static int map_tables(struct windowkmod *wk)
{
	struct windowsource *ws = &wk->source;
	void *at = mmap(NULL, wk->config.bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			ws->cfg.device, (off_t)CPI_KMOD_WINDOWS_AT);

	if (at == MAP_FAILED) {
		const int err = -errno;

		log_warn("windows: not available: %s cannot be mapped: %s",
			 CPI_KMOD_DEVICE, err_str(err));
		return err;
	}
	wk->memory = at;
	ws->process = at;
	ws->entry = (void *)(wk->memory + wk->config.entries_at);
	ws->cell = (void *)(wk->memory + wk->config.cells_at);
	ws->nr_cells = wk->config.nr_cells;
	ws->nr_records = wk->config.nr_records;
	ws->ring_per_cpu = true;
	return 0;
}

static int follow(const struct windowsource *ws, uint32_t on)
{
	return ioctl(ws->cfg.device, CPI_KMOD_IOC_FOLLOW, &on) ? -errno : 0;
}

/* The module keeps its memory until it is told, or the device is closed. */
static void kmod_close(struct windowsource *ws)
{
	struct windowkmod *wk = kmod_of(ws);
	struct cpi_kmod_windows none;

	if (wk->memory)
		munmap(wk->memory, wk->config.bytes);
	memset(&none, 0, sizeof(none));
	follow(ws, 0);
	ioctl(ws->cfg.device, CPI_KMOD_IOC_WINDOWS, &none);
	free(wk);
}

static int kmod_open(const struct windowsource_config *cfg, const struct cpus *cpus,
		     struct windowsource **out)
{
	struct windowkmod *wk;
	int err;

	if (cfg->device < 0 || cfg->target.pid >= 0)
		return -EOPNOTSUPP;
	wk = calloc(1, sizeof(*wk));
	if (!wk)
		return -ENOMEM;
	wk->source.ops = &windowsource_kmod;
	wk->source.cfg = *cfg;
	err = set_config(wk);
	if (!err)
		err = ask(wk);
	if (!err)
		err = map_tables(wk);
	if (err) {
		kmod_close(&wk->source);
		return err;
	}
	*out = &wk->source;
	return 0;
}

static int kmod_start(struct windowsource *ws, const struct cpus *cpus)
{
	return follow(ws, 1);
}

static void kmod_stop(struct windowsource *ws)
{
	follow(ws, 0);
}

static int kmod_set_cpus(struct windowsource *ws, const struct cpus *cpus)
{
	return 0; /* the module sees to that */
}

static void kmod_randomise(struct windowsource *ws, const uint64_t *received)
{
	/* and to that */
}

static int kmod_synchronize(const struct windowsource *ws)
{
	return ioctl(ws->cfg.device, CPI_KMOD_IOC_SYNCHRONIZE) ? -errno : 0;
}

static struct cpi_window_ring *ring_of(const struct windowkmod *wk, uint32_t cpu)
{
	return (void *)(wk->memory + wk->config.rings_at +
			(uint64_t)cpu * wk->config.ring_bytes);
}

/* Both orders pair with the module's (kmod/cpi_follow.c). */
static void consume_ring(struct cpi_window_ring *ring, const struct cpi_kmod_windows *c,
			 windowsource_take_fn *take, void *ctx)
{
	const bool with_origins = c->flags & CPI_KMOD_WINDOW_ORIGINS;
	const uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->tail;

	for (uint32_t i = 0; i < c->nr_records && tail != head; i++) {
		struct cpi_window_record *r =
			cpi_window_slot(ring, tail++, c->nr_records, c->slot_bytes);

		take(ctx, r, NULL,
		     with_origins && r->window.nr ? cpi_window_slot_origin(r) : NULL);
	}
	__atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
}

static int kmod_consume(struct windowsource *ws, windowsource_take_fn *take, void *ctx)
{
	struct windowkmod *wk = kmod_of(ws);

	for (uint32_t i = 0; i < wk->config.nr_cpus; i++)
		consume_ring(ring_of(wk, i), &wk->config, take, ctx);
	return 0;
}

static void read_followed(const struct windowsource *ws, struct cpi_kmod_followed *out)
{
	memset(out, 0, sizeof(*out));
	ioctl(ws->cfg.device, CPI_KMOD_IOC_FOLLOWED, out);
}

/* A pair needs the collector's next sample, which is another part of the module. */
static int kmod_pairs(struct windowsource *ws,
		      void (*take)(void *ctx, const struct cpi_pair_record *r),
		      void *ctx, struct cpi_pair_counts *sum)
{
	(void)ws, (void)take, (void)ctx, (void)sum;
	return -EOPNOTSUPP;
}

static void kmod_counts(const struct windowsource *ws, struct cpi_window_counts *sum)
{
	struct cpi_kmod_followed f;

	read_followed(ws, &f);
	*sum = f.counts;
}

static void kmod_event(const struct windowsource *ws, struct collector_counts *out)
{
	struct cpi_kmod_followed f;

	read_followed(ws, &f);
	out->event_count = f.event_count;
	out->enabled_ns = f.enabled_ns;
	out->running_ns = f.running_ns;
}

const struct windowsource_ops windowsource_kmod = {
	.name = "kmod",
	.open = kmod_open,
	.close = kmod_close,
	.start = kmod_start,
	.stop = kmod_stop,
	.has_fixed_rate = true,
	.set_cpus = kmod_set_cpus,
	.randomise = kmod_randomise,
	.synchronize = kmod_synchronize,
	.consume = kmod_consume,
	.pairs = kmod_pairs,
	.counts = kmod_counts,
	.event = kmod_event,
};
