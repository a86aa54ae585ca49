/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perfaux.c - the AUX buffers, and which bytes of them to decode next
 *
 * The process of a sample is found by the first of these that is known:
 * - the thread in the sample's context packet
 * - the thread that owns the buffer
 * - the thread that ran on the buffer's CPU, by the recorded switches
 * - the thread that PERF_RECORD_AUX names: an event that follows a task writes this
 *   record whenever the task leaves the CPU
 */
#include "config.h"

#include "daemon/import/perfaux.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "decode/spe.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "daemon/import/perfaux_info.h"
#include "daemon/collect/spefeed.h"
#include "daemon/collect/threads.h"

#define READ_SIZE (256u << 10)

/* Bytes [offset, offset + size) of a buffer, and where the file has them. */
struct aux_piece {
	uint64_t offset, size, at;
};

struct buffer {
	struct hnode node;
	uint32_t cpu, tid; /* one of them is UINT32_MAX */
	int event;         /* -1: not known yet */
	struct aux_piece *piece;
	size_t nr;
	/* decoding: */
	size_t next;      /* the first piece that is not decoded completely */
	uint64_t done;    /* the buffer is decoded up to this offset */
	uint64_t told_ns; /* time of the last record that mentions the buffer */
	struct spefeed feed;
};

struct perfaux {
	int fd;
	struct hmap buffers;
	size_t nr_pieces;
	struct perfaux_info info;
	struct spe_clock clock;
	struct threads threads;
	int event; /* the first event of SPE; -1: none */
	uint64_t foreign, damaged;
	uint64_t newest_ns; /* of any record */
	bool has_clockid;
	uint8_t bytes[READ_SIZE];
};

/* What is being decoded, for spefeed. */
struct decoding {
	struct perfaux *aux;
	struct buffer *buffer;
	uint64_t until_ns;
	uint32_t pid; /* of the PERF_RECORD_AUX that mentions the data */
	perfaux_fn fn;
	void *ctx;
};

struct perfaux *perfaux_new(int fd)
{
	struct perfaux *aux = calloc(1, sizeof(*aux));

	if (aux) {
		aux->fd = fd;
		aux->event = -1;
	}
	return aux;
}

void perfaux_free(struct perfaux *aux)
{
	struct hnode *n, *next;

	if (!aux)
		return;
	hmap_for_each (&aux->buffers, n, next) {
		struct buffer *b = container_of(n, struct buffer, node);

		free(b->piece);
		free(b);
	}
	hmap_fini(&aux->buffers);
	threads_fini(&aux->threads);
	perfaux_info_fini(&aux->info);
	free(aux);
}

bool perfaux_is_spe(const struct perfdata *pd, int event)
{
	return !strncmp(perfdata_pmu_name(pd, event), "arm_spe", 7);
}

/* ---- buffers ---- */

static struct buffer *find_buffer(const struct perfaux *aux, uint32_t cpu, uint32_t tid)
{
	const uint64_t hash = hash_u64((uint64_t)cpu << 32 | tid);

	for (struct hnode *n = hmap_first(&aux->buffers, hash); n; n = hmap_next(n)) {
		struct buffer *b = container_of(n, struct buffer, node);

		if (b->cpu == cpu && b->tid == tid)
			return b;
	}
	return NULL;
}

static int add_buffer(struct perfaux *aux, uint32_t cpu, uint32_t tid,
		      struct buffer **out)
{
	struct buffer *b;

	if (aux->buffers.nr == PERFAUX_MAX_BUFFERS)
		return -CPI_ELIMIT;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->cpu = cpu;
	b->tid = tid;
	b->event = -1;
	if (hmap_insert(&aux->buffers, &b->node, hash_u64((uint64_t)cpu << 32 | tid))) {
		free(b);
		return -ENOMEM;
	}
	*out = b;
	return 0;
}

/* The buffer that a record mentions; NULL: no piece of it is in the file. */
static struct buffer *buffer_of(const struct perfaux *aux, const struct perf_record *r)
{
	struct buffer *b = find_buffer(aux, r->cpu, UINT32_MAX);

	return b ? b : find_buffer(aux, UINT32_MAX, r->tid);
}

static int add_piece(struct perfaux *aux, const struct perf_aux *a)
{
	const uint32_t tid = a->cpu == UINT32_MAX ? a->tid : UINT32_MAX;
	struct buffer *b = find_buffer(aux, a->cpu, tid);
	int err = b ? 0 : add_buffer(aux, a->cpu, tid, &b);

	if (!err && aux->nr_pieces == PERFAUX_MAX_PIECES)
		err = -CPI_ELIMIT;
	if (err)
		return err;
	if (GROW(b->piece, b->nr))
		return -ENOMEM;
	b->piece[b->nr++] = (struct aux_piece){ a->offset, a->size, a->at };
	aux->nr_pieces++;
	return 0;
}

/* ---- the first reading ---- */

