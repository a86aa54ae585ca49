/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector_kmod.c - samples that the kernel module has aggregated
 *
 * abi/kmod.h documents the interface. Entries are attributed in place, in pages of the
 * module that are mapped read-only. The module itself randomises periods, handles CPUs
 * that come online or go offline, and reads opcodes.
 *
 * I1  Per event: received by the module = handed out + lost as overflow or nested +
 *     still in the kernel.
 * I2  counts() keeps the invariants of monotonic.h.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/kmod.h"
#include "base/err.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/collect/collector.h"
#include "daemon/collect/kmodevent.h"
#include "daemon/collect/monotonic.h"

#define MAX_FULL_ROUNDS 8 /* flushes of one CPU before the next CPU */

/* A limit in case of a broken module: a sweep of a CPU takes about ten calls. */
#define MAX_SWEEP_ROUNDS (8 * CPI_KMOD_MAX_BUCKETS)

struct cpu {
	const struct cpi_entry *pair; /* NULL: not mapped yet */
	uint64_t from_ns; /* all samples in its table are at least this new */
};

struct collector {
	struct collector_config cfg;
	struct cpi_kmod_config config;
	int fd;
	struct cpu *cpu;
	int nr_cpus;
	struct monotonic counts; /* I2 */
	uint64_t handed_out[CPI_MAX_EVENTS];
	uint32_t nr_error[CPI_MAX_EVENTS];
};

/* ---- opening ---- */

