/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * top_feed.c - computes the new samples of each look
 *
 * Counts in a database only grow, unless an epoch is removed. So the difference between
 * two looks is what was sampled between the two flushes that they requested.
 */
#include "config.h"

#include "report/profile/top_feed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/times.h"
#include "report/profile/prof.h"
#include "report/profile/prof_context.h"
#include "report/profile/top_evidence.h"
#include "report/select/client.h"
#include "report/select/events.h"
#include "report/select/freshness.h"
#include "report/select/imagecache.h"
#include "report/select/select.h"

/* A profile, or a total by name, at the last look. */
struct seen {
	struct hnode node;
	int64_t image, stream;
	char *name;              /* of a context or a loss; NULL for a profile */
	struct profile *profile; /* NULL for a total */
	uint64_t n;
};

struct top_feed {
	struct select_request select;
	char epochs[32];
	struct db *db;             /* only for the images, which stay open */
	struct image_cache *files; /* images whose symbols do not change */
	struct hmap seen;
	struct top_evidence evidence;
	bool began;
	uint64_t looked_ns;
};

/* The state during one look. */
struct look {
	struct top_feed *f;
	struct top *t;
	struct top_facts *facts;
	struct selection sel;
	struct events ev;
	struct evidence evidence;     /* which events measure time */
	struct image_cache *captured; /* images whose symbols may change */
};

static struct seen *seen_of(struct hnode *n)
{
	return container_of(n, struct seen, node);
}

static void seen_free(struct seen *s)
{
	free(s->name);
	profile_free(s->profile);
	free(s);
}

static bool is_seen(const struct seen *s, int64_t image, int64_t stream,
		    const char *name)
{
	return s->image == image && s->stream == stream &&
	       (name ? s->name && !strcmp(s->name, name) : !s->name);
}

