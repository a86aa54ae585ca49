/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ring.c - reads a perf event's ring buffer
 *
 * It has two pairs of barriers. The other side is the kernel's
 * (kernel/events/ring_buffer.c):
 *
 *	the kernel				ring_snapshot(), ring_release()
 *
 *	load data_tail		<-	release data_tail	(the place is free)
 *	write the records
 *	barrier, data_head	->	acquire data_head	(the records are whole)
 *					read the records
 */
#include "config.h"

#include "daemon/os/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define RECORD_MAX 65536 /* the size field has 16 bits */

int ring_open(struct ring *r, int fd, size_t size)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	uint8_t *wrapped = malloc(RECORD_MAX);
	void *base;

	if (!wrapped)
		return -ENOMEM;
	base = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED) {
		free(wrapped);
		return -errno;
	}
	*r = (struct ring){ .meta = base,
			    .data = (uint8_t *)base + page,
			    .size = size,
			    .wrapped = wrapped };
	return 0;
}

void ring_close(struct ring *r)
{
	if (!r->meta)
		return;
	munmap(r->meta, sysconf(_SC_PAGESIZE) + r->size);
	free(r->wrapped);
	memset(r, 0, sizeof(*r));
}

uint64_t ring_unread(const struct ring *r)
{
	return __atomic_load_n(&r->meta->data_head, __ATOMIC_RELAXED) - r->tail;
}

void ring_snapshot(struct ring *r)
{
	/* Pairs with the barrier before the kernel's store to data_head. */
	uint64_t head = __atomic_load_n(&r->meta->data_head, __ATOMIC_ACQUIRE);

	if (head - r->tail > r->size) /* cannot be: do not read what was overwritten */
		r->tail = head;
	r->limit = head;
}

const struct perf_event_header *ring_peek(struct ring *r)
{
	const struct perf_event_header *h;
	uint64_t at = r->tail & (r->size - 1);
	uint64_t left = r->limit - r->tail;
	uint64_t straight = r->size - at;

	if (left < sizeof(*h))
		return NULL;
	h = (const void *)(r->data + at); /* records are 8-aligned: never split here */
	if (h->size < sizeof(*h) || h->size > left || h->size & 7) {
		r->tail = r->limit;
		return NULL;
	}
	if (h->size <= straight)
		return h;
	memcpy(r->wrapped, r->data + at, straight);
	memcpy(r->wrapped + straight, r->data, h->size - straight);
	return (const void *)r->wrapped;
}

void ring_next(struct ring *r, const struct perf_event_header *record)
{
	r->tail += record->size;
}

bool ring_release(struct ring *r)
{
	const uint64_t tail = r->meta->data_tail; /* only this process writes it */

	/* Pairs with the kernel's load of data_tail before it writes behind it. */
	__atomic_store_n(&r->meta->data_tail, r->tail, __ATOMIC_RELEASE);
	return __atomic_load_n(&r->meta->data_head, __ATOMIC_RELAXED) - tail >=
	       r->size / 2;
}
