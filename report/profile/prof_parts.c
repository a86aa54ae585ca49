/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof_parts.c - rows from totals that are read once
 */
#include "config.h"

#include "report/profile/prof_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "db/query/sums.h"
#include "report/profile/prof_context.h"
#include "report/profile/prof_rows.h"
#include "report/profile/prof_time.h"

/* Only the newest parts are searched for an epoch's slot, so a slot may get several. */
#define LOOK_BACK 64

struct slot_part {
	size_t slot, number; /* number: of the query's parts */
	const char *host;    /* of the epoch; NULL: all machines */
};

struct prof_parts {
	struct slot_part *part; /* by slot */
	size_t nr;
	struct query_sums sums;
};

static bool has_commands(const struct prof *p)
{
	return (prof_context_kinds(p->req) | query_restricted_kinds(&p->sel.query)) ==
		       1u << CONTEXT_COMM &&
	       prof_context_kinds(p->req);
}

static int find_part(struct prof_parts *parts, size_t slot, const char *host,
		     uint32_t *out)
{
	const size_t oldest = parts->nr > LOOK_BACK ? parts->nr - LOOK_BACK : 0;
	const struct slot_part part = { slot, parts->nr, host };

	for (size_t i = parts->nr; i-- > oldest;) {
		if (parts->part[i].slot != slot ||
		    (host && strcmp(parts->part[i].host, host) != 0))
			continue;
		*out = (uint32_t)i;
		return 0;
	}
	if (parts->nr == UINT32_MAX || GROW(parts->part, parts->nr))
		return -ENOMEM;
	*out = (uint32_t)parts->nr;
	parts->part[parts->nr++] = part;
	return 0;
}

static int by_slot(const void *va, const void *vb)
{
	const struct slot_part *a = va, *b = vb;

	if (a->slot != b->slot)
		return a->slot < b->slot ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int read_sums(struct prof *p, struct prof_parts *parts)
{
	const struct query_epochs *e = &p->sel.epochs;
	uint32_t *of = calloc(e->nr, sizeof(*of));
	int err = of ? 0 : -ENOMEM;

	for (size_t i = 0; i < e->nr && !err; i++)
		err = find_part(parts, prof_slot(p, i),
				p->req->by == BY_HOST ? e->epoch[i].host : NULL,
				&of[i]);
	if (!err)
		err = (has_commands(p) ? query_comm_sums
				       : query_sums)(p->sel.db, &p->sel.query, of,
						     parts->nr, &parts->sums);
	if (!err)
		qsort(parts->part, parts->nr, sizeof(*parts->part), by_slot);
	free(of);
	return err;
}

static void free_parts(struct prof_parts *parts)
{
	if (!parts)
		return;
	query_sums_fini(&parts->sums);
	free(parts->part);
	free(parts);
}

int prof_read_parts(struct prof *p)
{
	struct prof_parts *parts;
	int err;

	if (p->req->by != BY_IMAGE && p->req->by != BY_HOST && !has_commands(p))
		return 0;
	err = prof_make_buckets(p);
	if (err == -EINVAL)
		return err; /* it logged the error */
	parts = err ? NULL : calloc(1, sizeof(*parts));
	err = parts ? read_sums(p, parts) : -ENOMEM;
	if (err) {
		free_parts(parts);
		prof_context_failed(prof_context_kinds(p->req), &p->sel, err);
		return err;
	}
	p->parts = parts;
	return 0;
}

void prof_free_parts(struct prof *p)
{
	free_parts(p->parts);
}

/* Returns the first part of this slot or of a later one. */
static size_t first_of(const struct prof_parts *parts, size_t slot)
{
	size_t low = 0, high = parts->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (parts->part[middle].slot < slot)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the samples have no image and no known command; rows by reason count them. */
static bool is_untold(const struct query_sum *sum)
{
	return !sum->image->id && sum->comm && !strcmp(sum->comm, UNKNOWN_COMM);
}

static int add_sum(struct prof *p, const struct query_sum *sum, const char *host,
		   uint64_t n)
{
	const struct query_stream *s = query_stream_by_id(&p->sel.streams, sum->stream);
	const size_t stream = s ? (size_t)(s - p->sel.streams.stream) : 0;
	struct row_key key = { .kernel = image_kind_is_kernel(sum->image->desc.kind) };

	if (!s || !n || (!sum->comm && !time_source_takes(&p->source, stream)) ||
	    is_untold(sum))
		return 0;
	if (!sum->image->id)
		p->unknown[stream] += n;
	if (sum->image->desc.kind == IMAGE_IDLE)
		return prof_add_idle(p, p->ev.of[stream], n, p->ev.weight[stream]);
	if (host || sum->comm)
		key.context = host         ? host
			      : *sum->comm ? sum->comm
					   : prof_contexts[BY_COMM].missing;
	else
		key.image = sum->image;
	return prof_add_to(p, &key, p->ev.of[stream], n, p->ev.weight[stream]);
}

/* With --by=host: adds a row for the machine of each part. */
static int add_hosts(struct prof *p, size_t from, size_t to)
{
	const struct prof_parts *parts = p->parts;
	int err = 0;

	for (size_t i = from; i < to; i++) {
		const struct slot_part *part = &parts->part[i];
		const struct query_sum_part *list = &parts->sums.part[part->number];

		for (size_t k = 0; k < list->nr && !err; k++)
			err = add_sum(p, &parts->sums.sum[list->sum[k].of], part->host,
				      list->sum[k].n);
	}
	return err;
}

/* Sums up n by sum. */
static void add_up(const struct prof_parts *parts, size_t from, size_t to, uint64_t *n)
{
	for (size_t i = from; i < to; i++) {
		const struct query_sum_part *list =
			&parts->sums.part[parts->part[i].number];

		for (size_t k = 0; k < list->nr; k++)
			n[list->sum[k].of] += list->sum[k].n;
	}
}

/* Adds stored samples of each stream that are in no total by command (imports). */
static int add_without_command(struct prof *p, const uint64_t *n)
{
	const struct row_key key = { .context = prof_contexts[BY_COMM].missing };
	const struct query_sums *sums = &p->parts->sums;
	int err = 0;

	for (size_t i = 0; i < p->sel.streams.nr && !err; i++) {
		const struct query_stream *s = &p->sel.streams.stream[i];
		uint64_t counted = 0;

		for (size_t k = 0; k < sums->nr; k++)
			counted +=
				sums->sum[k].stream == s->id && sums->sum[k].image->id
					? n[k]
					: 0;
		if (s->stored > counted)
			err = prof_add_to(p, &key, p->ev.of[i], s->stored - counted,
					  p->ev.weight[i]);
	}
	return err;
}

int prof_gather_parts(struct prof *p)
{
	const struct prof_parts *parts = p->parts;
	const size_t from = p->whole ? first_of(parts, p->slot) : 0;
	const size_t to = p->whole ? first_of(parts, p->slot + 1) : parts->nr;
	uint64_t *n;
	int err = 0;

	if (p->req->by == BY_HOST)
		return add_hosts(p, from, to);
	n = calloc(parts->sums.nr + 1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	add_up(parts, from, to, n);
	for (size_t i = 0; i < parts->sums.nr && !err; i++)
		err = add_sum(p, &parts->sums.sum[i], NULL, n[i]);
	if (!err && p->req->by == BY_COMM && !p->req->select.image &&
	    !select_has_contexts(&p->sel))
		err = add_without_command(p, n);
	free(n);
	return err;
}
