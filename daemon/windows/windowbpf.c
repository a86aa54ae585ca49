/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowbpf.c - loads kmod/cpi_window.bpf.c and attaches it to perf events
 */
#include "config.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hmap.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/collect/bpf_grace.h"
#include "daemon/collect/bpf_log.h"
#include "daemon/collect/counters.h"
#include "daemon/collect/tick.h"
#include "daemon/cpi_window.skel.h"
#include "daemon/windows/windowexclude.h"
#include "daemon/windows/windowlate.h"
#include "daemon/windows/windowsource.h"

/* Code of other machines has no forms. */
#ifdef __x86_64__
#define HAS_FORMS true
#else
#define HAS_FORMS false
#endif

struct windowbpf {
	struct windowsource source;
	struct cpi_window_bpf *skel;
	struct ring_buffer *ring, *pair_ring;
	struct counters *counters;
	struct bpf_grace *grace;
	struct cpi_window_cpu *cpu;
	struct cpi_pair_cpu *pair;
	uint32_t nr_cpus; /* that there may ever be */
	windowsource_take_fn *take;
	void (*take_pair)(void *ctx, const struct cpi_pair_record *r);
	void *ctx;
};

static struct windowbpf *bpf_of(const struct windowsource *ws)
{
	return container_of(ws, struct windowbpf, source);
}

static int take_record(void *ctx, void *data, size_t size)
{
	const struct windowbpf *wb = ctx;
	const struct cpi_window_record *r = data;
	const size_t before = sizeof(*r) + CPI_WINDOW_CODE_WORDS * sizeof(uint64_t);
	const struct cpi_window_origin *origin = NULL;
	const uint64_t *code = NULL;

	if (size < sizeof(*r))
		return 0;
	if (size >= sizeof(*r) + cpi_window_code_words(&r->window) * sizeof(uint64_t))
		code = (const void *)(r + 1);
	if (size >= before + offsetof(struct cpi_window_origin, load))
		origin = (const void *)((const char *)data + before);
	if (origin && size < before + cpi_window_origin_bytes(origin))
		origin = NULL;
	wb->take(wb->ctx, r, code, origin);
	return 0;
}

static int take_pair(void *ctx, void *data, size_t size)
{
	const struct windowbpf *wb = ctx;

	if (size >= sizeof(struct cpi_pair_record))
		wb->take_pair(wb->ctx, data);
	return 0;
}

/* ---- loading ---- */

static size_t map_bytes(const struct bpf_map *map)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t size =
		(size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);

	return (size + page - 1) / page * page;
}

static int map_shared(const struct bpf_map *map, void *out)
{
	void *at = mmap(NULL, map_bytes(map), PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(map), 0);

	if (at == MAP_FAILED)
		return -errno;
	*(void **)out = at;
	return 0;
}

static void unmap_shared(const struct bpf_map *map, void *at)
{
	if (at)
		munmap(at, map_bytes(map));
}

static int map_all(struct windowbpf *wb)
{
	const struct cpi_window_bpf *skel = wb->skel;
	int err = map_shared(skel->maps.cpi_window_cpus, &wb->cpu);

	if (!err)
		err = map_shared(skel->maps.cpi_pairs, &wb->pair);
	if (!err)
		err = map_shared(skel->maps.cpi_processes, &wb->source.process);
	if (!err)
		err = map_shared(skel->maps.cpi_entries, &wb->source.entry);
	if (!err)
		err = map_shared(skel->maps.cpi_cells, &wb->source.cell);
	if (!err)
		err = map_shared(skel->maps.cpi_forms, &wb->source.form);
	return err;
}

/* The collector's map, so that its samples close pairs; or one of its own. */
static int set_pairs(struct windowbpf *wb, uint32_t ring_bytes)
{
	const int fd = wb->source.cfg.pairs_fd;
	struct cpi_window_bpf *skel = wb->skel;
	int err = bpf_map__set_max_entries(skel->maps.cpi_pair_records, ring_bytes);

	if (!err)
		err = fd >= 0 ? bpf_map__reuse_fd(skel->maps.cpi_pairs, fd)
			      : bpf_map__set_max_entries(skel->maps.cpi_pairs,
							 wb->nr_cpus);
	return err;
}

