/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * prof.c - gathers the rows of a selection
 *
 * Rows are made from the profiles of the selection, merged over its epochs, one image
 * and stream at a time; or from totals by context. Samples that no symbol covers go to
 * one row of their image.
 */
#include "config.h"

#include "report/profile/prof.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/progress.h"
#include "db/profile/stacktree.h"
#include "report/profile/prof_context.h"
#include "report/profile/prof_kept.h"
#include "report/profile/prof_parts.h"
#include "report/profile/prof_rows.h"
#include "report/profile/prof_time.h"
#include "report/select/imagecache.h"

const struct prof_context prof_contexts[NR_PROF_BY] = {
	[BY_COMM] = { CONTEXT_COMM, "comm", "command", "[unknown command]" },
	[BY_CGROUP] = { CONTEXT_CGROUP, "cgroup", "cgroup", "[unknown cgroup]" },
	[BY_CONTAINER] = { CONTEXT_CGROUP, "container", "container", "[no container]" },
	[BY_UNIT] = { CONTEXT_CGROUP, "unit", "unit", "[no unit]" },
	[BY_LABEL] = { CONTEXT_LABEL, "label", "label", "[no label]" },
	[BY_PROCESS] = { CONTEXT_PROCESS, "process", "process", "[other processes]" },
	[BY_THREAD] = { CONTEXT_THREAD, "thread", "thread", "[unknown thread]" },
	[BY_HOST] = { 0, "host", "host", "[unknown host]" }, /* from the epoch */
};

struct gather {
	struct prof *p;
	struct image_cache *images;
	struct prof_kept *kept; /* NULL: these rows are not kept */
	struct progress progress;
	int64_t measured; /* the last image whose branch-stack cycles were added */
};

/* Sets the line and the inlined function of key, if the rows distinguish them. */
static void locate(struct gather *g, struct image *image, uint64_t offset,
		   struct row_key *key)
{
	const struct inlined *inlined;
	struct line line;

	if (g->p->req->by == BY_LINE) {
		line = image_line_at(image, offset);
		key->file = line.file;
		key->line = line.line;
	}
	if (g->p->req->inlines)
		key->inlined = image_inlined_at(image, offset, &inlined)
				       ? inlined[0].name
				       : NULL;
}

/* Counts of a profile, in ascending order. */
struct row_part {
	struct profile *counts;
	size_t event;
	bool are_samples; /* false: counts are weights */
	double weight;    /* of one count */
};

static int add_part(struct gather *g, const struct query_profile *q,
		    struct image *image, const struct row_part *part)
{
	struct row_key key = { .image = &q->image,
			       .kernel = image_kind_is_kernel(q->image.desc.kind) };
	const struct symbol *symbol;
	size_t nr;
	const struct count *c = profile_sorted(part->counts, &nr);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		symbol = image ? image_symbol_at(image, c[i].offset) : NULL;
		key.start = prof_row_start(&q->image, symbol);
		key.procedure = symbol ? symbol->name : NO_SYMBOL_NAME;
		if (image)
			locate(g, image, c[i].offset, &key);
		err = prof_add_amount(g->p, &key, part->event,
				      part->are_samples ? c[i].n : 0,
				      (double)c[i].n * part->weight);
	}
	return err;
}

/* Adds weights to the profile if hardware measured the time of the stream. */
static int weigh(struct gather *g, const struct query_profile *q, struct image *image,
		 size_t stream)
{
	const bool is_first = !g->p->ev.of[stream] && g->measured != q->image.id;

	if (is_first)
		g->measured = q->image.id;
	return time_source_weigh(&g->p->source, &q->image, image, stream, is_first,
				 q->profile);
}

