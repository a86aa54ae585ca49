/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * matrix.c - the rows of a selection, and the offsets that belong to them
 */
#include "config.h"

#include "report/compare/matrix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/progress.h"
#include "db/profile/stacktree.h"
#include "report/compare/matrix_evidence.h"
#include "report/compare/matrix_rows.h"
#include "report/compare/matrix_spans.h"
#include "report/profile/prof.h"
#include "report/profile/prof_context.h"
#include "report/select/imagecache.h"

struct row_naming {
	struct matrix *m;
	int side;
	const struct events *ev;
	struct image_cache *images;
	struct progress progress;
	uint64_t image_hash; /* of the current image */
};

/* A name made from an offset does not identify a procedure in another build. */
static uint64_t owner_of(uint64_t image_hash, const char *procedure)
{
	return procedure && *procedure == '[' ? image_hash : 0;
}

/* Finds the row of an offset; *place becomes the place of its code. */
static int row_at(struct row_naming *g, const struct query_profile *q,
		  struct image *image, uint64_t offset, struct matrix_row **out,
		  struct matrix_place *place)
{
	struct matrix_key key = { .image = q->image.desc.name };
	const struct symbol *symbol = NULL;
	struct line line;

	*place = (struct matrix_place){ q->image.id, g->image_hash, 0, 0 };
	if (g->m->by == BY_IMAGE)
		return matrix_row(g->m, &key, true, out);
	if (image)
		symbol = image_symbol_at(image, offset);
	if (symbol)
		*place = (struct matrix_place){ q->image.id, g->image_hash,
						symbol->start, symbol->end };
	key.procedure = symbol ? symbol->name : NO_SYMBOL_NAME;
	if (image && g->m->by == BY_LINE) {
		line = image_line_at(image, offset);
		key.file = line.file;
		key.line = line.line;
	}
	if (symbol)
		key.image_hash = owner_of(g->image_hash, key.procedure);
	return matrix_row(g->m, &key, true, out);
}

static int name_counts(struct row_naming *g, const struct query_profile *q,
		       size_t event, double weight)
{
	const bool kernel = image_kind_is_kernel(q->image.desc.kind);
	struct matrix_row *row;
	struct matrix_place place;
	struct image *image = NULL;
	struct matrix_spans *spans;
	const struct count *c;
	size_t nr;
	int err;

	err = g->m->by == BY_IMAGE ? 0 : image_cache_get(g->images, &q->image, &image);
	if (err == -ENOMEM)
		return err;
	g->image_hash = image_desc_hash(&q->image.desc);
	c = profile_sorted(q->profile, &nr);
	err = matrix_spans_add(&g->m->spans, g->side, q->image.id, q->stream, &spans);
	for (size_t i = 0; i < nr && !err; i++) {
		err = row_at(g, q, image, c[i].offset, &row, &place);
		if (err)
			break;
		matrix_sums_add(&row->sums[g->side], &g->m->totals[g->side], event,
				kernel, (double)c[i].n, weight);
		if (!row->place[g->side].image)
			row->place[g->side] = place;
		err = matrix_spans_put(spans, c[i].offset, row->index);
	}
	return err;
}

/* The state while a column is read, or, with time NULL, while rows are named. */
struct column_reading {
	struct matrix *m;
	struct db *db; /* has names of containers */
	int side;
	const struct events *ev;
	int64_t epoch;
	struct matrix_sums *sums; /* by row */
	double *time;
	struct matrix_totals totals;
	/* While contexts are added, by stream: samples of images, and of none. */
	uint64_t *counted, *unknown;
};

/* Takes samples without an offset. */
static int add_placeless(struct column_reading *r, const struct matrix_key *key,
			 int64_t stream, bool kernel, uint64_t n)
{
	struct matrix_row *row;
	double weight;
	size_t event;
	int err;

	if (!events_find(r->ev, stream, &event, &weight) ||
	    !evidence_counts(&r->m->evidence[r->side], event))
		return 0;
	err = matrix_row(r->m, key, !r->sums, &row);
	if (err)
		return err == -ENOENT ? 0 : err;
	matrix_sums_add(r->sums ? &r->sums[row->index] : &row->sums[r->side],
			r->sums ? &r->totals : &r->m->totals[r->side], event, kernel,
			(double)n, weight);
	return 0;
}

static int add_unknown(struct column_reading *r, const char *reason, int64_t stream,
		       uint64_t n)
{
	const struct matrix_key key = { .unknown = true, .procedure = reason };

	return n ? add_placeless(r, &key, stream, !strncmp(reason, "kernel_", 7), n)
		 : 0;
}

