/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector_perf.c - samples from perf rings, aggregated here
 *
 * What always works: one event per CPU and kind, one ring per CPU, the table
 * of kmod/table.h in this process.
 *
 * Periods are randomised from user space, by PERF_EVENT_IOC_PERIOD, some ten
 * times a second (SOSP'97 section 4.1.1 does it per interrupt; per interrupt it
 * would cost a system call each). Setting a period restarts it, so half a
 * period is lost on average each time: the rate that is programmed is higher
 * by half the rate of restarts, and count / mean period stays the number of
 * samples to expect. The *rate* is drawn uniformly, and each draw is followed by its
 * mirror image, so that its mean is exact, not only its expectation.
 *
 * I1  A sample that was read is in the table, in a batch handed out, or in
 *     table_lost.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/times.h"
#include "daemon/arch.h"
#include "daemon/collector.h"
#include "daemon/perfev.h"
#include "daemon/raw.h"
#include "daemon/ring.h"
#include "kmod/table.h"

#define RING_SIZE       (512u << 10)
#define RING_SIZE_SMALL (256u << 10) /* with sideband's, below perf_event_mlock_kb */

#define RANDOMISE_INTERVAL_NS (100 * NSEC_PER_MSEC)
#define RANDOMISE_PER_TICK    16     /* bounds the ioctls on machines with many CPUs */
#define RANDOMISE_SPREAD      0.0625 /* of the rate, to either side */
#define RANDOMISE_MIN_SAMPLES 100    /* of an event that is no clock, per restart */

#define SAMPLE_SLACK_NS                                              \
	NSEC_PER_MSEC /* between a sample's time and its publication \
		       */
#define RAW_BUFFER 65536

struct cpu_event {
	int fd; /* -1: not open */
	uint64_t id;
	double mirror; /* the next draw, when has_mirror */
	bool has_mirror;
};

struct cpu {
	bool open;
	struct ring ring;
	struct cpu_event *event; /* by event */
};

struct event_state {
	uint64_t read; /* samples taken from rings */
	uint64_t handed_out;
	uint64_t lost; /* said by LOST records */
	uint64_t throttled;
	uint64_t since_draw;          /* samples since periods were last chosen */
	struct collector_counts gone; /* of CPUs that went offline */
};

struct collector {
	struct collector_config cfg;
	struct cpu *cpu; /* by number */
	int nr_cpus, nr_open;
	struct event_state state[CPI_MAX_EVENTS];
	uint64_t read_format;
	uint64_t random;
	int next_draw; /* where randomise goes on */
	struct cpi_table table;
	uint64_t from_ns;        /* nothing in the table is older, … */
	uint64_t to_ns;          /* … or younger */
	uint64_t next_from_ns;   /* nothing that is drained later is older */
	uint64_t snapshot_ns[2]; /* before and after the last snapshot */
	struct buf raw;
};

/* ---- periods ---- */

static double random_unit(struct collector *c)
{
	c->random = hash_u64(c->random + 0x9e3779b97f4a7c15ULL);
	return (double)(c->random >> 11) / (double)(1ULL << 53);
}

/* How often a CPU's event is restarted, per second. */
static double restarts_per_second(const struct collector *c)
{
	double per_tick = (double)RANDOMISE_PER_TICK /
			  (c->nr_open > 0 ? c->nr_open * c->cfg.nr_events : 1);

	return (per_tick < 1 ? per_tick : 1) * NSEC_PER_SEC / RANDOMISE_INTERVAL_NS;
}

static bool is_clock(const struct event *e)
{
	return e->unit != EVENT_EVENTS;
}

/* The next period of one event on one CPU. */
static uint64_t draw_period(struct collector *c, struct cpu_event *ce, int event)
{
	const struct event *e = &c->cfg.events[event];
	double period = (double)c->cfg.periods[event], deviation, rate;

	if (ce->has_mirror)
		deviation = ce->mirror;
	else
		deviation = (2 * random_unit(c) - 1) * RANDOMISE_SPREAD;
	ce->mirror = -deviation;
	ce->has_mirror = !ce->has_mirror;
	rate = (double)e->per_second / period * (1 + deviation);
	if (is_clock(e))
		rate += restarts_per_second(c) / 2;
	period = (double)e->per_second / rate;
	return period < 1 ? 1 : (uint64_t)(period + 0.5);
}