/* Finds or makes an entry. Returns NULL when out of memory. */
static struct seen *find_seen(struct top_feed *f, int64_t image, int64_t stream,
			      const char *name)
{
	uint64_t hash = hash_u64(hash_u64(image) ^ (uint64_t)stream);
	struct hnode *n;
	struct seen *s;

	if (name)
		hash = hash_bytes(hash, name, strlen(name));
	for (n = hmap_first(&f->seen, hash); n; n = hmap_next(n)) {
		if (is_seen(seen_of(n), image, stream, name))
			return seen_of(n);
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->image = image;
	s->stream = stream;
	s->name = name ? strdup(name) : NULL;
	if ((name && !s->name) || hmap_insert(&f->seen, &s->node, hash)) {
		seen_free(s);
		return NULL;
	}
	return s;
}

/*
 * Sets *added to how many of n are new: none if the count fell because an epoch was
 * removed.
 */
static int count_new(struct top_feed *f, int64_t image, int64_t stream,
		     const char *name, uint64_t n, uint64_t *added)
{
	struct seen *s = find_seen(f, image, stream, name);

	if (!s)
		return -ENOMEM;
	*added = n > s->n ? n - s->n : 0;
	s->n = n;
	return 0;
}

static int copy_profile(const struct profile *from, struct profile **out)
{
	struct profile *p = profile_new();
	int err = p ? profile_merge(p, from) : -ENOMEM;

	if (err) {
		profile_free(p);
		return err;
	}
	profile_free(*out);
	*out = p;
	return 0;
}

static struct image *open_image(struct look *l, const struct query_image *row)
{
	struct image_cache *cache =
		row->desc.kind == IMAGE_FILE ? l->f->files : l->captured;
	struct image *image = NULL;

	return image_cache_get(cache, row, &image) ? NULL : image;
}

/*
 * Prepares an amount of a stream's samples. Returns false if the stream does not
 * measure time.
 */
static bool is_time(const struct look *l, int64_t stream, struct top_amount *out)
{
	double weight;
	size_t event;

	if (!events_find(&l->ev, stream, &event, &weight) ||
	    !evidence_counts(&l->evidence, event))
		return false;
	*out = (struct top_amount){ .ticks = event > 0,
				    .fresh = l->f->began,
				    .weight = weight };
	return true;
}

static int add_new(struct look *l, const struct query_profile *q,
		   const struct profile *before, struct top_amount *amount)
{
	struct image *image = open_image(l, &q->image);
	const struct symbol *symbol;
	const struct count *c;
	uint64_t old;
	size_t nr;
	int err = 0;

	amount->kernel = image_kind_is_kernel(q->image.desc.kind);
	c = profile_sorted(q->profile, &nr);
	for (size_t i = 0; i < nr && !err; i++) {
		old = before ? profile_at(before, c[i].offset).n : 0;
		if (c[i].n <= old)
			continue;
		symbol = image ? image_symbol_at(image, c[i].offset) : NULL;
		amount->n = c[i].n - old;
		err = top_evidence_add(&l->f->evidence, TOP_PROCEDURE,
				       symbol ? symbol->name : NO_SYMBOL_NAME,
				       q->image.desc.name, amount);
	}
	return err;
}

static int on_profile(void *ctx, const struct query_profile *q)
{
	struct look *l = ctx;
	struct seen *s = find_seen(l->f, q->image.id, q->stream, NULL);
	const uint64_t total = profile_total(q->profile);
	struct top_amount amount;
	int err = 0;

	if (!s)
		return -ENOMEM;
	if (!is_time(l, q->stream, &amount) || total == s->n)
		return 0;
	if (l->f->began && total > s->n)
		l->facts->nr_samples += total - s->n;
	if (total > s->n && q->image.desc.kind != IMAGE_IDLE)
		err = add_new(l, q, s->profile, &amount);
	else if (total > s->n && l->f->began && !amount.ticks)
		top_add_idle(l->t, (total - s->n) * amount.weight);
	s->n = total;
	return err ? err : copy_profile(q->profile, &s->profile);
}

/* A kind of contexts, and how its rows are named. */
struct top_contexts {
	enum context_kind kind;
	struct {
		enum top_by row;
		enum prof_by name;
	} by[2];
	size_t nr;
};

/* A container's name with its id, because several containers may have one name. */
static const char *row_name(const struct prof_context_name *of, struct buf *out)
{
	if (!of->contained || !*of->container.name)
		return of->name;
	buf_printf(out, "%s (%s)", of->container.name, of->container.id);
	return buf_str(out);
}

/* Adds the new samples of a context in an image to each of the context's rows. */
static int add_context(struct look *l, const struct top_contexts *of,
		       const struct query_comm *c)
{
	struct prof_context_name name;
	struct top_amount amount;
	struct buf key = { 0 }, label = { 0 };
	const char *row;
	int err;

	if (c->image.desc.kind == IMAGE_IDLE || !is_time(l, c->stream, &amount))
		return 0;
	amount.kernel = image_kind_is_kernel(c->image.desc.kind);
	/* The kind is part of the key, because a context is read once for each kind. */
	buf_printf(&key, "%s\n%s", context_kind_str(of->kind), c->comm);
	buf_str(&key);
	err = key.err ? key.err
		      : count_new(l->f, c->image.id, c->stream, key.data, c->n,
				  &amount.n);
	buf_fini(&key);
	for (size_t i = 0; !err && amount.n && i < of->nr; i++) {
		prof_context_name(l->sel.db, of->by[i].name, c->comm, &name);
		buf_reset(&label);
		row = row_name(&name, &label);
		err = label.err ? label.err
				: top_evidence_add(&l->f->evidence, of->by[i].row, row,
						   NULL, &amount);
	}
	buf_fini(&label);
	return err;
}

static int look_at_contexts(struct look *l, const struct top_contexts *of)
{
	struct query_comms comms;
	int err = prof_context_query(l->sel.db, &l->sel.query, 1u << of->kind, &comms);

	if (err)
		return err;
	for (size_t i = 0; i < comms.nr && !err; i++)
		err = add_context(l, of, &comms.comm[i]);
	query_comms_fini(&comms);
	return err;
}

const char *top_feed_missing(const struct top_facts *facts, enum top_by by)
{
	if (by == TOP_THREAD && facts->no_threads)
		return "no profiles by thread: start cpid with --by comm,cgroup,thread";
	if ((by == TOP_CONTAINER || by == TOP_UNIT) && facts->no_cgroups)
		return "no profiles by cgroup: start cpid without --by, or with --by "
		       "cgroup";
	return NULL;
}

static int look_at_optional(struct look *l, const struct top_contexts *of,
			    bool *missing)
{
	const int err = look_at_contexts(l, of);

	*missing = err == -CPI_EEMPTY && l->facts->nr_samples;
	return err == -CPI_EEMPTY ? 0 : err;
}

static int look_at_all_contexts(struct look *l)
{
	static const struct top_contexts comms = { CONTEXT_COMM,
						   { { TOP_COMM, BY_COMM } },
						   1 };
	static const struct top_contexts cgroups = { CONTEXT_CGROUP,
						     { { TOP_CONTAINER, BY_CONTAINER },
						       { TOP_UNIT, BY_UNIT } },
						     2 };
	static const struct top_contexts threads = { CONTEXT_THREAD,
						     { { TOP_THREAD, BY_THREAD } },
						     1 };
	int err = look_at_contexts(l, &comms);

	if (!err)
		err = look_at_optional(l, &cgroups, &l->facts->no_cgroups);
	return err ? err : look_at_optional(l, &threads, &l->facts->no_threads);
}

/*
 * Adds samples without an image, one row per reason, unless an image or a context was
 * selected.
 */
static int look_at_losses(struct look *l)
{
	const bool filtered = l->sel.query.image || select_has_contexts(&l->sel);
	struct top_amount amount = { 0 };
	char name[64];
	uint64_t added;
	int err = 0;

	for (size_t i = 0; i < l->sel.losses.nr && !err; i++) {
		const struct query_loss *loss = &l->sel.losses.loss[i];

		snprintf(name, sizeof(name), "[unknown %s]", loss->name);
		err = count_new(l->f, -1, loss->stream, name, loss->n, &added);
		if (err || !added)
			continue;
		if (loss->class != LOSS_UNKNOWN) {
			l->facts->nr_lost += l->f->began ? added : 0;
			continue;
		}
		if (filtered || !is_time(l, loss->stream, &amount))
			continue;
		amount.n = added;
		amount.kernel = !strncmp(loss->name, "kernel_", 7);
		l->facts->nr_samples += l->f->began ? added : 0;
		err = top_evidence_add(&l->f->evidence, TOP_PROCEDURE, name, NULL,
				       &amount);
	}
	return err;
}

static void put_clean(char *out, size_t size, const char *text)
{
	struct buf b = { 0 };

	text_put_clean(&b, text);
	snprintf(out, size, "%s", buf_str(&b));
	buf_fini(&b);
}

/* Asks cpid to store. Without that, samples would appear a minute late. */
static void have_it_stored(struct top_feed *f, struct top_facts *facts)
{
	struct buf why = { 0 };
	int err = freshness_store(f->select.socket, db_path(f->db), CLIENT_PATIENCE_NS,
				  &why);

	facts->stale[0] = '\0';
	if (client_is_absent(err) || err == -EXDEV)
		snprintf(facts->stale, sizeof(facts->stale),
			 "%s: nothing new will come", buf_str(&why));
	else if (err)
		snprintf(facts->stale, sizeof(facts->stale),
			 "%s: new samples come when it flushes by itself",
			 buf_str(&why));
	buf_fini(&why);
}

static int read_all(struct look *l)
{
	const struct query_epoch *e = select_newest(&l->sel);
	int err = events_init(&l->ev, &l->sel.streams, e->clock_hz);

	if (err)
		return err;
	put_clean(l->facts->host, sizeof(l->facts->host), e->host);
	evidence_begin(&l->evidence, &l->ev);
	put_clean(l->facts->event, sizeof(l->facts->event), l->ev.event[0].name);
	if (l->evidence.both)
		strncat(l->facts->event, " and " EVENT_TICKS,
			sizeof(l->facts->event) - strlen(l->facts->event) - 1);
	l->facts->nr_cpus = e->nr_cpus;
	l->captured = image_cache_new(l->sel.db, machine_of(e->arch), IMAGE_WARN_NEVER);
	err = l->captured
		      ? query_profiles(l->sel.db, &l->sel.query, on_profile, l, NULL)
		      : -ENOMEM;
	if (!err)
		err = look_at_all_contexts(l);
	if (!err)
		err = look_at_losses(l);
	if (!err)
		err = top_evidence_put(&l->f->evidence, &l->ev, l->t);
	image_cache_free(l->captured);
	events_fini(&l->ev);
	return err;
}

int top_feed_look(struct top_feed *f, struct top *t, struct top_facts *facts)
{
	struct look l = { .f = f, .t = t, .facts = facts };
	uint64_t now;
	int err;

	have_it_stored(f, facts);
	now = time_mono_ns();
	facts->elapsed_ns = f->began ? now - f->looked_ns : 0;
	facts->nr_samples = facts->nr_lost = 0;
	f->looked_ns = now;
	err = select_open(&f->select, &l.sel);
	if (err)
		return err;
	top_begin(t);
	err = read_all(&l);
	if (err == -CPI_EEMPTY && !select_has_contexts(&l.sel))
		err = 0; /* an epoch without samples so far */
	if (err)
		select_failed(&l.sel, err);
	f->began = true;
	select_close(&l.sel);
	return err;
}

const char *top_feed_epochs(const struct top_feed *f)
{
	return f->epochs;
}

const char *top_feed_db(const struct top_feed *f)
{
	return db_path(f->db);
}

/* Selects the newest epoch and later ones, and opens the database for the images. */
static int begin(struct top_feed *f)
{
	struct selection sel;
	int err;

	f->select.epoch = "last";
	err = select_open(&f->select, &sel);
	if (err)
		return err;
	snprintf(f->epochs, sizeof(f->epochs), "%" PRId64 "..",
		 select_newest(&sel)->id);
	f->select.epoch = f->epochs;
	err = select_open_db(&f->select, DB_READ, &f->db);
	if (!err) {
		f->files = image_cache_new(f->db, machine_of(select_newest(&sel)->arch),
					   IMAGE_WARN_NEVER);
		err = f->files ? 0 : -ENOMEM;
	}
	select_close(&sel);
	return err;
}

int top_feed_open(const struct select_request *req, struct top_feed **out)
{
	struct top_feed *f = calloc(1, sizeof(*f));
	int err;

	if (!f)
		return -ENOMEM;
	f->select = *req;
	f->select.as_stored = true; /* each look requests its own flush */
	f->select.daemons = true;
	err = begin(f);
	if (err)
		top_feed_close(f);
	else
		*out = f;
	return err;
}

void top_feed_close(struct top_feed *f)
{
	struct hnode *n, *next;

	if (!f)
		return;
	hmap_for_each (&f->seen, n, next)
		seen_free(seen_of(n));
	hmap_fini(&f->seen);
	top_evidence_fini(&f->evidence);
	image_cache_free(f->files);
	db_close(f->db);
	free(f);
}