/* Adds the selected contexts' samples without an image: one row per reason. */
static int add_reasons(struct column_reading *r, const struct query_profile *q)
{
	size_t nr;
	const struct count *c = profile_sorted(q->profile, &nr);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = add_unknown(r, stack_unknown_str(c[i].offset), q->stream, c[i].n);
	return err;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct row_naming *g = ctx;
	struct column_reading r = { .m = g->m, .side = g->side, .ev = g->ev };
	double weight;
	size_t event;

	if (!q->image.id)
		return add_reasons(&r, q);
	if (q->image.desc.kind == IMAGE_IDLE ||
	    !events_find(g->ev, q->stream, &event, &weight) ||
	    !evidence_counts(&g->m->evidence[g->side], event))
		return 0;
	return name_counts(g, q, event, weight);
}

static void on_progress(void *ctx, size_t done, size_t all)
{
	struct row_naming *g = ctx;

	progress_update(&g->progress, done, all);
}

/*
 * An image's samples need no offsets, and so no blobs. But those of selected contexts
 * that have no image are in profiles, too, where the offset is the reason.
 */
static bool takes_totals(const struct matrix *m, const struct selection *sel)
{
	return m->by == BY_IMAGE && !m->on_count && !select_has_contexts(sel);
}

static int name_profiles(struct row_naming *g, const struct selection *sel)
{
	struct query_selection query = sel->query;
	int err;

	query.totals = takes_totals(g->m, sel);
	query.unknown = !query.totals;
	g->images = image_cache_new(sel->db, machine_of(select_newest(sel)->arch),
				    !g->m->warn    ? IMAGE_WARN_NEVER
				    : sel->verbose ? IMAGE_WARN_ALL
						   : IMAGE_WARN_ONE);
	if (!g->images)
		return -ENOMEM;
	g->progress = progress_begin("reading images");
	err = query_profiles(sel->db, &query, on_profile, g, on_progress);
	progress_end(&g->progress);
	image_cache_free(g->images);
	return err;
}

static int add_context(struct column_reading *r, const struct query_streams *streams,
		       const struct query_comm *c)
{
	const struct query_stream *s = query_stream_by_id(streams, c->stream);
	struct matrix_key key = { 0 };
	struct prof_context_name name;

	if (!c->image.id && !prof_context_takes_unknown(c->comm))
		return 0;
	if (s)
		(c->image.id ? r->counted : r->unknown)[s - streams->stream] += c->n;
	if (c->image.desc.kind == IMAGE_IDLE)
		return 0;
	prof_context_name(r->db, r->m->by, c->comm, &name);
	key.context = name.name;
	key.container = name.contained ? &name.container : NULL;
	return add_placeless(r, &key, c->stream,
			     image_kind_is_kernel(c->image.desc.kind), c->n);
}

/* Takes samples that are stored but missing in the totals by command (imports). */
static int add_without_context(struct column_reading *r,
			       const struct query_streams *streams)
{
	const struct matrix_key key = { .context = prof_contexts[r->m->by].missing };
	int err = 0;

	for (size_t i = 0; i < streams->nr && !err; i++) {
		const struct query_stream *s = &streams->stream[i];

		if (s->stored > r->counted[i])
			err = add_placeless(r, &key, s->id, false,
					    s->stored - r->counted[i]);
	}
	return err;
}

/*
 * Reads the contexts of the selection or of one epoch, which may have no such profiles.
 */
static int add_contexts(struct column_reading *r, const struct selection *sel,
			const struct query_selection *query,
			const struct query_streams *streams)
{
	struct query_comms comms = { 0 };
	int err = (r->sums ? prof_context_query_part
			   : prof_context_query)(sel->db, query,
						 prof_context_kind(r->m->by), &comms);

	for (size_t i = 0; i < comms.nr && !err; i++)
		err = add_context(r, streams, &comms.comm[i]);
	if (!err && !query->image && !query_restricted_kinds(query))
		err = add_without_context(r, streams);
	query_comms_fini(&comms);
	return err;
}

/* Samples without an image that no row by context has. */
static int add_losses(struct column_reading *r, const struct query_streams *streams,
		      const struct query_losses *l)
{
	uint64_t *left = calloc(l->nr + 1, sizeof(*left));
	int err = left ? 0 : -ENOMEM;

	if (!err)
		prof_context_left(streams, l, r->unknown, left);
	for (size_t i = 0; i < l->nr && !err; i++)
		err = add_unknown(r, l->loss[i].name, l->loss[i].stream, left[i]);
	free(left);
	return err;
}

/* Adds the samples without an image, and those without an offset. */
static int add_others(struct column_reading *r, const struct selection *sel,
		      const struct query_selection *query,
		      const struct query_streams *streams, const struct query_losses *l)
{
	int err = 0;

	r->counted = calloc(2 * streams->nr + 1, sizeof(*r->counted));
	if (!r->counted)
		return -ENOMEM;
	r->unknown = r->counted + streams->nr;
	if (prof_contexts[r->m->by].name)
		err = add_contexts(r, sel, query, streams);
	if (!err && !sel->query.image && !select_has_contexts(sel))
		err = add_losses(r, streams, l);
	free(r->counted);
	return err;
}