static uint64_t perf_randomise(struct collector *c)
{
	int all = c->nr_cpus * c->cfg.nr_events, done = 0;

	for (int i = 0; i < all && done < RANDOMISE_PER_TICK; i++) {
		int at = c->next_draw++ % all, event = at / c->nr_cpus;
		struct event_state *state = &c->state[event];
		struct cpu *cpu = &c->cpu[at % c->nr_cpus];
		uint64_t period;

		if (!cpu->open)
			continue;
		if (!is_clock(&c->cfg.events[event])) {
			if (state->since_draw <
			    (uint64_t)c->nr_open * RANDOMISE_MIN_SAMPLES)
				continue;
			if (at % c->nr_cpus == c->nr_cpus - 1)
				state->since_draw = 0;
		}
		period = draw_period(c, &cpu->event[event], event);
		ioctl(cpu->event[event].fd, PERF_EVENT_IOC_PERIOD, &period);
		done++;
	}
	c->next_draw %= all;
	return RANDOMISE_INTERVAL_NS;
}

/* ---- opening ---- */

static void set_attr(const struct collector *c, int event, struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_REGS_INTR,
		.sample_regs_intr = arch_native.regs_mask,
		.read_format = c->read_format,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = RING_SIZE_SMALL / 2,
		.inherit = c->cfg.target >= 0,
		.disabled = 1,
		.enable_on_exec = c->cfg.enable_on_exec,
	};
	if (c->cfg.nr_events > 1)
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	event_attr(&c->cfg.events[event], attr);
}

static int open_event(struct collector *c, int cpu, int event)
{
	struct cpu_event *ce = &c->cpu[cpu].event[event];
	struct perf_event_attr attr;
	int fd;

	set_attr(c, event, &attr);
	attr.sample_period = draw_period(c, ce, event);
	fd = perfev_open(&attr, c->cfg.target, cpu);
	if (fd == -EINVAL && c->read_format & PERF_FORMAT_LOST && !c->nr_open &&
	    !event) {
		c->read_format &= ~PERF_FORMAT_LOST; /* before 6.0 */
		attr.read_format = c->read_format;
		fd = perfev_open(&attr, c->cfg.target, cpu);
	}
	if (fd < 0)
		return fd;
	ce->fd = fd;
	return ioctl(fd, PERF_EVENT_IOC_ID, &ce->id) ? -errno : 0;
}

static int open_ring(struct collector *c, struct cpu *cpu)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET,
				  .data.fd = cpu->event[0].fd };
	int err = ring_open(&cpu->ring, cpu->event[0].fd, RING_SIZE);

	if (err)
		err = ring_open(&cpu->ring, cpu->event[0].fd, RING_SIZE_SMALL);
	if (!err && epoll_ctl(c->cfg.epoll_fd, EPOLL_CTL_ADD, cpu->event[0].fd, &ev))
		err = -errno;
	return err;
}

static void cpu_close(struct collector *c, struct cpu *cpu)
{
	ring_close(&cpu->ring);
	for (int i = 0; i < c->cfg.nr_events; i++) {
		if (cpu->event[i].fd >= 0)
			close(cpu->event[i].fd);
		cpu->event[i].fd = -1;
	}
	cpu->open = false;
}

