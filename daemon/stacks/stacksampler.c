/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stacksampler.c - one event and one ring per CPU
 *
 * I1  Each sample in read was passed to the owner, or is in lost: its record was
 *     malformed, or the ring was full.
 */
#include "config.h"

#include "daemon/stacks/stacksampler.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/epoll.h>
#include <time.h>

#include "daemon/os/arch.h"
#include "daemon/collect/counters.h"
#include "daemon/os/perfev.h"
#include "daemon/os/privileges.h"
#include "daemon/os/ring.h"

#define RING_SIZE        (256u << 10)
#define RING_SIZE_SMALL  (64u << 10) /* where locked memory is short */
#define RING_SIZE_COPY   (1u << 20)  /* for copied stacks, with CAP_IPC_LOCK */
#define RINGS_COPY_TOTAL (64u << 20)
#define DEFAULT_LIMIT    127 /* of kernel.perf_event_max_stack */

struct collector {
	struct stacksampler_config cfg;
	struct counters *counters;
	struct ring *ring; /* by CPU */
	int nr_rings, nr_cpus;
	unsigned int limit;
	uint64_t read, lost, throttled;
};

/*
 * Only copied stacks need larger rings. Without CAP_IPC_LOCK all rings share the
 * user's limit of locked memory, so they have RING_SIZE. On machines with many CPUs
 * each ring is smaller.
 */
static size_t ring_size(const struct collector *ss)
{
	size_t size = RING_SIZE_COPY;

	if (!ss->cfg.copy_bytes || !privileges_have(CAP_IPC_LOCK))
		return RING_SIZE;
	while (size > RING_SIZE && size * ss->nr_cpus > RINGS_COPY_TOTAL)
		size /= 2;
	return size;
}

static void set_copy(const struct collector *ss, struct perf_event_attr *attr)
{
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->exclude_callchain_user = 1;
	attr->sample_regs_user = arch_native.user_mask;
	attr->sample_stack_user = ss->cfg.copy_bytes;
	attr->wakeup_watermark = ring_size(ss) / 4;
}

static void set_attr(void *ctx, int event, struct perf_event_attr *attr)
{
	const struct collector *ss = ctx;

	attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
	attr->sample_max_stack = ss->limit;
	attr->exclude_callchain_kernel = attr->exclude_kernel;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->wakeup_watermark = RING_SIZE_SMALL / 2;
	if (ss->cfg.copy_bytes)
		set_copy(ss, attr);
}

static int grow_rings(struct collector *ss, int nr)
{
	struct ring *grown;

	if (nr <= ss->nr_rings)
		return 0;
	grown = reallocarray(ss->ring, nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	ss->ring = grown;
	memset(grown + ss->nr_rings, 0, (nr - ss->nr_rings) * sizeof(*grown));
	ss->nr_rings = nr;
	return 0;
}

static int opened(void *ctx, int cpu, int event, int fd)
{
	struct collector *ss = ctx;
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.fd = fd };
	int err = grow_rings(ss, cpu + 1);

	if (err)
		return err;
	err = ring_open(&ss->ring[cpu], fd, ring_size(ss));
	if (err)
		err = ring_open(&ss->ring[cpu], fd, RING_SIZE_SMALL);
	if (!err && epoll_ctl(ss->cfg.epoll_fd, EPOLL_CTL_ADD, fd, &ev))
		err = -errno;
	return err;
}

static void closing(void *ctx, int cpu)
{
	struct collector *ss = ctx;

	if (cpu < ss->nr_rings)
		ring_close(&ss->ring[cpu]);
}

static void close_all(struct collector *ss)
{
	if (!ss)
		return;
	counters_close(ss->counters);
	free(ss->ring);
	free(ss);
}

static bool is_due(struct collector *ss)
{
	for (int i = 0; i < ss->nr_rings; i++) {
		if (counters_has(ss->counters, i) &&
		    ring_unread(&ss->ring[i]) > ss->ring[i].size / 4)
			return true;
	}
	return false;
}

static void snapshot(struct collector *ss)
{
	for (int i = 0; i < ss->nr_rings; i++) {
		if (counters_has(ss->counters, i))
			ring_snapshot(&ss->ring[i]);
	}
}

/*
 * Reads PERF_SAMPLE_REGS_USER and PERF_SAMPLE_STACK_USER from the words [at, end):
 * the ABI, the registers unless the ABI is none, the stack's size, and unless it is
 * 0 the bytes and their valid size. Returns false if the record is too short.
 */