int matrix_name(struct matrix *m, int side, const struct selection *sel,
		const struct events *ev)
{
	struct row_naming g = { .m = m, .side = side, .ev = ev };
	struct column_reading r = { .m = m, .db = sel->db, .side = side, .ev = ev };
	int err = 0;

	evidence_begin(&m->evidence[side], ev);
	m->named[side] = true;
	m->sample[side] = events_sample(ev, 0);
	if (!prof_contexts[m->by].name)
		err = name_profiles(&g, sel);
	return err ? err
		   : add_others(&r, sel, &sel->query, &sel->streams, &sel->losses);
}

static int on_epoch_profile(void *ctx, const struct query_profile *q)
{
	struct column_reading *r = ctx;
	struct matrix_spans *spans;
	struct matrix_count count;
	const struct count *c;
	double weight;
	size_t event, row, nr;
	bool kernel;

	if (!q->image.id)
		return add_reasons(r, q);
	if (q->image.desc.kind == IMAGE_IDLE ||
	    !events_find(r->ev, q->stream, &event, &weight) ||
	    !evidence_counts(&r->m->evidence[r->side], event))
		return 0;
	kernel = image_kind_is_kernel(q->image.desc.kind);
	spans = matrix_spans_find(&r->m->spans, r->side, q->image.id, q->stream);
	c = profile_sorted(q->profile, &nr);
	for (size_t i = 0, at = 0; spans && i < nr; i++) {
		if (!matrix_spans_next(spans, c[i].offset, &at, &row))
			continue;
		count = (struct matrix_count){ r->epoch, q->image.id, c[i].offset, row,
					       c[i].n * weight };
		matrix_sums_add(&r->sums[row], &r->totals, event, kernel,
				(double)c[i].n, weight);
		if (r->m->on_count)
			r->m->on_count(r->m->on_count_ctx, &count);
	}
	return 0;
}

static int read_others(struct column_reading *r, const struct selection *sel,
		       const struct query_selection *query)
{
	struct query_streams streams;
	struct query_losses losses;
	int err = query_streams(sel->db, query->epochs, query->event, &streams);

	if (err)
		return err;
	err = query_losses(sel->db, query->epochs, &losses);
	if (!err) {
		err = add_others(r, sel, query, &streams, &losses);
		query_losses_fini(&losses);
	}
	query_streams_fini(&streams);
	return err;
}

static int read_column(struct column_reading *r, const struct selection *sel,
		       const struct query_epochs *one)
{
	struct query_selection query = sel->query;
	int err = 0;

	query.epochs = one;
	query.totals = takes_totals(r->m, sel);
	query.unknown = !query.totals;
	if (!prof_contexts[r->m->by].name)
		err = query_profiles(sel->db, &query, on_epoch_profile, r, NULL);
	if (err == -CPI_EEMPTY && !one->epoch->samples)
		err = 0; /* not even the selected contexts have samples in it */
	return err ? err : read_others(r, sel, &query);
}

double matrix_seconds(const struct query_epoch *epoch)
{
	const uint64_t ns =
		epoch->to_ns > epoch->from_ns ? epoch->to_ns - epoch->from_ns : 1;

	return ns / 1e9;
}

static int hand_out(const struct column_reading *r, const struct query_epoch *epoch,
		    matrix_fn fn, void *ctx)
{
	struct matrix_column column = { .epoch = epoch,
					.side = r->side,
					.seconds = matrix_seconds(epoch),
					.time = r->time };

	int err = matrix_take_column(r->m, r->side, r->sums, &r->totals, r->time,
				     &column.sample);

	for (size_t i = 0; i < r->m->nr_rows; i++)
		column.total += r->time[i];
	return err ? err : fn(ctx, &column);
}

int matrix_each(struct matrix *m, int side, const struct selection *sel,
		const struct events *ev, matrix_fn fn, void *ctx)
{
	struct progress progress = progress_begin("reading epochs");
	struct column_reading r = { .m = m, .db = sel->db, .side = side, .ev = ev };
	int err = 0;

	r.time = calloc(m->nr_rows + 1, sizeof(*r.time));
	r.sums = calloc(m->nr_rows + 1, sizeof(*r.sums));
	err = r.time && r.sums ? 0 : -ENOMEM;
	for (size_t i = 0; i < sel->epochs.nr && !err; i++) {
		const struct query_epochs one = { &sel->epochs.epoch[i], 1 };

		memset(r.sums, 0, m->nr_rows * sizeof(*r.sums));
		r.totals = (struct matrix_totals){ 0 };
		r.epoch = one.epoch->id;
		err = read_column(&r, sel, &one);
		if (!err)
			err = hand_out(&r, one.epoch, fn, ctx);
		progress_update(&progress, i + 1, sel->epochs.nr);
	}
	progress_end(&progress);
	free(r.time);
	free(r.sums);
	return err;
}

void matrix_init(struct matrix *m, int by, bool warn)
{
	memset(m, 0, sizeof(*m));
	m->by = by;
	m->warn = warn;
}

void matrix_fini(struct matrix *m)
{
	matrix_rows_fini(m);
	matrix_spans_fini(&m->spans);
	memset(m, 0, sizeof(*m));
}