static void note_clock(struct perfaux *aux, const struct perf_time_conv *t)
{
	aux->clock = (struct spe_clock){ .known = t->shift < 64 && t->mult &&
						  t->mult <= UINT32_MAX,
					 .is_short = t->is_short,
					 .shift = t->shift,
					 .mult = t->mult,
					 .zero = t->zero,
					 .cycles = t->cycles,
					 .mask = t->mask };
}

static void note_event(struct perfaux *aux, const struct perfdata *pd, int event)
{
	if (event < 0 || !perfaux_is_spe(pd, event))
		return;
	if (aux->event < 0)
		aux->event = event;
	aux->has_clockid |= perfdata_info(pd)->event[event].use_clockid;
}

static int note_bytes(struct perfaux *aux, const struct perfdata *pd,
		      const struct perf_aux *a)
{
	for (size_t i = 0; aux->event < 0 && i < perfdata_info(pd)->nr_events; i++)
		note_event(aux, pd, (int)i);
	if (!aux->info.is_spe || aux->event < 0) {
		aux->foreign += a->size;
		return 0;
	}
	return add_piece(aux, a);
}

int perfaux_note(struct perfaux *aux, const struct perfdata *pd,
		 const struct perf_record *r)
{
	struct buffer *b;

	switch (r->type) {
	case PERFDATA_AUXTRACE_INFO:
		return perfaux_info_read(&r->aux_info, perfdata_info(pd)->cpuid,
					 &aux->info);
	case PERFDATA_TIME_CONV:
		note_clock(aux, &r->time_conv);
		return 0;
	case PERFDATA_AUXTRACE:
		return note_bytes(aux, pd, &r->aux);
	case PERF_RECORD_AUX:
		note_event(aux, pd, r->event);
		b = buffer_of(aux, r);
		if (b && r->event >= 0 && perfaux_is_spe(pd, r->event))
			b->event = r->event;
		return 0;
	}
	return 0;
}

/* ---- decoding ---- */

static uint32_t pid_of(const struct decoding *d, const struct hw_record *hw,
		       uint64_t time_ns)
{
	const struct threads *t = &d->aux->threads;
	const struct buffer *b = d->buffer;
	uint32_t tid = b->tid, pid;

	if (hw_has(hw, HW_CONTEXT))
		tid = (uint32_t)hw->value[HW_CONTEXT];
	if (tid != UINT32_MAX) {
		pid = threads_tgid(t, tid, time_ns);
		return pid == THREADS_UNKNOWN ? tid : pid;
	}
	pid = threads_running(t, b->cpu, time_ns);
	return pid == THREADS_UNKNOWN ? d->pid : pid;
}

/* The sample's timestamp, limited by I2; the later record's time if it has none. */
static uint64_t time_of(const struct decoding *d, const struct hw_record *hw)
{
	const struct perfaux *aux = d->aux;
	uint64_t ns;

	if (!aux->clock.known || aux->has_clockid || !hw_has(hw, HW_TIMESTAMP))
		return d->until_ns;
	ns = spe_clock_ns(&aux->clock, hw->value[HW_TIMESTAMP]);
	if (ns < d->buffer->told_ns)
		return d->buffer->told_ns;
	return ns < d->until_ns ? ns : d->until_ns;
}

static int take_record(void *ctx, const struct hw_record *hw)
{
	const struct decoding *d = ctx;
	struct perfaux_sample s = { .event = d->buffer->event,
				    .time_ns = time_of(d, hw),
				    .hw = hw };

	if (s.event < 0)
		s.event = d->aux->event;
	s.pid = pid_of(d, hw, s.time_ns);
	return d->fn(d->ctx, &s);
}

static int read_bytes(int fd, uint8_t *bytes, size_t size, uint64_t at)
{
	ssize_t n;

	for (size_t done = 0; done < size; done += (size_t)n) {
		n = pread(fd, bytes + done, size - done, (off_t)(at + done));
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n ? -errno : -CPI_ETRUNCATED;
	}
	return 0;
}

/* Decodes a buffer from b->done to an offset; piece p has these bytes. */
static int decode_piece(struct decoding *d, const struct aux_piece *p, uint64_t to)
{
	struct perfaux *aux = d->aux;
	struct buffer *b = d->buffer;
	int err = 0;

	while (!err && b->done < to) {
		size_t size = to - b->done < READ_SIZE ? to - b->done : READ_SIZE;

		err = read_bytes(aux->fd, aux->bytes, size,
				 p->at + (b->done - p->offset));
		if (!err)
			err = spefeed_take(&b->feed, aux->bytes, size, b->done,
					   take_record, d);
		b->done += size;
	}
	return err;
}