static bool take_copy(const uint64_t *at, const uint64_t *end, struct chain_sample *s)
{
	const size_t nr_regs = __builtin_popcountll(arch_native.user_mask);
	size_t size;

	if (end - at < 2)
		return false;
	if (*at++ == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	if ((size_t)(end - at) < nr_regs + 1)
		return false;
	if (at[-1] != PERF_SAMPLE_REGS_ABI_64)
		return true;
	s->regs = at;
	at += nr_regs;
	size = *at++ / sizeof(*at);
	if (!size)
		return true;
	if (size >= (size_t)(end - at))
		return false;
	s->stack = at;
	s->stack_size = at[size] < size * sizeof(*at) ? at[size] : size * sizeof(*at);
	return true;
}

/* pid and tid, time, number of addresses, addresses, user mode's part */
static void take_sample(struct collector *ss, const struct perf_event_header *h)
{
	const uint64_t *at = (const uint64_t *)(h + 1);
	const size_t nr_words = (h->size - sizeof(*h)) / sizeof(*at);
	struct chain_sample s = { .limit = ss->limit };
	uint32_t pid;

	ss->read++;
	if (nr_words < 3 || at[2] > nr_words - 3 ||
	    (ss->cfg.copy_bytes && !take_copy(at + 3 + at[2], at + nr_words, &s))) {
		ss->lost++;
		return;
	}
	memcpy(&pid, at, sizeof(pid));
	s.tgid = pid <= CPI_MAX_TGID ? pid : CPI_MAX_TGID; /* -1: it is gone already */
	s.time_ns = at[1];
	s.nr = at[2];
	s.chain = at + 3;
	ss->cfg.take(ss->cfg.ctx, &s);
}

static void take_record(struct collector *ss, const struct perf_event_header *h)
{
	const uint64_t *body = (const uint64_t *)(h + 1);

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		take_sample(ss, h);
		break;
	case PERF_RECORD_LOST: /* id, lost */
		ss->lost += body[1];
		ss->read += body[1];
		break;
	case PERF_RECORD_THROTTLE:
		ss->throttled++;
		break;
	}
}

static void drain(struct collector *ss)
{
	const struct perf_event_header *h;

	for (int i = 0; i < ss->nr_rings; i++) {
		if (!counters_has(ss->counters, i))
			continue;
		while ((h = ring_peek(&ss->ring[i]))) {
			take_record(ss, h);
			ring_next(&ss->ring[i], h);
		}
		ring_release(&ss->ring[i]);
	}
}

/*
 * Losses are counted from PERF_RECORD_LOST, because the kernel's own count is ahead
 * of the records that were read.
 */
static void counts(struct collector *ss, int event, struct collector_counts *out)
{
	struct collector_counts sum = { 0 };

	counters_read(ss->counters, event, &sum);
	sum.ring_lost = ss->lost;
	sum.received = ss->read;
	sum.throttled = ss->throttled;
	*out = sum;
}

static void randomise(struct collector *ss)
{
	counters_randomise(ss->counters, &ss->read);
}

static int set_cpus(struct collector *ss, const struct cpus *cpus)
{
	return counters_set_cpus(ss->counters, cpus);
}

static void stop(struct collector *ss)
{
	counters_stop(ss->counters);
}

int stacksampler_open(const struct stacksampler_config *cfg, const struct cpus *cpus,
		      struct collector **out)
{
	struct collector *ss = calloc(1, sizeof(*ss));
	struct counters_config counters = {
		.events = cfg->event,
		.periods = cfg->period,
		.nr_events = 1,
		.target = cfg->target,
		.set_attr = set_attr,
		.opened = opened,
		.closing = closing,
		.ctx = ss,
	};
	int err, event;

	if (!ss)
		return -ENOMEM;
	ss->cfg = *cfg;
	ss->nr_cpus = cpus->nr;
	ss->limit = perfev_sysctl("perf_event_max_stack", DEFAULT_LIMIT);
	if (ss->limit > DEFAULT_LIMIT)
		ss->limit = DEFAULT_LIMIT;
	err = counters_open(&counters, cpus, &ss->counters, &event);
	if (err) {
		close_all(ss);
		return err;
	}
	*out = ss;
	return 0;
}

const struct source_ops source_stacks = {
	.poll = is_due,
	.snapshot = snapshot,
	.preview = collector_no_preview,
	.drain = drain,
	.sweep = collector_no_sweep,
	.randomise = randomise,
	.counts = counts,
	.set_cpus = set_cpus,
	.stop = stop,
	.close = close_all,
};