/* Opens all events of one CPU and starts them together. */
static int cpu_open(struct collector *c, int number, int *event)
{
	struct cpu *cpu = &c->cpu[number];
	int err = 0;

	for (int i = 0; i < c->cfg.nr_events && !err; i++) {
		*event = i;
		err = open_event(c, number, i);
		if (!err && !i)
			err = open_ring(c, cpu);
		else if (!err && ioctl(cpu->event[i].fd, PERF_EVENT_IOC_SET_OUTPUT,
				       cpu->event[0].fd))
			err = -errno;
	}
	for (int i = 0; i < c->cfg.nr_events && !err && !c->cfg.enable_on_exec; i++) {
		if (ioctl(cpu->event[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			err = -errno;
	}
	if (err) {
		cpu_close(c, cpu);
		return err;
	}
	cpu->open = true;
	c->nr_open++;
	return 0;
}

static int grow_cpus(struct collector *c, int nr)
{
	struct cpu *grown = realloc(c->cpu, nr * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	c->cpu = grown;
	for (; c->nr_cpus < nr; c->nr_cpus++) {
		struct cpu *cpu = &c->cpu[c->nr_cpus];

		*cpu = (struct cpu){ .event = calloc(c->cfg.nr_events,
						     sizeof(*cpu->event)) };
		if (!cpu->event)
			return -ENOMEM;
		for (int i = 0; i < c->cfg.nr_events; i++)
			cpu->event[i].fd = -1;
	}
	return 0;
}

static int table_init(struct cpi_table *t)
{
	size_t size = CPI_TABLE_DEFAULT_BUCKETS * sizeof(*t->buckets);

	t->buckets = aligned_alloc(64, size);
	if (!t->buckets)
		return -ENOMEM;
	memset(t->buckets, 0, size);
	t->mask = CPI_TABLE_DEFAULT_BUCKETS - 1;
	for (int i = 0; i < 2; i++) {
		t->overflow[i].cap = CPI_TABLE_DEFAULT_OVERFLOW;
		t->overflow[i].entries =
			calloc(t->overflow[i].cap, sizeof(struct cpi_entry));
		if (!t->overflow[i].entries)
			return -ENOMEM;
	}
	return 0;
}

static void perf_close(struct collector *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->nr_cpus; i++) {
		cpu_close(c, &c->cpu[i]);
		free(c->cpu[i].event);
	}
	free(c->cpu);
	free(c->table.buckets);
	free(c->table.overflow[0].entries);
	free(c->table.overflow[1].entries);
	buf_fini(&c->raw);
	free(c);
}

static int perf_open(const struct collector_config *cfg, const struct cpus *cpus,
		     struct collector **out, int *event)
{
	struct collector *c = aligned_alloc(64, (sizeof(*c) + 63) / 64 * 64);
	int err;

	*event = -1;
	if (!c)
		return -ENOMEM;
	memset(c, 0, sizeof(*c));
	c->cfg = *cfg;
	c->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			 PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_LOST;
	c->random = hash_u64(time_real_ns());
	c->from_ns = c->to_ns = c->next_from_ns = time_mono_ns();
	err = table_init(&c->table);
	if (!err)
		err = grow_cpus(c, cpus->highest + 1);
	for (int i = 0; i <= cpus->highest && !err; i++) {
		if (cpus->online[i])
			err = cpu_open(c, i, event);
	}
	if (err) {
		perf_close(c);
		return err;
	}
	*out = c;
	return 0;
}

/* ---- draining ---- */

static void perf_snapshot(struct collector *c)
{
	c->snapshot_ns[0] = time_mono_ns() - SAMPLE_SLACK_NS;
	for (int i = 0; i < c->nr_cpus; i++) {
		if (c->cpu[i].open)
			ring_snapshot(&c->cpu[i].ring);
	}
	c->snapshot_ns[1] = time_mono_ns();
}

static void flush_raw(struct collector *c, size_t at_least)
{
	int err;

	if (c->cfg.raw_fd < 0 || c->raw.len < at_least)
		return;
	err = file_write(c->cfg.raw_fd, c->raw.data, c->raw.len);
	if (err) {
		log_err("raw trace: %s: it ends here", strerror(-err));
		c->cfg.raw_fd = -1;
	}
	buf_reset(&c->raw);
}

static void hand_out(struct collector *c, const struct cpi_entry *entries, size_t nr)
{
	struct batch batch = {
		.from_ns = c->from_ns, .to_ns = c->to_ns, .entries = entries, .nr = nr
	};

	for (size_t i = 0; i < nr; i++)
		c->state[cpi_entry_event(&entries[i])].handed_out +=
			cpi_entry_count(&entries[i]);
	if (nr)
		c->cfg.owner.batch(c->cfg.owner.ctx, &batch);
}

static void empty_overflow(struct collector *c, int which)
{
	struct cpi_overflow *o = &c->table.overflow[which];

	hand_out(c, o->entries, o->nr);
	o->nr = 0;
}

static void perf_sweep(struct collector *c)
{
	struct cpi_table *t = &c->table;
	struct cpi_entry *out = t->overflow[0].entries;
	size_t nr = 0;

	empty_overflow(c, 0);
	empty_overflow(c, 1);
	for (uint32_t b = 0; b <= t->mask; b++) {
		for (int w = 0; w < CPI_TABLE_WAYS; w++) {
			struct cpi_entry *e = &t->buckets[b].way[w];

			if (!cpi_entry_count(e))
				continue;
			if (nr == t->overflow[0].cap) {
				hand_out(c, out, nr);
				nr = 0;
			}
			out[nr++] = *e;
			e->word1 = 0;
		}
	}
	hand_out(c, out, nr);
	flush_raw(c, 1);
	c->from_ns = c->next_from_ns;
}

static int event_of_id(const struct collector *c, const struct cpu *cpu, uint64_t id)
{
	for (int i = 0; i < c->cfg.nr_events; i++) {
		if (cpu->event[i].id == id)
			return i;
	}
	return 0; /* cannot be: the kernel made the id */
}

static void write_raw(struct collector *c, const struct raw_sample *s,
		      unsigned int generation, enum cpi_outcome outcome)
{
	struct raw_record r = { .time_ns = s->time_ns,
				.pc = s->pc,
				.tgid = s->tgid,
				.cpu = s->cpu,
				.event = s->event,
				.outcome = outcome,
				.generation = generation };

	buf_put(&c->raw, &r, sizeof(r));
}

static void take_sample(struct collector *c, const struct cpu *cpu,
			const struct perf_event_header *h)
{
	const uint64_t *at = (const uint64_t *)(h + 1);
	struct raw_sample s = { .cpu = cpu - c->cpu };
	enum cpi_outcome outcome = CPI_OUTCOME_NONE;
	unsigned int generation = 0;
	uint32_t pid;

	if (c->cfg.nr_events > 1)
		s.event = event_of_id(c, cpu, *at++);
	s.pc = *at++;
	memcpy(&pid, at++, sizeof(pid));
	s.tgid = pid <= CPI_MAX_TGID ? pid : CPI_MAX_TGID; /* -1: it is gone already */
	s.time_ns = *at++;
	if (*at++ == PERF_SAMPLE_REGS_ABI_64)
		s.regs = at;
	c->state[s.event].read++;
	c->state[s.event].since_draw++;
	c->cfg.owner.classify(c->cfg.owner.ctx, &s, &generation, &outcome);
	if (c->cfg.raw_fd >= 0)
		write_raw(c, &s, generation, outcome);
	if (cpi_table_add(&c->table, cpi_entry_word0(s.pc, s.event, outcome),
			  cpi_entry_who(s.tgid, generation)) == CPI_TABLE_FILLED) {
		int full = c->table.active;

		c->table.active ^= 1;
		empty_overflow(c, full);
	}
}

static void take_record(struct collector *c, const struct cpu *cpu,
			const struct perf_event_header *h)
{
	const uint64_t *body = (const uint64_t *)(h + 1);

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(c, cpu, h);
		break;
	case PERF_RECORD_LOST: /* id, lost */
		c->state[event_of_id(c, cpu, body[0])].lost += body[1];
		break;
	case PERF_RECORD_THROTTLE: /* time, id, stream id */
		c->state[event_of_id(c, cpu, body[1])].throttled++;
		break;
	}
}

static void perf_drain(struct collector *c)
{
	const struct perf_event_header *h;

	c->to_ns = c->snapshot_ns[1];
	for (int i = 0; i < c->nr_cpus; i++) {
		struct cpu *cpu = &c->cpu[i];

		if (!cpu->open)
			continue;
		while ((h = ring_peek(&cpu->ring))) {
			take_record(c, cpu, h);
			ring_next(&cpu->ring, h);
		}
		ring_release(&cpu->ring);
		flush_raw(c, RAW_BUFFER);
	}
	c->next_from_ns = c->snapshot_ns[0];
}

/* ---- counts, CPUs, end ---- */

/* Adds what the kernel counted for one event on one CPU. */
static void read_counts(const struct collector *c, int fd, struct collector_counts *out)
{
	uint64_t v[4] = { 0 };

	if (read(fd, v, sizeof(v)) < 0)
		return;
	out->event_count += v[0];
	out->enabled_ns += v[1];
	out->running_ns += v[2];
	if (c->read_format & PERF_FORMAT_LOST)
		out->ring_lost += v[3];
}

static void perf_counts(struct collector *c, int event, struct collector_counts *out)
{
	const struct event_state *state = &c->state[event];
	struct collector_counts sum = state->gone;

	for (int i = 0; i < c->nr_cpus; i++) {
		if (c->cpu[i].open)
			read_counts(c, c->cpu[i].event[event].fd, &sum);
	}
	/* A process's event is enabled on each CPU, and runs where the process does. */
	if (c->cfg.target >= 0 && c->nr_open)
		sum.enabled_ns /= c->nr_open;
	if (!(c->read_format & PERF_FORMAT_LOST))
		sum.ring_lost = state->lost;
	sum.received = state->read + sum.ring_lost;
	sum.throttled = state->throttled;
	if (!event) /* evictions do not tell events apart; they do not happen */
		sum.table_lost = c->table.dropped;
	sum.pending = state->read - state->handed_out - sum.table_lost;
	*out = sum;
}

static int perf_set_cpus(struct collector *c, const struct cpus *cpus)
{
	int err = 0, event;

	if (cpus->highest >= c->nr_cpus)
		err = grow_cpus(c, cpus->highest + 1);
	for (int i = 0; i < c->nr_cpus; i++) {
		bool wanted = i <= cpus->highest && cpus->online[i];
		struct cpu *cpu = &c->cpu[i];

		if (!wanted && cpu->open) {
			for (int e = 0; e < c->cfg.nr_events; e++)
				read_counts(c, cpu->event[e].fd, &c->state[e].gone);
			cpu_close(c, cpu);
			c->nr_open--;
		} else if (wanted && !cpu->open) {
			int e = cpu_open(c, i, &event);

			err = e ? e : err;
		}
	}
	return err;
}

static void perf_stop(struct collector *c)
{
	for (int i = 0; i < c->nr_cpus; i++) {
		for (int e = 0; e < c->cfg.nr_events && c->cpu[i].open; e++)
			ioctl(c->cpu[i].event[e].fd, PERF_EVENT_IOC_DISABLE, 0);
	}
}

static int restart_event(struct collector *c, struct cpu_event *ce, int event)
{
	uint64_t period;

	ce->has_mirror = false;
	period = draw_period(c, ce, event);
	if (ioctl(ce->fd, PERF_EVENT_IOC_PERIOD, &period) ||
	    ioctl(ce->fd, PERF_EVENT_IOC_ENABLE, 0))
		return -errno;
	return 0;
}

static int perf_restart(struct collector *c)
{
	int err = 0;

	for (int i = 0; i < c->nr_cpus; i++) {
		for (int e = 0; e < c->cfg.nr_events && c->cpu[i].open; e++) {
			int failed = restart_event(c, &c->cpu[i].event[e], e);

			err = failed ? failed : err;
		}
	}
	return err;
}

const struct collector_ops collector_perf = {
	.name = "perf",
	.open = perf_open,
	.snapshot = perf_snapshot,
	.drain = perf_drain,
	.sweep = perf_sweep,
	.randomise = perf_randomise,
	.counts = perf_counts,
	.set_cpus = perf_set_cpus,
	.stop = perf_stop,
	.restart = perf_restart,
	.close = perf_close,
};