static int set_sizes(struct windowbpf *wb, uint32_t nr_excluded)
{
	struct windowsource *ws = &wb->source;
	const uint32_t ring_bytes =
		windowsource_ring_bytes(wb->nr_cpus, ws->cfg.with_origins);
	struct cpi_window_bpf *skel = wb->skel;
	int err = bpf_map__set_max_entries(skel->maps.cpi_window_cpus, wb->nr_cpus);

	ws->nr_records =
		ring_bytes /
		(sizeof(struct cpi_window_record) + sizeof(wb->cpu->trace) +
		 (ws->cfg.with_origins ? sizeof(struct cpi_window_origin) : 0));
	if (HAS_FORMS)
		windowsource_size_forms(ws, 2 * (uint64_t)ring_bytes);
	ws->nr_cells = windowsource_nr_cells(
		&ws->cfg, 2 * ring_bytes + wb->nr_cpus * sizeof(struct cpi_window_cpu) +
				  ws->nr_forms * sizeof(struct cpi_form) +
				  ws->nr_form_cells * sizeof(union cpi_code_cell));
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.cpi_entries,
					       ws->cfg.nr_entries);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.cpi_cells,
					       ws->nr_cells + ws->nr_form_cells);
	if (!err && ws->nr_forms)
		err = bpf_map__set_max_entries(skel->maps.cpi_forms, ws->nr_forms);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.cpi_records, ring_bytes);
	if (!err)
		err = set_pairs(wb, ring_bytes);
	skel->rodata->nr_excluded = nr_excluded;
	skel->rodata->with_origins = ws->cfg.with_origins;
	if (ws->nr_forms)
		skel->rodata->nr_forms = ws->nr_forms;
	return err;
}

/* Tells the programs where the hypervisor counts the time that it takes. */
static void set_stolen(struct windowbpf *wb)
{
	int32_t at;

	if (tick_find_stolen(&at))
		return;
	for (uint32_t i = 0; i < wb->nr_cpus; i++)
		wb->pair[i].stolen_at = at;
}

static int load(struct windowbpf *wb, const int *excluded, uint32_t nr_excluded)
{
	const struct bpf_map *map;
	int err;

	wb->skel = cpi_window_bpf__open();
	if (!wb->skel)
		return -errno;
	map = wb->skel->maps.cpi_excluded;
	err = set_sizes(wb, nr_excluded);
	if (!err)
		err = cpi_window_bpf__load(wb->skel);
	for (uint32_t i = 0; i < nr_excluded && !err; i++)
		err = bpf_map_update_elem(bpf_map__fd(map), &i, &excluded[i], BPF_ANY);
	if (!err)
		err = map_all(wb);
	if (err)
		return err;
	set_stolen(wb);
	wb->ring = ring_buffer__new(bpf_map__fd(wb->skel->maps.cpi_records),
				    take_record, wb, NULL);
	if (!wb->ring)
		return -errno;
	wb->pair_ring = ring_buffer__new(bpf_map__fd(wb->skel->maps.cpi_pair_records),
					 take_pair, wb, NULL);
	return wb->pair_ring ? 0 : -errno;
}

static int load_with_exclusions(struct windowbpf *wb)
{
	const struct windowsource_config *cfg = &wb->source.cfg;
	int excluded[CPI_WINDOW_CGROUPS];
	int nr = windowexclude_open_cgroups(cfg->exclude, cfg->nr_excluded, excluded,
					    CPI_WINDOW_CGROUPS);
	int err;

	if (nr < 0)
		return nr;
	bpf_log_begin();
	err = load(wb, excluded, (uint32_t)nr);
	if (err)
		log_warn("windows: not available: the program cannot be loaded: %s",
			 err_str(err));
	for (int i = 0; i < nr; i++)
		close(excluded[i]);
	return err;
}

static void bpf_close(struct windowsource *ws)
{
	struct windowbpf *wb = bpf_of(ws);

	counters_close(wb->counters);
	bpf_grace_close(wb->grace);
	if (wb->skel) {
		unmap_shared(wb->skel->maps.cpi_window_cpus, wb->cpu);
		unmap_shared(wb->skel->maps.cpi_pairs, wb->pair);
		unmap_shared(wb->skel->maps.cpi_processes, ws->process);
		unmap_shared(wb->skel->maps.cpi_entries, ws->entry);
		unmap_shared(wb->skel->maps.cpi_cells, ws->cell);
		unmap_shared(wb->skel->maps.cpi_forms, ws->form);
		ring_buffer__free(wb->ring);
		ring_buffer__free(wb->pair_ring);
		cpi_window_bpf__destroy(wb->skel);
	}
	free(wb);
}

static int open_grace(struct windowbpf *wb)
{
	const bool interrupts = event_interrupts(wb->source.cfg.event);

	return bpf_grace_open(interrupts ? BPF_GRACE_IPI : BPF_GRACE_RCU, wb->nr_cpus,
			      &wb->grace);
}

/*
 * Edge-triggered, so that records that were not taken yet do not wake the daemon
 * again.
 */
static int wake(const struct windowbpf *wb)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	const int fd = bpf_map__fd(wb->skel->maps.cpi_records);

	return epoll_ctl(wb->source.cfg.epoll_fd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

/* Before Linux 5.17 there are no bounded loops of that length. */
static int bpf_open(const struct windowsource_config *cfg, const struct cpus *cpus,
		    struct windowsource **out)
{
	const int nr = libbpf_num_possible_cpus();
	struct windowbpf *wb;
	int err;

	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, NULL) ==
	    0) {
		log_info("windows: not available: the kernel is older than 5.17");
		return -EOPNOTSUPP;
	}
	if (nr < 0)
		return nr;
	wb = calloc(1, sizeof(*wb));
	if (!wb)
		return -ENOMEM;
	wb->source.ops = &windowsource_bpf;
	wb->source.cfg = *cfg;
	wb->nr_cpus = (uint32_t)nr;
	err = load_with_exclusions(wb);
	if (!err)
		err = open_grace(wb);
	if (err) {
		bpf_close(&wb->source);
		return err;
	}
	*out = &wb->source;
	return 0;
}

