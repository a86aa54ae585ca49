/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector_bpf.c - samples that BPF programs have aggregated in the kernel
 *
 * The tables are in the kernel (bpf_table.h); the events are opened from user space
 * (counters.h). A set of tables covers all CPUs, so one flip makes all samples
 * readable. The sets are flipped when a CPU's overflow array is nearly full
 * (bpf_watch.h), and for each sweep. While the machine is quiet, periods are drawn only
 * after a notice, at the latest after QUIET_NS.
 *
 * Entries that were taken from a CPU are sorted by process and address before they are
 * handed out, and entries with the same key are added up. So attribution looks up each
 * process once (SOSP'97 section 5.4).
 *
 * I1  Per event: received by the programs = handed out + table_lost + what is
 *     still in the kernel.
 * I2  counts() keeps the invariants of monotonic.h.
 * I3  Exec ids are forgotten at each snapshot and before each batch is handed out,
 *     and read again when they are asked for. So an owner that has lost mapping
 *     events gets no ids that are older than the last snapshot or batch.
 */
#include "config.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/collect/bpf_watch.h"
#include "daemon/collect/collector.h"
#include "daemon/collect/counters.h"
#include "daemon/collect/entries.h"
#include "daemon/collect/monotonic.h"
#include "daemon/collect/tick.h"
#include "daemon/os/wrapping.h"

/* A smaller difference may come from reading two clocks one after the other. */
#define THROTTLED_MIN_NS NSEC_PER_MSEC

#define QUIET_NS (60 * NSEC_PER_SEC) /* the longest time between two looks */

/* The time for which ticks have been counted, summed over CPUs. */
struct listening {
	uint64_t before_ns;
	uint64_t since_ns; /* 0: they are not counted now */
	int nr_cpus;       /* counted since since_ns */
};

/* How often a higher throttled time was seen, and the time that was seen last. */
struct throttled {
	uint64_t nr, seen_ns;
};

struct collector {
	struct throttled throttled[CPI_MAX_EVENTS];
	struct collector_config cfg;
	struct bpf_table *table;
	struct bpf_watch *watch;
	struct counters *counters;
	bool ticks; /* the last event is ticks, which counters does not open */
	struct listening listening;
	struct wrapping elsewhere; /* ticks that were not counted */
	int nr_cpus;               /* possible CPUs */
	struct cpi_entry *entries; /* for the entries of one CPU, twice */
	uint64_t from_ns;   /* all samples in the active set are at least this new */
	uint64_t failed_ns; /* the first failed flip since then; 0: none */
	struct bpf_table_counts taken;
	struct monotonic counts;          /* I2 */
	struct cpi_bpf_exec_id *exec_ids; /* sorted by tgid; NULL: not read yet (I3) */
	size_t nr_exec_ids;
};

/* ---- opening ---- */

static void forget_exec_ids(struct collector *c)
{
	free(c->exec_ids);
	c->exec_ids = NULL;
}

static void bpf_close(struct collector *c)
{
	if (!c)
		return;
	counters_close(c->counters);
	bpf_watch_close(c->watch);
	bpf_table_close(c->table);
	forget_exec_ids(c);
	free(c->entries);
	free(c);
}

static int opened(void *ctx, int cpu, int event, int fd)
{
	const struct collector *c = ctx;

	return cpu < c->nr_cpus ? bpf_table_attach(c->table, fd, cpu, event) : -ENXIO;
}

/* in_tasks: a tick in the kernel may interrupt the program of another event. */
static int find_tick(const struct collector *c, bool in_tasks, struct tick *out)
{
	const int err = tick_find(c->cfg.owner.kernel_address, c->cfg.owner.ctx, out);

	if (err)
		return err;
	tick_warn_stopped();
	out->kernel = !in_tasks && !c->cfg.events[c->cfg.nr_events - 1].exclude_kernel;
	if (in_tasks)
		log_info(
			"bpf: ticks sample user mode only, because an event is sampled "
			"that happens in the kernel outside of interrupts");
	return 0;
}

static int open_table(struct collector *c)
{
	struct bpf_table_config cfg;
	int err;

	c->nr_cpus = libbpf_num_possible_cpus();
	if (c->nr_cpus < 0)
		return c->nr_cpus;
	cfg = bpf_table_default(c->cfg.nr_events, c->nr_cpus);
	cfg.pairs = c->cfg.pairs;
	cfg.by_thread = c->cfg.by_thread;
	for (int i = 0; i < c->cfg.nr_events; i++)
		cfg.in_tasks |= !event_interrupts(&c->cfg.events[i]);
	if (c->ticks) {
		err = find_tick(c, cfg.in_tasks, &cfg.tick);
		if (err)
			return err;
	}
	err = bpf_table_open(&cfg, &c->table);
	if (!err)
		err = bpf_watch_open(c->table, c->nr_cpus, c->cfg.epoll_fd, &c->watch);
	if (err)
		return err;
	c->entries = malloc(2 * bpf_table_max_entries(c->table) * sizeof(*c->entries));
	return c->entries ? 0 : -ENOMEM;
}

/*
 * Whether the events can be sampled together. An event that is not a software event may
 * interrupt the program of a tick (abi/bpf.h, I5).
 */
static int check_events(const struct collector *c)
{
	for (int i = 0; i < c->cfg.nr_events - 1 && c->ticks; i++) {
		if (c->cfg.events[i].type == PERF_TYPE_SOFTWARE)
			continue;
		log_info(
			"bpf: ticks and %s cannot be sampled together, because one may "
			"interrupt the other: sample cpu-clock with ticks",
			c->cfg.events[i].name);
		return -EOPNOTSUPP;
	}
	return 0;
}

static void stop_listening(struct collector *c)
{
	struct listening *l = &c->listening;

	if (l->since_ns)
		l->before_ns += (time_mono_ns() - l->since_ns) * l->nr_cpus;
	l->since_ns = 0;
}

/* From now on the ticks of nr_cpus CPUs are counted. */
static void listen_to(struct collector *c, int nr_cpus)
{
	stop_listening(c);
	c->listening.since_ns = time_mono_ns();
	c->listening.nr_cpus = nr_cpus;
}

static int start_ticks(struct collector *c, int nr_cpus)
{
	int err;

	if (!c->ticks)
		return 0;
	err = bpf_table_start_ticks(c->table);
	if (!err)
		listen_to(c, nr_cpus);
	return err;
}

static int bpf_open(const struct collector_config *cfg, const struct cpus *cpus,
		    struct collector **out, int *event)
{
	struct collector *c;
	struct counters_config counters = {
		.events = cfg->events,
		.periods = cfg->periods,
		.nr_events = cfg->nr_events,
		.target = { .pid = -1 },
		.opened = opened,
	};
	int err;

	*event = -1;
	/* BPF samples the whole system only, and keeps no single samples for raw_fd. */
	if (cfg->target.pid >= 0 || cfg->raw_fd >= 0)
		return -EOPNOTSUPP;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->cfg = *cfg;
	c->from_ns = time_mono_ns();
	c->ticks = event_is_ticks(&cfg->events[cfg->nr_events - 1]);
	counters.ctx = c;
	counters.nr_events -= c->ticks;
	err = check_events(c);
	if (!err)
		err = open_table(c);
	if (!err)
		err = counters_open(&counters, cpus, &c->counters, event);
	if (!err)
		err = start_ticks(c, cpus->nr);
	if (err) {
		bpf_close(c);
		return err;
	}
	*out = c;
	return 0;
}

/* ---- taking samples ---- */

static void hand_out(struct collector *c, uint32_t cpu, uint64_t from_ns,
		     uint64_t to_ns)
{
	size_t nr = bpf_table_take(c->table, cpu, c->entries, &c->taken);
	struct batch batch = {
		.from_ns = from_ns,
		.to_ns = to_ns,
		.entries = c->entries,
		.nr = entries_sort(c->entries,
				   c->entries + bpf_table_max_entries(c->table), nr),
		.by_exec_id = true,
	};

	if (!nr)
		return;
	forget_exec_ids(c);
	c->cfg.owner.batch(c->cfg.owner.ctx, &batch);
}

/* Flips the sets, and hands out everything that was counted until now. */
static void take_all(struct collector *c)
{
	uint64_t from_ns = c->from_ns, flipped_ns = time_mono_ns(), to_ns;
	int err = bpf_table_flip(c->table);

	if (err) {
		log_err("bpf: samples cannot be taken from the kernel: %s",
			err_str(err));
		if (!c->failed_ns)
			c->failed_ns = flipped_ns;
		return;
	}
	to_ns = time_mono_ns();
	bpf_watch_emptied(c->watch);
	c->from_ns = c->failed_ns ? c->failed_ns : flipped_ns;
	c->failed_ns = 0;
	monotonic_note_taken(&c->counts);
	for (int i = 0; i < c->nr_cpus; i++)
		hand_out(c, i, from_ns, to_ns);
}

static bool bpf_poll(struct collector *c)
{
	monotonic_begin_cycle(&c->counts);
	bpf_watch_take(c->watch);
	return bpf_watch_is_full(c->watch);
}

static bool bpf_is_quiet(const struct collector *c)
{
	return bpf_watch_is_quiet(c->watch);
}

static void bpf_snapshot(struct collector *c)
{
	forget_exec_ids(c);
}

static void bpf_drain(struct collector *c)
{
	if (bpf_watch_is_full(c->watch))
		take_all(c);
}

static void bpf_sweep(struct collector *c)
{
	take_all(c);
	monotonic_end_sweep(&c->counts);
}

/* ---- exec ids ---- */

static int bpf_exec_id(struct collector *c, uint32_t tgid, uint32_t *id,
		       uint64_t *when_ns)
{
	const struct cpi_bpf_exec_id *found;
	int err;

	if (!c->exec_ids) {
		err = bpf_table_exec_ids(c->table, &c->exec_ids, &c->nr_exec_ids);
		if (err)
			return err;
	}
	found = bpf_table_find_exec_id(c->exec_ids, c->nr_exec_ids, tgid);
	if (!found)
		return -ESRCH;
	*id = found->exec_id;
	*when_ns = found->when_ns;
	return 0;
}

/* ---- counts, CPUs, end ---- */

/* The samples that the programs have counted in the active set. */
static uint64_t count_pending(const struct collector *c, int event)
{
	uint64_t n = 0;

	for (int i = 0; i < c->nr_cpus; i++)
		n += bpf_table_received(c->table, i, event);
	return n;
}

static void bpf_randomise(struct collector *c)
{
	uint64_t received[CPI_MAX_EVENTS];

	bpf_watch_look(c->watch,
		       event_busy_hz(c->cfg.events, c->cfg.periods, c->cfg.nr_events));
	counters_draw_rarely(c->counters, bpf_watch_is_quiet(c->watch));
	for (int i = 0; i < c->cfg.nr_events; i++)
		received[i] = c->taken.received[i] + count_pending(c, i);
	counters_randomise(c->counters, received);
}

static uint64_t bpf_random_ns(const struct collector *c)
{
	return bpf_watch_is_quiet(c->watch) ? QUIET_NS
					    : counters_random_ns(c->counters);
}

static bool is_ticks(const struct collector *c, int event)
{
	return c->ticks && event == c->cfg.nr_events - 1;
}

/*
 * No counter counts ticks independently, so event_count is computed from the ticks that
 * came.
 */
static void read_tick_counts(struct collector *c, int event,
			     struct collector_counts *out)
{
	const struct listening *l = &c->listening;

	out->elsewhere =
		wrapping_follow(&c->elsewhere, bpf_table_ticks_elsewhere(c->table));
	out->event_count =
		(out->received + out->pending + out->elsewhere) * c->cfg.periods[event];
	out->running_ns = l->before_ns;
	if (l->since_ns)
		out->running_ns += (time_mono_ns() - l->since_ns) * l->nr_cpus;
	out->enabled_ns = out->running_ns;
}

/*
 * BPF gets no throttle records, so each reading that finds a longer throttled time
 * counts as one.
 */
static uint64_t note_throttled(struct throttled *t, uint64_t ns)
{
	if (ns >= t->seen_ns + THROTTLED_MIN_NS) {
		t->seen_ns = ns;
		t->nr++;
	}
	return t->nr;
}

static void read_counts(struct collector *c, int event)
{
	struct collector_counts now = { .received = c->taken.received[event],
					.table_lost = c->taken.lost[event],
					.pending = count_pending(c, event) };

	if (is_ticks(c, event))
		read_tick_counts(c, event, &now);
	else
		counters_read(c->counters, event, &now);
	now.ring_lost = 0; /* there is no ring */
	now.throttled = note_throttled(&c->throttled[event], now.throttled_ns);
	monotonic_put(&c->counts, event, &now, c->cfg.periods[event]);
}

static void bpf_counts(struct collector *c, int event, struct collector_counts *out)
{
	if (!monotonic_knows(&c->counts, event))
		read_counts(c, event);
	*out = c->counts.counts[event];
}

static uint64_t bpf_progress(const struct collector *c, int cpu)
{
	uint64_t n = 0;

	for (int i = 0; i < c->cfg.nr_events - c->ticks && cpu < c->nr_cpus; i++)
		n += bpf_table_received(c->table, cpu, i);
	return n;
}

static int bpf_handler(const struct collector *c, int event, uint64_t *nr, uint64_t *ns)
{
	return bpf_table_runs(c->table, event, nr, ns);
}

static int bpf_pairs(const struct collector *c)
{
	return c->cfg.pairs ? bpf_table_pairs(c->table) : -1;
}

static int bpf_set_cpus(struct collector *c, const struct cpus *cpus)
{
	if (c->ticks)
		listen_to(c, cpus->nr);
	return counters_set_cpus(c->counters, cpus);
}

static void bpf_stop(struct collector *c)
{
	counters_stop(c->counters);
	bpf_table_stop_ticks(c->table);
	stop_listening(c);
}

static int bpf_restart(struct collector *c)
{
	int err = counters_restart(c->counters), failed;

	failed = start_ticks(c, c->listening.nr_cpus);
	return failed ? failed : err;
}

const struct collector_ops collector_bpf = {
	.name = "bpf",
	.takes_threads = true,
	.takes_ticks = true,
	.open = bpf_open,
	.source.poll = bpf_poll,
	.is_quiet = bpf_is_quiet,
	.source.snapshot = bpf_snapshot,
	.source.preview = collector_no_preview,
	.source.drain = bpf_drain,
	.source.sweep = bpf_sweep,
	.source.randomise = bpf_randomise,
	.random_ns = bpf_random_ns,
	.exec_id = bpf_exec_id,
	.source.counts = bpf_counts,
	.handler = bpf_handler,
	.progress = bpf_progress,
	.device = collector_no_device,
	.pairs = bpf_pairs,
	.source.set_cpus = bpf_set_cpus,
	.source.stop = bpf_stop,
	.restart = bpf_restart,
	.source.close = bpf_close,
};