/* Adds a profile's counts to rows by procedure or line. */
static int add_counts(struct gather *g, const struct query_profile *q, size_t stream)
{
	const size_t event = g->p->ev.of[stream];
	const double weight = g->p->ev.weight[stream];
	struct row_part part = { q->profile, event, true, weight };
	struct image *image = NULL;
	double unit;
	int err;

	err = image_cache_get(g->images, &q->image, &image);
	if (err == -ENOMEM)
		return err;
	err = g->kept ? prof_kept_image(g->kept, &q->image) : 0;
	if (!err)
		err = weigh(g, q, image, stream);
	if (err)
		return err;
	unit = time_source_unit(&g->p->source, stream, q->profile);
	if (unit > 0)
		part.weight = 0;
	err = add_part(g, q, image, &part);
	for (int w = 0; w < NR_WEIGHTS && unit > 0 && !err; w++) {
		part = (struct row_part){ profile_weights(q->profile, w), event, false,
					  weight / unit };
		if (part.counts)
			err = add_part(g, q, image, &part);
	}
	g->p->has_weights |= unit > 0;
	if (image)
		image_cache_warn_lines(g->images, &q->image, image);
	return err;
}

static struct row_key unknown_row(const char *reason)
{
	return (struct row_key){ .kind = ROW_UNKNOWN,
				 .procedure = reason,
				 .kernel = !strncmp(reason, "kernel_", 7) };
}

static int add_unknown(struct prof *p, const char *reason, size_t event, uint64_t n,
		       double weight)
{
	const struct row_key key = unknown_row(reason);

	if (!time_source_counts(&p->source, event))
		weight = 0;
	return n ? prof_add_to(p, &key, event, n, weight) : 0;
}

/* Samples of the selected contexts that are of no image: one row per reason. */
static int add_reasons(struct prof *p, const struct query_profile *q, size_t event,
		       double weight)
{
	size_t nr;
	const struct count *c = profile_sorted(q->profile, &nr);
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++)
		err = add_unknown(p, stack_unknown_str(c[i].offset), event, c[i].n,
				  weight);
	return err;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct gather *g = ctx;
	const struct query_stream *s =
		query_stream_by_id(&g->p->sel.streams, q->stream);
	const size_t stream = s ? (size_t)(s - g->p->sel.streams.stream) : 0;
	const size_t event = g->p->ev.of[stream];
	const double weight = g->p->ev.weight[stream];

	if (!s || !time_source_takes(&g->p->source, stream))
		return 0;
	if (!q->image.id)
		return add_reasons(g->p, q, event, weight);
	if (q->image.desc.kind == IMAGE_IDLE)
		return prof_add_idle(g->p, event, profile_total(q->profile), weight);
	return add_counts(g, q, stream);
}

static void on_progress(void *ctx, size_t done, size_t all)
{
	struct gather *g = ctx;

	progress_update(&g->progress, done, all);
}

static int read_profiles(struct gather *g)
{
	struct prof *p = g->p;
	struct query_selection query = p->sel.query;
	int err;

	query.unknown = true;
	g->progress = progress_begin("reading images");
	err = query_profiles(p->sel.db, &query, on_profile, g, on_progress);
	progress_end(&g->progress);
	if (err == -CPI_EEMPTY && p->whole)
		err = 0; /* this interval has no samples of the selected contexts */
	return err;
}

/* Rows that an earlier run kept, or else from the profiles. */
static int find_rows(struct gather *g)
{
	int err = prof_kept_open(g->p, g->images, &g->kept);

	if (!err)
		err = g->kept ? prof_kept_load(g->kept, g->p, g->images) : -ENOENT;
	if (err == -ENOENT && g->kept)
		image_cache_follow(g->images, prof_kept_trail(g->kept));
	if (err == -ENOENT) {
		err = read_profiles(g);
		if (!err && g->kept)
			prof_kept_save(g->kept, g->p);
	}
	prof_kept_close(g->kept);
	return err;
}

static int gather_profiles(struct prof *p)
{
	struct gather g = { .p = p };
	int err;

	g.images = image_cache_new(p->sel.db, machine_of(select_newest(&p->sel)->arch),
				   p->quiet         ? IMAGE_WARN_NEVER
				   : p->sel.verbose ? IMAGE_WARN_ALL
						    : IMAGE_WARN_ONE);
	if (!g.images)
		return -ENOMEM;
	err = image_cache_search(g.images, p->req->select.debug_dir,
				 p->req->select.debuginfod);
	if (!err)
		err = find_rows(&g);
	image_cache_free(g.images);
	return err;
}