static int grow_cpus(struct collector *c, int nr, uint64_t from_ns)
{
	struct cpu *grown;

	if (nr <= c->nr_cpus)
		return 0;
	grown = realloc(c->cpu, nr * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->cpu = grown;
	for (; c->nr_cpus < nr; c->nr_cpus++)
		c->cpu[c->nr_cpus] = (struct cpu){ .from_ns = from_ns };
	return 0;
}

static int configure(struct collector *c, int *event)
{
	c->config = (struct cpi_kmod_config){ .version = CPI_KMOD_VERSION,
					      .flags = CPI_KMOD_OUTCOME,
					      .nr_events = c->cfg.nr_events,
					      .failed_event = -1 };
	for (int i = 0; i < c->cfg.nr_events; i++)
		kmodevent_set(&c->cfg.events[i], c->cfg.periods[i],
			      &c->config.events[i]);
	if (!ioctl(c->fd, CPI_KMOD_IOC_CONFIGURE, &c->config))
		return 0;
	if (errno == ENOTTY || errno == EPROTO) {
		log_warn("kmod: %s belongs to another version of CPI: load the module "
			 "that came with this program",
			 CPI_KMOD_DEVICE);
		return -EPROTO;
	}
	*event = c->config.failed_event;
	return -errno;
}

/*
 * Opens the module's device. Logs why it cannot be used, but not that it is missing. It
 * is opened for writing because of the tables of windows.
 */
static int open_device(void)
{
	int fd = open(CPI_KMOD_DEVICE, O_RDWR | O_CLOEXEC), err;

	if (fd < 0 && errno == EACCES)
		fd = open(CPI_KMOD_DEVICE, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	err = -errno;
	if (err == -EBUSY)
		log_info("kmod: %s: another process is using it", CPI_KMOD_DEVICE);
	else if (err != -ENOENT)
		log_info("kmod: %s: %s", CPI_KMOD_DEVICE, err_str(err));
	return err;
}

static void kmod_close(struct collector *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->nr_cpus; i++) {
		if (c->cpu[i].pair)
			munmap((void *)c->cpu[i].pair, c->config.pair_bytes);
	}
	free(c->cpu);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

static int start(struct collector *c, const struct cpus *cpus, int *event)
{
	struct epoll_event ev = { .events = EPOLLIN };
	int err;

	c->fd = ev.data.fd = open_device();
	if (c->fd < 0)
		return c->fd;
	err = configure(c, event);
	if (!err)
		err = grow_cpus(c, cpus->highest + 1, time_mono_ns());
	if (!err && (epoll_ctl(c->cfg.epoll_fd, EPOLL_CTL_ADD, c->fd, &ev) ||
		     ioctl(c->fd, CPI_KMOD_IOC_START)))
		err = -errno;
	return err;
}

static int kmod_open(const struct collector_config *cfg, const struct cpus *cpus,
		     struct collector **out, int *event)
{
	struct collector *c;
	int err;

	*event = -1;
	/*
	 * The module samples the whole system only, and keeps no single samples for
	 * raw_fd.
	 */
	if (cfg->target.pid >= 0 || cfg->raw_fd >= 0)
		return -EOPNOTSUPP;
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->cfg = *cfg;
	c->fd = -1;
	err = start(c, cpus, event);
	if (err) {
		kmod_close(c);
		return err;
	}
	*out = c;
	return 0;
}

/* ---- taking samples ---- */

static int map_cpu(struct collector *c, int number)
{
	struct cpu *cpu = &c->cpu[number];
	void *pair;

	if (cpu->pair)
		return 0;
	pair = mmap(NULL, c->config.pair_bytes, PROT_READ, MAP_SHARED, c->fd,
		    (off_t)number * c->config.pair_bytes);
	if (pair == MAP_FAILED)
		return -errno;
	cpu->pair = pair;
	return 0;
}

static void hand_out(struct collector *c, const struct cpu *cpu,
		     const struct cpi_kmod_flush *f)
{
	struct batch batch = {
		.from_ns = cpu->from_ns,
		.to_ns = time_mono_ns(),
		.entries = cpu->pair + (f->buffer & 1) * c->config.nr_entries,
		.nr = f->nr,
		.by_exec_id = true,
	};

	for (size_t i = 0; i < batch.nr; i++) {
		const struct cpi_entry *e = &batch.entries[i];

		c->handed_out[cpi_entry_event(e)] += cpi_entry_count(e);
	}
	monotonic_note_taken(&c->counts);
	c->cfg.owner.batch(c->cfg.owner.ctx, &batch);
}

/* Hands out the next buffer of a CPU. Returns whether there may be another. */
static bool flush_next(struct collector *c, int number, enum cpi_kmod_depth depth)
{
	struct cpi_kmod_flush f = { .cpu = number, .depth = depth };

	/* Map it before the flush, so that no buffer is flushed that cannot be read. */
	if (map_cpu(c, number) || ioctl(c->fd, CPI_KMOD_IOC_FLUSH, &f) || !f.nr ||
	    f.nr > c->config.nr_entries)
		return false;
	hand_out(c, &c->cpu[number], &f);
	return true;
}

static void kmod_snapshot(struct collector *c)
{
	monotonic_begin_cycle(&c->counts);
}

static void kmod_drain(struct collector *c)
{
	for (int i = 0; i < c->nr_cpus; i++) {
		for (int n = 0; n < MAX_FULL_ROUNDS; n++) {
			if (!flush_next(c, i, CPI_KMOD_FULL))
				break;
		}
	}
}

static void kmod_sweep(struct collector *c)
{
	for (int i = 0; i < c->nr_cpus; i++) {
		uint64_t begun_ns = time_mono_ns();

		for (unsigned int n = 0; n < MAX_SWEEP_ROUNDS; n++) {
			if (!flush_next(c, i, CPI_KMOD_TABLE))
				break;
		}
		c->cpu[i].from_ns = begun_ns;
	}
	monotonic_end_sweep(&c->counts);
}

/* Does nothing: the module draws a period at every interrupt. */
static void kmod_randomise(struct collector *c)
{
	(void)c;
}

static uint64_t kmod_random_ns(const struct collector *c)
{
	(void)c;
	return 3600 * NSEC_PER_SEC;
}

static int kmod_exec_id(struct collector *c, uint32_t tgid, uint32_t *id,
			uint64_t *when_ns)
{
	struct cpi_kmod_exec_id e = { .tgid = tgid };

	if (ioctl(c->fd, CPI_KMOD_IOC_EXEC_ID, &e))
		return -errno;
	*id = e.exec_id;
	*when_ns = e.when_ns;
	return 0;
}

/* ---- counts, CPUs, end ---- */

static void note_errors(struct collector *c, int event, uint32_t nr)
{
	if (nr > c->nr_error[event])
		log_warn("kmod: %s: no hardware counter is free on %u CPUs, which are "
			 "not sampled: does something else use them?",
			 c->cfg.events[event].name, nr);
	c->nr_error[event] = nr;
}

static void read_counts(struct collector *c, int event)
{
	struct cpi_kmod_counts k = { .event = event };
	struct collector_counts now;

	if (ioctl(c->fd, CPI_KMOD_IOC_COUNTS, &k))
		return; /* impossible; keep the counts that were read last */
	note_errors(c, event, k.nr_error);
	now = (struct collector_counts){
		.received = c->handed_out[event] + k.overflow + k.nested,
		.table_lost = k.overflow + k.nested,
		.event_count = k.event_count,
		.enabled_ns = k.enabled_ns,
		.running_ns = k.running_ns,
	};
	if (k.received > now.received)
		now.pending = k.received - now.received;
	monotonic_put(&c->counts, event, &now, c->cfg.periods[event]);
}

static void kmod_counts(struct collector *c, int event, struct collector_counts *out)
{
	if (!monotonic_knows(&c->counts, event))
		read_counts(c, event);
	*out = c->counts.counts[event];
}

static uint64_t kmod_progress(const struct collector *c, int cpu)
{
	struct cpi_kmod_stats stats = { .cpu = cpu };

	return ioctl(c->fd, CPI_KMOD_IOC_STATS, &stats) ? 0 : stats.received;
}

/* The module has sampled a new CPU since it came online, before the owner noticed. */
static int kmod_set_cpus(struct collector *c, const struct cpus *cpus)
{
	return grow_cpus(c, cpus->highest + 1, 0);
}

static void kmod_stop(struct collector *c)
{
	ioctl(c->fd, CPI_KMOD_IOC_STOP);
}

static int kmod_restart(struct collector *c)
{
	for (int i = 0; i < c->cfg.nr_events; i++) {
		struct cpi_kmod_period p = { .event = i,
					     .period = c->cfg.periods[i],
					     .spread = c->cfg.periods[i] /
						       KMODEVENT_SPREAD };

		if (ioctl(c->fd, CPI_KMOD_IOC_PERIOD, &p))
			return -errno;
	}
	return ioctl(c->fd, CPI_KMOD_IOC_START) ? -errno : 0;
}

static int kmod_device(const struct collector *c)
{
	return c->fd;
}

const struct collector_ops collector_kmod = {
	.name = "kmod",
	.open = kmod_open,
	.source.poll = collector_poll_always,
	.is_quiet = collector_never_quiet,
	.source.snapshot = kmod_snapshot,
	.source.preview = collector_no_preview,
	.source.drain = kmod_drain,
	.source.sweep = kmod_sweep,
	.source.randomise = kmod_randomise,
	.random_ns = kmod_random_ns,
	.exec_id = kmod_exec_id,
	.source.counts = kmod_counts,
	.handler = collector_no_handler,
	.progress = kmod_progress,
	.device = kmod_device,
	.pairs = collector_no_pairs,
	.source.set_cpus = kmod_set_cpus,
	.source.stop = kmod_stop,
	.restart = kmod_restart,
	.source.close = kmod_close,
};
