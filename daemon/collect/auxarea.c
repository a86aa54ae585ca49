/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * auxarea.c - reads the records of Arm's SPE on one CPU
 *
 * Each PERF_RECORD_AUX in the ring names a part of the AUX area, which spefeed.c
 * decodes.
 */
#include "config.h"

#include "daemon/collect/auxarea.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "base/file.h"

#define RING_SIZE (64u << 10)
#define AREA_SIZE (1u << 20)

/* A PERF_RECORD_AUX, followed by the fields PERF_SAMPLE_TID and PERF_SAMPLE_TIME. */
struct aux_record {
	struct perf_event_header header;
	uint64_t offset, size, flags;
	uint32_t pid, tid;
	uint64_t time_ns;
};

/* Reads MIDR_EL1 of a CPU. Returns 0 if it is not known. */
static uint64_t read_midr(int cpu)
{
	struct buf text = { 0 };
	uint64_t midr = 0;
	char path[128];

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu);
	if (!file_read_all(AT_FDCWD, path, 64, &text))
		midr = strtoull(buf_str(&text), NULL, 16);
	buf_fini(&text);
	return midr;
}

int auxarea_open(struct auxarea *a, int fd, int cpu, uint64_t now_ns)
{
	struct auxarea area = { .fd = fd, .size = AREA_SIZE, .told_ns = now_ns };
	int err = ring_open(&area.ring, fd, RING_SIZE);
	void *at;

	if (err)
		return err;
	area.ring.meta->aux_offset = area.ring.meta->data_offset + RING_SIZE;
	area.ring.meta->aux_size = AREA_SIZE;
	at = mmap(NULL, AREA_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		  (off_t)area.ring.meta->aux_offset);
	if (at == MAP_FAILED) {
		err = -errno;
		ring_close(&area.ring);
		return err;
	}
	area.area = at;
	area.feed.common_sources = spe_has_common_sources(read_midr(cpu));
	*a = area;
	return 0;
}

void auxarea_close(struct auxarea *a)
{
	if (!a->ring.meta)
		return;
	munmap((void *)a->area, a->size);
	ring_close(&a->ring);
	memset(a, 0, sizeof(*a));
}

void auxarea_snapshot(struct auxarea *a, bool flush)
{
	if (flush) {
		ioctl(a->fd, PERF_EVENT_IOC_DISABLE, 0);
		ioctl(a->fd, PERF_EVENT_IOC_ENABLE, 0);
	}
	ring_snapshot(&a->ring);
}

/* The context of take_sample(): the sample's times and process, and who receives it. */
struct draining {
	const struct auxarea_owner *owner;
	struct auxarea_sample sample;
};

static int take_sample(void *ctx, const struct hw_record *hw)
{
	struct draining *d = ctx;

	d->sample.hw = hw;
	if (hw_has(hw, HW_PC))
		d->owner->sample(d->owner->ctx, &d->sample);
	else
		d->owner->lost(d->owner->ctx, SAMPLE_AUX_DAMAGED, 1);
	return 0;
}

/*
 * Decodes size bytes of the area from offset on. The area is a ring, so they may wrap.
 */
static void decode(struct auxarea *a, uint64_t offset, uint64_t size,
		   struct draining *d)
{
	while (size) {
		const uint64_t at = offset & (a->size - 1);
		const uint64_t straight = a->size - at < size ? a->size - at : size;

		spefeed_take(&a->feed, a->area + at, straight, offset, take_sample, d);
		offset += straight;
		size -= straight;
	}
}

static void take_flags(uint64_t flags, const struct auxarea_owner *owner)
{
	for (size_t i = 0; i < SPEFEED_NR_LOSSES; i++) {
		if (flags & spefeed_losses[i].flag)
			owner->lost(owner->ctx, spefeed_losses[i].loss, 1);
	}
}

static void take_aux(struct auxarea *a, const struct aux_record *r,
		     const struct auxarea_owner *owner)
{
	struct draining d = {
		.owner = owner,
		.sample = { .from_ns = a->told_ns, .to_ns = r->time_ns, .pid = r->pid }
	};

	if (r->size > a->size) /* impossible: the area is smaller */
		return;
	if (r->offset != a->feed.end && !r->flags) /* a record was lost */
		owner->lost(owner->ctx, SAMPLE_AUX_PARTIAL, 1);
	decode(a, r->offset, r->size, &d);
	take_flags(r->flags, owner);
	if (a->feed.nr_damaged)
		owner->lost(owner->ctx, SAMPLE_AUX_DAMAGED, a->feed.nr_damaged);
	a->feed.nr_damaged = 0;
	a->told_ns = r->time_ns;
	/* Pairs with the kernel's load of aux_tail before it writes past it. */
	__atomic_store_n(&a->ring.meta->aux_tail, r->offset + r->size,
			 __ATOMIC_RELEASE);
}

void auxarea_drain(struct auxarea *a, const struct auxarea_owner *owner)
{
	const struct perf_event_header *h;

	while ((h = ring_peek(&a->ring))) {
		if (h->type == PERF_RECORD_AUX && h->size >= sizeof(struct aux_record))
			take_aux(a, (const void *)h, owner);
		ring_next(&a->ring, h);
	}
	ring_release(&a->ring);
}

uint64_t auxarea_progress(const struct auxarea *a)
{
	return __atomic_load_n(&a->ring.meta->aux_head, __ATOMIC_RELAXED);
}