static bool is_filtered(const struct prof *p)
{
	return p->req->select.image || select_has_contexts(&p->sel);
}

/*
 * Sets the context of key from the name of a context: a line of text for each kind that
 * distinguishes rows. key then points into text and container.
 */
static int name_row(const struct prof *p, const char *context, struct buf *text,
		    struct cgroup_container *container, struct row_key *key)
{
	struct prof_context_name name;

	buf_reset(text);
	for (int by = -1; (by = prof_next_context(p->req, by)) >= 0;) {
		prof_context_name(p->sel.db, by, context, &name);
		buf_printf(text, "%s%s", text->len ? "\n" : "", name.name);
		if (!name.contained)
			continue;
		*container = name.container;
		key->container = container;
	}
	key->context = buf_str(text);
	return text->err;
}

/* Adds stored samples that are not in the totals by command; imports have such. */
static int add_without_context(struct prof *p, const uint64_t *counted,
			       struct buf *text)
{
	struct row_key key = { 0 };
	int err = name_row(p, "", text, NULL, &key);

	for (size_t i = 0; i < p->sel.streams.nr && !err; i++) {
		uint64_t stored = p->sel.streams.stream[i].stored;

		if (stored > counted[i])
			err = prof_add_to(p, &key, p->ev.of[i], stored - counted[i],
					  p->ev.weight[i]);
	}
	return err;
}

static int add_context(struct prof *p, const struct query_comm *c, uint64_t *counted,
		       struct buf *text)
{
	struct row_key key = { .kernel = image_kind_is_kernel(c->image.desc.kind) };
	const struct query_stream *stream;
	struct cgroup_container container;
	double weight;
	size_t event;
	int err;

	if (!events_find(&p->ev, c->stream, &event, &weight) ||
	    (!c->image.id && !prof_context_takes_unknown(c->comm)))
		return 0;
	stream = query_stream_by_id(&p->sel.streams, c->stream);
	(c->image.id ? counted : p->unknown)[stream - p->sel.streams.stream] += c->n;
	if (c->image.desc.kind == IMAGE_IDLE)
		return prof_add_idle(p, event, c->n, weight);
	err = name_row(p, c->comm, text, &container, &key);
	return err ? err : prof_add_to(p, &key, event, c->n, weight);
}

static int gather_contexts(struct prof *p)
{
	struct query_comms comms;
	struct buf text = { 0 };
	uint64_t *counted;
	int err = (p->whole ? prof_context_query_part
			    : prof_context_query)(p->sel.db, &p->sel.query,
						  prof_context_kinds(p->req), &comms);

	if (err)
		return err;
	counted = calloc(p->sel.streams.nr + 1, sizeof(*counted));
	err = counted ? 0 : -ENOMEM;
	for (size_t i = 0; i < comms.nr && !err; i++)
		err = add_context(p, &comms.comm[i], counted, &text);
	if (!err && !is_filtered(p))
		err = add_without_context(p, counted, &text);
	buf_fini(&text);
	free(counted);
	query_comms_fini(&comms);
	return err;
}

/*
 * Adds the samples without an image that are in no row by context: those of the whole
 * selection, minus those in rows by context.
 */
static int gather_unknown(struct prof *p)
{
	const struct query_losses *losses = &p->sel.losses;
	uint64_t *left = calloc(losses->nr + 1, sizeof(*left));
	int err = left ? 0 : -ENOMEM;

	if (!err)
		prof_context_left(&p->sel.streams, losses, p->unknown, left);
	for (size_t i = 0; i < losses->nr && !err; i++) {
		const struct query_loss *l = &losses->loss[i];
		double weight;
		size_t event;

		if (events_find(&p->ev, l->stream, &event, &weight))
			err = add_unknown(p, l->name, event, left[i], weight);
	}
	free(left);
	return err;
}

static bool is_column(const char *key)
{
	static const char *const keys[] = { "time", "samples", "procedure", "image" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strcmp(key, keys[i]))
			return true;
	}
	return false;
}