/* ---- running ---- */

static int opened(void *ctx, int cpu, int event, int fd)
{
	const struct windowbpf *wb = ctx;
	const int program = bpf_program__fd(wb->skel->progs.cpi_window);

	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, program) ? -errno : 0;
}

/*
 * A process that was sampled is sampled again after a period of its CPU time on
 * average. So it gains little from being entered sooner than that after its first
 * sample, and the daemon is woken for new processes at most once in a period.
 */
static void set_quiet_time(const struct windowbpf *wb)
{
	const struct windowsource_config *cfg = &wb->source.cfg;
	const double seconds = (double)*cfg->period / (double)cfg->event->per_second;

	wb->skel->bss->stranger_quiet_ns = (uint64_t)(seconds * NSEC_PER_SEC);
}

static int bpf_start(struct windowsource *ws, const struct cpus *cpus)
{
	const struct counters_config cfg = { .events = ws->cfg.event,
					     .periods = ws->cfg.period,
					     .nr_events = 1,
					     .target = ws->cfg.target,
					     .opened = opened,
					     .each_thread = true,
					     .ctx = bpf_of(ws) };
	struct windowbpf *wb = bpf_of(ws);
	int event, err = wake(wb);

	if (err)
		return err;
	set_quiet_time(wb);
	if (ws->cfg.late)
		return windowlate_start(ws->cfg.late,
					bpf_program__fd(wb->skel->progs.cpi_window),
					&wb->counters);
	return counters_open(&cfg, cpus, &wb->counters, &event);
}

static void bpf_stop(struct windowsource *ws)
{
	counters_stop(bpf_of(ws)->counters);
}

static int bpf_restart(struct windowsource *ws)
{
	set_quiet_time(bpf_of(ws));
	return counters_restart(bpf_of(ws)->counters);
}

static int bpf_set_cpus(struct windowsource *ws, const struct cpus *cpus)
{
	return counters_set_cpus(bpf_of(ws)->counters, cpus);
}

static void bpf_randomise(struct windowsource *ws, const uint64_t *received)
{
	counters_randomise(bpf_of(ws)->counters, received);
}

static int bpf_synchronize(const struct windowsource *ws)
{
	return bpf_grace_wait(bpf_of(ws)->grace);
}

static void bpf_counts(const struct windowsource *ws, struct cpi_window_counts *sum)
{
	const struct windowbpf *wb = bpf_of(ws);

	memset(sum, 0, sizeof(*sum));
	for (uint32_t i = 0; i < wb->nr_cpus; i++)
		cpi_window_add_counts(sum, &wb->cpu[i].counts);
}

static int bpf_consume(struct windowsource *ws, windowsource_take_fn *take, void *ctx)
{
	struct windowbpf *wb = bpf_of(ws);
	int nr;

	wb->take = take;
	wb->ctx = ctx;
	nr = ring_buffer__consume(wb->ring);
	return nr < 0 ? nr : 0;
}

static int bpf_pairs(struct windowsource *ws,
		     void (*take)(void *ctx, const struct cpi_pair_record *r),
		     void *ctx, struct cpi_pair_counts *sum)
{
	struct windowbpf *wb = bpf_of(ws);
	int nr;

	wb->take_pair = take;
	wb->ctx = ctx;
	nr = ring_buffer__consume(wb->pair_ring);
	memset(sum, 0, sizeof(*sum));
	for (uint32_t i = 0; i < wb->nr_cpus; i++) {
		const struct cpi_pair_counts *c = &wb->pair[i].counts;

		sum->received += c->received;
		sum->recorded += c->recorded;
		sum->stolen_ns += c->stolen_ns;
		for (int d = 0; d < CPI_PAIR_NR_DROPS; d++)
			sum->dropped[d] += c->dropped[d];
	}
	return nr < 0 ? nr : 0;
}

static void bpf_event(const struct windowsource *ws, struct collector_counts *out)
{
	counters_read(bpf_of(ws)->counters, 0, out);
}

const struct windowsource_ops windowsource_bpf = {
	.name = "bpf",
	.open = bpf_open,
	.close = bpf_close,
	.start = bpf_start,
	.stop = bpf_stop,
	.restart = bpf_restart,
	.set_cpus = bpf_set_cpus,
	.randomise = bpf_randomise,
	.synchronize = bpf_synchronize,
	.consume = bpf_consume,
	.pairs = bpf_pairs,
	.counts = bpf_counts,
	.event = bpf_event,
};
