/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfdata_queue.c - records in the order of their times
 *
 * perf reads the buffers of all CPUs one after the other; this is a round. A record of
 * a round may be older than records of other CPUs in the round before, but not older
 * than the newest record of the round before that. So at the end of a round, all
 * records up to the newest one of the round before are passed on. Records with the same
 * time keep the file's order.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>

#include "base/grow.h"
#include "daemon/import/perfdata_private.h"

static bool is_before(const struct perfdata_waiting *a,
		      const struct perfdata_waiting *b)
{
	return a->time != b->time ? a->time < b->time : a->seq < b->seq;
}

static void sift_up(struct perfdata_queue *q, size_t i)
{
	struct perfdata_waiting *w = q->heap[i];

	for (; i && is_before(w, q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		q->heap[i] = q->heap[(i - 1) / 2];
	q->heap[i] = w;
}

static void sift_down(struct perfdata_queue *q)
{
	struct perfdata_waiting *w = q->heap[0];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < q->nr) {
		if (child + 1 < q->nr && is_before(q->heap[child + 1], q->heap[child]))
			child++;
		if (!is_before(q->heap[child], w))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = w;
}

static int hand_out_first(struct perfdata *pd)
{
	struct perfdata_queue *q = &pd->queue;
	struct perfdata_waiting *w = q->heap[0];
	int err;

	q->heap[0] = q->heap[--q->nr];
	if (q->nr)
		sift_down(q);
	q->bytes -= sizeof(*w) + w->size;
	err = perfdata_hand_out(pd, (uint8_t *)w->data, w->size, w->offset);
	free(w);
	return err;
}

int perfdata_queue_add(struct perfdata *pd, uint64_t time, const uint8_t *record,
		       size_t size, uint64_t offset)
{
	struct perfdata_queue *q = &pd->queue;
	struct perfdata_waiting *w;
	int err = 0;

	while (!err && q->nr && q->bytes + sizeof(*w) + size > PERFDATA_MAX_QUEUED)
		err = hand_out_first(pd);
	if (err)
		return err;
	w = malloc(sizeof(*w) + size);
	if (!w || GROW(q->heap, q->nr)) {
		free(w);
		return -ENOMEM;
	}
	*w = (struct perfdata_waiting){ time, q->seq++, offset, size };
	memcpy(w->data, record, size);
	q->heap[q->nr] = w;
	sift_up(q, q->nr++);
	q->bytes += sizeof(*w) + size;
	if (time > q->newest)
		q->newest = time;
	return 0;
}

static int hand_out_until(struct perfdata *pd, uint64_t time)
{
	int err = 0;

	while (!err && pd->queue.nr && pd->queue.heap[0]->time <= time)
		err = hand_out_first(pd);
	return err;
}

int perfdata_queue_round(struct perfdata *pd)
{
	int err = hand_out_until(pd, pd->queue.round);

	pd->queue.round = pd->queue.newest;
	return err;
}

int perfdata_queue_end(struct perfdata *pd)
{
	return hand_out_until(pd, UINT64_MAX);
}

void perfdata_queue_free(struct perfdata_queue *q)
{
	for (size_t i = 0; i < q->nr; i++)
		free(q->heap[i]);
	free(q->heap);
}
