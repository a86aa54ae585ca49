/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * collector_perf.c - samples from perf rings, aggregated in user space
 *
 * This collector needs neither BPF nor the module. The samples of all events of a CPU
 * go to one ring; this process counts them in the table of kmod/table.h.
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
#include "base/log.h"
#include "base/times.h"
#include "daemon/collect/collector.h"
#include "daemon/collect/counters.h"
#include "daemon/collect/raw.h"
#include "daemon/collect/sample.h"
#include "daemon/collect/spelive.h"
#include "daemon/os/ring.h"
#include "kmod/table.h"

#define RING_SIZE (512u << 10)
/* together with the ring of daemon/mappings, below perf_event_mlock_kb */
#define RING_SIZE_SMALL (256u << 10)

/* The longest time between a sample's timestamp and its publication in the ring. */
#define SAMPLE_SLACK_NS NSEC_PER_MSEC

#define RAW_BUFFER   65536
#define RECORDS_MAX  4096              /* hardware records that wait to be handed out */
#define STACKS_MAX   1024              /* branch stacks that wait to be handed out */
#define BRANCHES_MAX (32 * STACKS_MAX) /* branches in all of them */

struct event_state {
	uint64_t read; /* samples taken from rings */
	uint64_t handed_out;
	uint64_t lost;   /* according to PERF_RECORD_LOST */
	uint64_t broken; /* records that are too short; counted as lost */
	uint64_t throttled;
};

struct collector {
	struct collector_config cfg;
	struct counters *counters;
	struct ring *ring; /* by CPU */
	int nr_rings;
	int ring_fd; /* the ring that was opened last; -1: its CPU has none yet */
	struct event_state state[CPI_MAX_EVENTS];
	struct cpi_table table;
	uint64_t from_ns; /* all samples in the table are at least this new */
	uint64_t to_ns;   /* and at most this new */
	/* samples that are drained later are at least this new */
	uint64_t next_from_ns;
	uint64_t snapshot_ns[2]; /* before and after the last snapshot */
	struct buf raw;
	struct batch_record *records; /* RECORDS_MAX of them; NULL: no event has any */
	size_t nr_records;
	struct spelive *spe; /* NULL: SPE is not sampled */
	bool stopped;
	struct branch_stack *stacks; /* NULL: no event has any */
	struct branch *branches;     /* the branches of these stacks */
	size_t nr_stacks, nr_branches;
};

/* ---- opening ---- */

static void set_attr(void *ctx, int event, struct perf_event_attr *attr)
{
	const struct collector *c = ctx;

	attr->sample_type = sample_type(&c->cfg.events[event]);
	if (c->cfg.nr_events > 1)
		attr->sample_type |= PERF_SAMPLE_IDENTIFIER;
	attr->sample_regs_intr = sample_regs(&c->cfg.events[event]);
	attr->sample_id_all = c->cfg.events[event].record == EVENT_RECORDS_SPE;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark = RING_SIZE_SMALL / 2;
}