/* Whether time comes from what hardware measured, so that only one event has it. */
static bool is_measured(const struct prof *p)
{
	return p->req->attribution == ATTRIBUTION_TIP ||
	       p->req->attribution == ATTRIBUTION_PRECISE;
}

/* Chooses the combined time; the first event if none measures time; or --sort. */
static int choose_primary(struct prof *p)
{
	const char *key = p->req->sort;

	p->primary = p->ev.event[0].is_time && !p->req->by_stream ? p->ev.nr : 0;
	if (!is_measured(p))
		evidence_begin(&p->evidence, &p->ev);
	if (!key || is_column(key))
		return 0;
	p->primary = events_named(&p->ev, key);
	return p->primary < p->ev.nr ? 0 : -EINVAL;
}

bool prof_is_one_time(const struct prof *p)
{
	return p->primary == p->ev.nr;
}

bool prof_primary_is_time(const struct prof *p)
{
	return prof_is_one_time(p) || p->ev.event[p->primary].is_time;
}

int prof_gather(struct prof *p)
{
	int err;

	err = events_init(&p->ev, &p->sel.streams, select_newest(&p->sel)->clock_hz);
	if (err) {
		select_failed(&p->sel, err);
		return err;
	}
	err = time_source_open(&p->source, p->req->attribution, &p->sel, &p->ev);
	if (err)
		return err;
	err = choose_primary(p);
	if (err) {
		log_err("--sort=%s: say time, samples, procedure, image, or one of the "
			"selection's events",
			p->req->sort);
		return err;
	}
	p->unknown = calloc(p->sel.streams.nr + 1, sizeof(*p->unknown));
	if (!p->unknown)
		err = -ENOMEM;
	else if (p->parts)
		err = prof_gather_parts(p);
	else
		err = prof_context_kinds(p->req) ? gather_contexts(p)
						 : gather_profiles(p);
	if (!err && !is_filtered(p))
		err = gather_unknown(p);
	if (!err)
		err = prof_sort(p);
	free(p->unknown);
	p->unknown = NULL;
	if (err && err != -ENODATA)
		prof_context_failed(prof_context_kinds(p->req), &p->sel, err);
	return err;
}

/* Whether only the sum over all epochs is needed. */
static bool adds_up(const struct prof_request *req)
{
	return !req->over_time && !req->picture && !req->interval_ns &&
	       req->by != BY_HOST && req->by != BY_CATEGORY;
}

int prof_open(const struct prof_request *req, struct prof *p)
{
	int err;

	memset(p, 0, sizeof(*p));
	p->req = req;
	err = select_open_epochs(&req->select, req->select.epoch,
				 adds_up(req) ? SELECT_SUMS : SELECT_TOGETHER, &p->sel);
	if (err)
		return err;
	if (req->procedure)
		p->procedure_glob = select_glob(req->procedure);
	err = req->procedure && !p->procedure_glob ? -ENOMEM : prof_read_parts(p);
	if (!err)
		err = prof_gather(p);
	if (!err && (req->over_time || req->picture))
		err = prof_over_time(p);
	if (err)
		prof_close(p);
	else
		select_end_read(&p->sel);
	return err;
}

void prof_close(struct prof *p)
{
	prof_free_rows(p);
	prof_free_buckets(p);
	prof_free_parts(p);
	free(p->procedure_glob);
	time_source_close(&p->source);
	events_fini(&p->ev);
	select_close(&p->sel);
}

double prof_percent(const struct prof *p, const struct event_sum *t, size_t event)
{
	double all = p->busy[event].weight;

	if (p->req->idle)
		all += p->idle[event].weight;
	return all > 0 ? 100 * t->weight / all : 0;
}

bool prof_is_shown(const struct prof *p, const struct prof_row *row)
{
	const char *glob = p->procedure_glob;

	if (row->kind == ROW_IDLE && !p->req->idle)
		return false;
	if (!glob)
		return true;
	return row->kind == ROW_PROFILE && row->procedure &&
	       (!fnmatch(glob, row->procedure, 0) ||
		(row->inlined && !fnmatch(glob, row->inlined, 0)));
}
