/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * outbox.c - a queue of flushes, epochs and marks, and names of containers
 *
 * Items leave in the order in which they came, with one exception: a flush that the
 * open epoch can never take is moved after the beginning of the next epoch. Names of
 * containers are stored before the items, all in one transaction.
 */
#include "config.h"

#include "daemon/store/outbox.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/log.h"
#include "daemon/store/outbox_private.h"

struct outbox {
	struct item *first, **end;
	uint64_t seq; /* number of the last flush */
	int nr_marks;
	uint64_t nr_dropped_marks;
	struct store_container *container;
	size_t nr_containers;
};

struct outbox *outbox_new(void)
{
	struct outbox *o = calloc(1, sizeof(*o));

	if (o)
		o->end = &o->first;
	return o;
}

/* These return NULL if the item is of another kind. */
static struct flush_item *flush_of(struct item *i)
{
	return i->kind == ITEM_FLUSH ? container_of(i, struct flush_item, item) : NULL;
}

static struct mark_item *mark_of(struct item *i)
{
	return i->kind == ITEM_MARK ? container_of(i, struct mark_item, item) : NULL;
}

static void remove_first(struct outbox *o)
{
	struct item *i = o->first;

	o->first = i->next;
	if (!o->first)
		o->end = &o->first;
	switch (i->kind) {
	case ITEM_FLUSH:
		flush_item_free(flush_of(i));
		break;
	case ITEM_MARK:
		o->nr_marks--;
		free(mark_of(i));
		break;
	case ITEM_EPOCH:
		free(container_of(i, struct epoch_item, item));
	}
}

void outbox_free(struct outbox *o)
{
	while (o && o->first)
		remove_first(o);
	if (o)
		free(o->container);
	free(o);
}

static void append(struct outbox *o, struct item *i)
{
	*o->end = i;
	o->end = &i->next;
}

int outbox_add_epoch(struct outbox *o, uint64_t now_ns, uint32_t uncertainty_ms,
		     const char *label)
{
	struct epoch_item *e = calloc(1, sizeof(*e) + (label ? strlen(label) : 0) + 1);

	if (!e)
		return -ENOMEM;
	e->item.kind = ITEM_EPOCH;
	e->now_ns = now_ns;
	e->uncertainty_ms = uncertainty_ms;
	if (label)
		strcpy(e->label, label);
	append(o, &e->item);
	return 0;
}

int outbox_add_mark(struct outbox *o, uint64_t at_ns, const char *text)
{
	struct mark_item *m;

	if (o->nr_marks >= OUTBOX_MAX_MARKS)
		return -ENOBUFS;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->item.kind = ITEM_MARK;
	m->at_ns = at_ns;
	snprintf(m->text, sizeof(m->text), "%s", text);
	append(o, &m->item);
	o->nr_marks++;
	return 0;
}

uint64_t outbox_dropped_marks(const struct outbox *o)
{
	return o->nr_dropped_marks;
}

int outbox_add_container(struct outbox *o, uint64_t at_ns, const char *id,
			 const char *name)
{
	struct store_container *c;

	if (o->nr_containers >= OUTBOX_MAX_CONTAINERS)
		return -ENOBUFS;
	if (GROW(o->container, o->nr_containers))
		return -ENOMEM;
	c = &o->container[o->nr_containers++];
	c->at_ns = at_ns;
	snprintf(c->id, sizeof(c->id), "%s", id);
	snprintf(c->name, sizeof(c->name), "%s", name);
	return 0;
}

int outbox_add_flush(struct outbox *o, const struct outbox_flush *in)
{
	struct flush_item *f;
	int err = flush_item_new(in, o->seq + 1, &f);

	if (err)
		return err;
	o->seq++;
	append(o, &f->item);
	return 0;
}

static int store_item(struct item *i, struct store *s)
{
	const struct flush_item *f = flush_of(i);
	const struct mark_item *m = mark_of(i);
	const struct epoch_item *e;

	if (f)
		return store_flush(s, &f->flush);
	if (m)
		return store_mark(s, m->at_ns, m->text);
	e = container_of(i, struct epoch_item, item);
	return store_epoch(s, e->now_ns, e->uncertainty_ms, e->label);
}

/*
 * Drops the first item if it is a mark, because a damaged table of marks must not block
 * samples. Returns whether it was dropped.
 */
static bool drop_mark(struct outbox *o, int err)
{
	const struct mark_item *m = mark_of(o->first);

	if (!m)
		return false;
	o->nr_dropped_marks++;
	log_err("outbox: the mark '%s' cannot be stored: %s", m->text, err_str(err));
	remove_first(o);
	return true;
}

/*
 * Moves the next waiting epoch before the first item, a flush. This is done once for
 * each flush, so that a flush that always fails does not pull up the epochs of later
 * flushes. Returns false if there is no epoch, or it was done before.
 */
static bool move_to_next_epoch(struct outbox *o)
{
	struct flush_item *flush = flush_of(o->first);
	struct item **at = &o->first->next, *epoch;

	if (!flush || flush->has_moved)
		return false;
	while (*at && (*at)->kind != ITEM_EPOCH)
		at = &(*at)->next;
	epoch = *at;
	if (!epoch)
		return false;
	*at = epoch->next;
	if (!*at)
		o->end = at;
	epoch->next = o->first;
	o->first = epoch;
	flush->has_moved = true;
	return true;
}

/* Names that a damaged table refuses are dropped, too. */
static int store_names(struct outbox *o, struct store *s)
{
	int err = o->nr_containers ? store_containers(s, o->container, o->nr_containers)
				   : 0;

	if (err && !err_is_lasting(err))
		return err;
	if (err)
		log_err("outbox: %zu names of containers cannot be stored: %s",
			o->nr_containers, err_str(err));
	free(o->container);
	o->container = NULL;
	o->nr_containers = 0;
	return 0;
}

int outbox_store(struct outbox *o, struct store *s)
{
	int err = store_names(o, s);

	if (err)
		return err;
	while (o->first) {
		err = store_item(o->first, s);

		assert(err != -EINVAL); /* -EINVAL: our own counts are inconsistent */
		if (err_is_lasting(err) && (drop_mark(o, err) || move_to_next_epoch(o)))
			continue;
		if (err)
			return err;
		remove_first(o);
	}
	return 0;
}

size_t outbox_memory(const struct outbox *o)
{
	size_t bytes = o->nr_containers * sizeof(*o->container);

	for (struct item *i = o->first; i; i = i->next) {
		const struct flush_item *f = flush_of(i);

		bytes += f            ? flush_item_memory(f)
			 : mark_of(i) ? sizeof(struct mark_item)
				      : sizeof(struct epoch_item);
	}
	return bytes;
}

uint64_t outbox_nr_samples(const struct outbox *o, int event)
{
	uint64_t n = 0;

	for (struct item *i = o->first; i; i = i->next) {
		const struct flush_item *f = flush_of(i);

		if (!f)
			continue;
		n += f->flush.streams[event].received;
		for (int l = 0; l < NR_LOSSES; l++)
			n -= f->tally->loss[event][l];
	}
	return n;
}

void outbox_mark_images(const struct outbox *o)
{
	for (struct item *i = o->first; i; i = i->next) {
		const struct flush_item *f = flush_of(i);

		if (!f)
			continue;
		tally_mark_images(f->tally);
		if (f->stacks.tally)
			stacktally_mark_images(f->stacks.tally);
		if (f->windows.tally)
			windowtally_mark_images(f->windows.tally);
	}
}