static int grow_rings(struct collector *c, int nr)
{
	struct ring *grown;

	if (nr <= c->nr_rings)
		return 0;
	grown = realloc(c->ring, nr * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	c->ring = grown;
	memset(grown + c->nr_rings, 0, (nr - c->nr_rings) * sizeof(*grown));
	c->nr_rings = nr;
	return 0;
}

static int open_ring(struct collector *c, int cpu, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.fd = fd };
	int err = grow_rings(c, cpu + 1);

	if (err)
		return err;
	err = ring_open(&c->ring[cpu], fd, RING_SIZE);
	if (err)
		err = ring_open(&c->ring[cpu], fd, RING_SIZE_SMALL);
	if (!err && epoll_ctl(c->cfg.epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		err = -errno;
	c->ring_fd = fd;
	return err;
}

static int open_spe(struct collector *c, int cpu, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.fd = fd };
	int err = spelive_opened(c->spe, cpu, fd);

	if (!err && epoll_ctl(c->cfg.epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		err = -errno;
	return err;
}

/*
 * All events of a CPU share the ring of the first event, except SPE, which has its own.
 */
static int opened(void *ctx, int cpu, int event, int fd)
{
	struct collector *c = ctx;

	if (!event)
		c->ring_fd = -1;
	if (c->cfg.events[event].record == EVENT_RECORDS_SPE)
		return open_spe(c, cpu, fd);
	if (c->ring_fd < 0)
		return open_ring(c, cpu, fd);
	return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, c->ring_fd) ? -errno : 0;
}

static void closing(void *ctx, int cpu)
{
	struct collector *c = ctx;

	if (cpu < c->nr_rings)
		ring_close(&c->ring[cpu]);
	if (c->spe)
		spelive_closing(c->spe, cpu);
}

static bool has_ring(const struct collector *c, int cpu)
{
	return counters_has(c->counters, cpu) && cpu < c->nr_rings && c->ring[cpu].meta;
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

static int records_init(struct collector *c)
{
	for (int i = 0; i < c->cfg.nr_events && !c->records; i++) {
		if (!c->cfg.events[i].record)
			continue;
		c->records = calloc(RECORDS_MAX, sizeof(*c->records));
		if (!c->records)
			return -ENOMEM;
	}
	return 0;
}

static int stacks_init(struct collector *c)
{
	for (int i = 0; i < c->cfg.nr_events && !c->stacks; i++) {
		if (!c->cfg.events[i].branches)
			continue;
		c->stacks = calloc(STACKS_MAX, sizeof(*c->stacks));
		c->branches = calloc(BRANCHES_MAX, sizeof(*c->branches));
		if (!c->stacks || !c->branches)
			return -ENOMEM;
	}
	return 0;
}

static void take_spe(void *ctx, const struct cpi_entry *e, const struct hw_record *hw,
		     uint64_t since_ns);
static void lose_spe(void *ctx, enum loss loss, uint64_t n);

static int spe_init(struct collector *c)
{
	struct spelive_config cfg = { .timed_child = c->cfg.timed_child,
				      .follows_task = c->cfg.target.pid >= 0,
				      .take = take_spe,
				      .lost = lose_spe,
				      .ctx = c };

	for (; cfg.event < c->cfg.nr_events; cfg.event++) {
		if (c->cfg.events[cfg.event].record != EVENT_RECORDS_SPE)
			continue;
		c->spe = spelive_new(&cfg);
		return c->spe ? 0 : -ENOMEM;
	}
	return 0;
}

static void perf_close(struct collector *c)
{
	if (!c)
		return;
	counters_close(c->counters);
	spelive_free(c->spe);
	free(c->ring);
	free(c->table.buckets);
	free(c->table.overflow[0].entries);
	free(c->table.overflow[1].entries);
	free(c->records);
	free(c->stacks);
	free(c->branches);
	buf_fini(&c->raw);
	free(c);
}

static int perf_open(const struct collector_config *cfg, const struct cpus *cpus,
		     struct collector **out, int *event)
{
	struct collector *c = aligned_alloc(64, (sizeof(*c) + 63) / 64 * 64);
	struct counters_config counters = {
		.events = cfg->events,
		.periods = cfg->periods,
		.nr_events = cfg->nr_events,
		.target = cfg->target,
		.set_attr = set_attr,
		.opened = opened,
		.closing = closing,
		.ctx = c,
	};
	int err;

	*event = -1;
	if (!c)
		return -ENOMEM;
	memset(c, 0, sizeof(*c));
	c->cfg = *cfg;
	c->from_ns = c->to_ns = c->next_from_ns = time_mono_ns();
	err = table_init(&c->table);
	if (!err)
		err = records_init(c);
	if (!err)
		err = stacks_init(c);
	if (!err)
		err = spe_init(c);
	if (!err)
		err = counters_open(&counters, cpus, &c->counters, event);
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
	for (int i = 0; i < c->nr_rings; i++) {
		if (has_ring(c, i))
			ring_snapshot(&c->ring[i]);
	}
	if (c->spe)
		spelive_snapshot(c->spe, !c->stopped);
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

static void hand_out_records(struct collector *c)
{
	struct batch batch = { .from_ns = c->from_ns,
			       .to_ns = c->to_ns,
			       .records = c->records,
			       .nr_records = c->nr_records };

	if (c->nr_records)
		c->cfg.owner.batch(c->cfg.owner.ctx, &batch);
	c->nr_records = 0;
}

static void hand_out_stacks(struct collector *c)
{
	struct batch batch = { .from_ns = c->from_ns,
			       .to_ns = c->to_ns,
			       .stacks = c->stacks,
			       .nr_stacks = c->nr_stacks };

	if (c->nr_stacks)
		c->cfg.owner.batch(c->cfg.owner.ctx, &batch);
	c->nr_stacks = c->nr_branches = 0;
}

/* If a stack is longer than BRANCHES_MAX, only the newest branches are kept. */
static void add_stack(struct collector *c, const struct raw_sample *s,
		      const struct sample *sample)
{
	const size_t nr =
		sample->nr_branches < BRANCHES_MAX ? sample->nr_branches : BRANCHES_MAX;
	struct branch *to;

	if (c->nr_stacks == STACKS_MAX || nr > BRANCHES_MAX - c->nr_branches)
		hand_out_stacks(c);
	to = &c->branches[c->nr_branches];
	for (size_t i = 0; i < nr; i++) {
		const struct perf_branch_entry *b = &sample->branches[i];

		to[i] = (struct branch){ b->from, b->to, b->cycles, b->mispred };
	}
	c->nr_branches += nr;
	c->stacks[c->nr_stacks++] = (struct branch_stack){ .time_ns = s->time_ns,
							   .tgid = s->tgid,
							   .event = s->event,
							   .branch = to,
							   .nr = nr };
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
	hand_out_records(c);
	hand_out_stacks(c);
	flush_raw(c, 1);
	c->from_ns = c->next_from_ns;
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

/*
 * If the outcome could not be read from code and registers, the hardware record of the
 * retired branch has it.
 */
static enum cpi_outcome outcome_of(const struct sample *s, enum cpi_outcome otherwise)
{
	if (otherwise != CPI_OUTCOME_UNREADABLE || !s->has_hw ||
	    !hw_knows(&s->hw, HW_BRANCH))
		return otherwise;
	if (!hw_is(&s->hw, HW_BRANCH) || hw_is(&s->hw, HW_RETURN))
		return CPI_OUTCOME_NONE;
	return hw_is(&s->hw, HW_TAKEN) ? CPI_OUTCOME_TAKEN : CPI_OUTCOME_NOT_TAKEN;
}

/* Adds a classified sample and its hardware record, if there is one. */
static void count_sample(struct collector *c, struct cpi_entry e,
			 const struct hw_record *hw)
{
	if (hw) {
		c->records[c->nr_records++] = (struct batch_record){ e, *hw };
		if (c->nr_records == RECORDS_MAX)
			hand_out_records(c);
	}
	if (cpi_table_add(&c->table, e.word0, e.word1) == CPI_TABLE_FILLED) {
		int full = c->table.active;

		c->table.active ^= 1;
		empty_overflow(c, full);
	}
}

/* If the sample may be older than the batch's interval, extends the interval. */
static void take_spe(void *ctx, const struct cpi_entry *e, const struct hw_record *hw,
		     uint64_t since_ns)
{
	struct collector *c = ctx;

	if (since_ns < c->from_ns)
		c->from_ns = since_ns;
	c->state[cpi_entry_event(e)].read++;
	count_sample(c, *e, hw);
}

static void lose_spe(void *ctx, enum loss loss, uint64_t n)
{
	struct collector *c = ctx;
	const struct batch_loss lost = { spelive_event(c->spe), loss, n };
	const struct batch batch = { .from_ns = c->from_ns,
				     .to_ns = c->to_ns,
				     .losses = &lost,
				     .nr_losses = 1 };

	c->state[lost.event].read += n;
	c->state[lost.event].handed_out += n;
	c->cfg.owner.batch(c->cfg.owner.ctx, &batch);
}

/* Returns 0, or -errno if the record is shorter than the requested fields. */
static int read_sample(const struct collector *c, int cpu,
		       const struct perf_event_header *h, struct raw_sample *s,
		       struct sample *sample)
{
	const uint64_t *id = (const uint64_t *)(h + 1);
	const bool with_id = c->cfg.nr_events > 1;
	int err;

	*s = (struct raw_sample){ .cpu = cpu };
	if (with_id && h->size >= sizeof(*h) + sizeof(*id))
		s->event = counters_event_of_id(c->counters, cpu, *id);
	err = sample_read(&c->cfg.events[s->event], with_id, h, sample);
	if (err)
		return err;
	s->pc = sample->pc;
	s->time_ns = sample->time_ns;
	s->regs = sample->regs;
	/* the kernel reports -1 if the process is gone already */
	s->tgid = sample->pid <= CPI_MAX_TGID ? sample->pid : CPI_MAX_TGID;
	s->tid = sample->tid <= CPI_MAX_TGID ? sample->tid : CPI_MAX_TGID;
	return 0;
}

static void take_sample(struct collector *c, int cpu, const struct perf_event_header *h)
{
	enum cpi_outcome outcome = CPI_OUTCOME_NONE;
	unsigned int generation = 0;
	struct sample sample;
	struct raw_sample s;

	if (read_sample(c, cpu, h, &s, &sample)) {
		c->state[s.event].broken++;
		return;
	}
	c->state[s.event].read++;
	c->cfg.owner.classify(c->cfg.owner.ctx, &s, &generation, &outcome);
	outcome = outcome_of(&sample, outcome);
	if (c->cfg.raw_fd >= 0)
		write_raw(c, &s, generation, outcome);
	if (sample.nr_branches)
		add_stack(c, &s, &sample);
	count_sample(c,
		     (struct cpi_entry){
			     cpi_entry_word0(s.pc, s.event, outcome),
			     cpi_entry_who(c->cfg.by_thread ? s.tid : s.tgid,
					   generation) },
		     sample.has_hw ? &sample.hw : NULL);
}

/*
 * Passes the samples up to the snapshot to prepare(), without removing them from the
 * ring.
 */
static void preview_ring(struct collector *c, int cpu)
{
	struct ring ahead = c->ring[cpu];
	const struct perf_event_header *h;
	struct sample sample;
	struct raw_sample s;

	while ((h = ring_peek(&ahead))) {
		if (h->type == PERF_RECORD_SAMPLE &&
		    !read_sample(c, cpu, h, &s, &sample))
			c->cfg.owner.prepare(c->cfg.owner.ctx, &s);
		ring_next(&ahead, h);
	}
}

static void perf_preview(struct collector *c)
{
	for (int i = 0; i < c->nr_rings; i++) {
		if (has_ring(c, i))
			preview_ring(c, i);
	}
}

static void take_record(struct collector *c, int cpu, const struct perf_event_header *h)
{
	const uint64_t *body = (const uint64_t *)(h + 1);

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(c, cpu, h);
		break;
	case PERF_RECORD_LOST: /* id, lost */
		c->state[counters_event_of_id(c->counters, cpu, body[0])].lost +=
			body[1];
		break;
	case PERF_RECORD_THROTTLE: /* time, id, stream id */
		c->state[counters_event_of_id(c->counters, cpu, body[1])].throttled++;
		break;
	}
}

static void perf_drain(struct collector *c)
{
	const struct perf_event_header *h;

	c->to_ns = c->snapshot_ns[1];
	for (int i = 0; i < c->nr_rings; i++) {
		struct ring *ring = &c->ring[i];

		if (!has_ring(c, i))
			continue;
		while ((h = ring_peek(ring))) {
			take_record(c, i, h);
			ring_next(ring, h);
		}
		ring_release(ring);
		flush_raw(c, RAW_BUFFER);
	}
	if (c->spe)
		spelive_drain(c->spe);
	c->next_from_ns = c->snapshot_ns[0];
}

/* ---- counts, CPUs, end ---- */

static void perf_counts(struct collector *c, int event, struct collector_counts *out)
{
	const struct event_state *state = &c->state[event];
	struct collector_counts sum = { 0 };

	if (!counters_read(c->counters, event, &sum))
		sum.ring_lost = state->lost;
	sum.ring_lost += state->broken;
	sum.received = state->read + sum.ring_lost;
	sum.throttled = state->throttled;
	/*
	 * The table counts dropped samples of all events together. There are none,
	 * because a full overflow array is handed out at once.
	 */
	if (!event)
		sum.table_lost = c->table.dropped;
	sum.pending = state->read - state->handed_out - sum.table_lost;
	*out = sum;
}

/* Returns how far the kernel has written. */
static uint64_t perf_progress(const struct collector *c, int cpu)
{
	uint64_t n = c->spe ? spelive_progress(c->spe, cpu) : 0;

	if (has_ring(c, cpu))
		n += __atomic_load_n(&c->ring[cpu].meta->data_head, __ATOMIC_RELAXED);
	return n;
}

static void perf_randomise(struct collector *c)
{
	uint64_t read[CPI_MAX_EVENTS];

	for (int i = 0; i < c->cfg.nr_events; i++)
		read[i] = c->state[i].read;
	counters_randomise(c->counters, read);
}

static uint64_t perf_random_ns(const struct collector *c)
{
	return counters_random_ns(c->counters);
}

static int perf_set_cpus(struct collector *c, const struct cpus *cpus)
{
	return counters_set_cpus(c->counters, cpus);
}

static void perf_stop(struct collector *c)
{
	c->stopped = true;
	counters_stop(c->counters);
}

static int perf_restart(struct collector *c)
{
	c->stopped = false;
	return counters_restart(c->counters);
}

const struct collector_ops collector_perf = {
	.name = "perf",
	.takes_threads = true,
	.takes_branches = true,
	.takes_records = 1 << EVENT_RECORDS_IBS_FETCH | 1 << EVENT_RECORDS_IBS_OP |
			 1 << EVENT_RECORDS_SPE | 1 << EVENT_RECORDS_PEBS,
	.open = perf_open,
	.source.poll = collector_poll_always,
	.is_quiet = collector_never_quiet,
	.source.snapshot = perf_snapshot,
	.source.preview = perf_preview,
	.source.drain = perf_drain,
	.source.sweep = perf_sweep,
	.source.randomise = perf_randomise,
	.random_ns = perf_random_ns,
	.exec_id = collector_no_exec_id,
	.source.counts = perf_counts,
	.handler = collector_no_handler,
	.progress = perf_progress,
	.device = collector_no_device,
	.pairs = collector_no_pairs,
	.source.set_cpus = perf_set_cpus,
	.source.stop = perf_stop,
	.restart = perf_restart,
	.source.close = perf_close,
};