/* Decodes all further bytes of a buffer, up to an offset. */
static int decode(struct decoding *d, uint64_t to)
{
	struct buffer *b = d->buffer;
	int err = 0;

	for (; !err && b->next < b->nr; b->next++) {
		const struct aux_piece *p = &b->piece[b->next];
		const uint64_t end = p->offset + p->size;

		if (p->offset >= to)
			break;
		if (b->done < p->offset)
			b->done = p->offset;
		err = decode_piece(d, p, end < to ? end : to);
		if (end > to)
			break;
	}
	b->told_ns = d->until_ns;
	return err;
}

static void note_damaged(struct perfaux *aux, struct buffer *b)
{
	aux->damaged += b->feed.nr_damaged;
	b->feed.nr_damaged = 0;
}

int perfaux_end(struct perfaux *aux, perfaux_fn fn, void *ctx)
{
	struct decoding d = { .aux = aux,
			      .until_ns = aux->newest_ns,
			      .pid = UINT32_MAX,
			      .fn = fn,
			      .ctx = ctx };
	struct hnode *n, *next;
	int err = 0;

	hmap_for_each (&aux->buffers, n, next) {
		d.buffer = container_of(n, struct buffer, node);
		if (!err)
			err = decode(&d, UINT64_MAX);
		spefeed_end(&d.buffer->feed);
		note_damaged(aux, d.buffer);
	}
	return err;
}

static int compare_pieces(const void *a, const void *b)
{
	const struct aux_piece *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* perf pads a piece to a multiple of 8 bytes, and includes these in its size. */
static void sort_pieces(struct buffer *b)
{
	qsort(b->piece, b->nr, sizeof(*b->piece), compare_pieces);
	for (size_t i = 0; i + 1 < b->nr; i++) {
		struct aux_piece *p = &b->piece[i];
		const uint64_t room = p[1].offset - p->offset;

		if (p->size > room)
			p->size = room;
	}
}

static void rewind_buffer(struct perfaux *aux, struct buffer *b)
{
	b->next = 0;
	b->done = 0;
	b->told_ns = 0;
	memset(&b->feed, 0, sizeof(b->feed));
	b->feed.common_sources =
		spe_has_common_sources(perfaux_info_midr(&aux->info, b->cpu));
}

int perfaux_each(struct perfaux *aux, perfaux_fn fn, void *ctx)
{
	struct hnode *n, *next;
	int err;

	hmap_for_each (&aux->buffers, n, next) {
		struct buffer *b = container_of(n, struct buffer, node);

		sort_pieces(b);
		rewind_buffer(aux, b);
	}
	err = perfaux_end(aux, fn, ctx);
	hmap_for_each (&aux->buffers, n, next)
		rewind_buffer(aux, container_of(n, struct buffer, node));
	aux->damaged = 0;
	return err;
}

/* ---- the second reading ---- */

static int take_aux(struct perfaux *aux, const struct perf_record *r, uint64_t now_ns,
		    perfaux_fn fn, void *ctx)
{
	struct decoding d = {
		.aux = aux, .until_ns = now_ns, .pid = r->pid, .fn = fn, .ctx = ctx
	};
	const uint64_t end = r->aux_part.offset + r->aux_part.size;
	int err;

	d.buffer = buffer_of(aux, r);
	if (!d.buffer || end < r->aux_part.offset)
		return 0;
	err = decode(&d, end);
	note_damaged(aux, d.buffer);
	return err;
}

static int take_switch(struct perfaux *aux, const struct perf_record *r)
{
	const bool out = r->misc & PERF_RECORD_MISC_SWITCH_OUT;

	return threads_switch(&aux->threads, r->cpu, out ? THREADS_UNKNOWN : r->pid,
			      r->time);
}

int perfaux_take(struct perfaux *aux, const struct perf_record *r, uint64_t now_ns,
		 perfaux_fn fn, void *ctx)
{
	if (!aux->buffers.nr)
		return 0;
	if (r->time != UINT64_MAX && r->time > aux->newest_ns)
		aux->newest_ns = r->time;
	switch (r->type) {
	case PERF_RECORD_FORK:
	case PERF_RECORD_COMM:
		return threads_note(&aux->threads, r->tid, r->pid, now_ns);
	case PERF_RECORD_ITRACE_START:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return r->time == UINT64_MAX ? 0 : take_switch(aux, r);
	case PERF_RECORD_AUX:
		return take_aux(aux, r, now_ns, fn, ctx);
	}
	return 0;
}

uint64_t perfaux_horizon(const struct perfaux *aux)
{
	uint64_t oldest = UINT64_MAX;
	struct hnode *n, *next;

	hmap_for_each (&aux->buffers, n, next) {
		const struct buffer *b = container_of(n, struct buffer, node);

		if (b->next < b->nr && b->told_ns < oldest)
			oldest = b->told_ns;
	}
	return oldest;
}

uint64_t perfaux_take_damaged(struct perfaux *aux)
{
	const uint64_t n = aux->damaged;

	aux->damaged = 0;
	return n;
}

int perfaux_event(const struct perfaux *aux)
{
	return aux->event;
}

uint64_t perfaux_foreign(const struct perfaux *aux)
{
	return aux->foreign;
}
