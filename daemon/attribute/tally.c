/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tally.c - profiles by image, event and context, in hash maps
 *
 * A run of entries is added to one profile at once, with one look-up in the maps. The
 * memory in use is updated at each addition, because tally_memory() is called often.
 * Samples for which there is no memory are lost as no_space.
 */
#include "config.h"

#include "daemon/attribute/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/rates.h"
#include "base/hash.h"

struct tally *tally_new(void)
{
	return calloc(1, sizeof(struct tally));
}

/* Frees the profiles and the totals that count the same samples. */
static void free_profiles(struct tally *t)
{
	struct hnode *n, *next;

	tally_free_edges(t);
	hmap_for_each (&t->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		t->memory -= sizeof(*p) + profile_memory(p->profile);
		hmap_remove(&t->profiles, n);
		profile_free(p->profile);
		free(p);
	}
	hmap_for_each (&t->contexts, n, next) {
		struct tally_context *c = container_of(n, struct tally_context, node);

		t->memory -= sizeof(*c) + strlen(c->name);
		hmap_remove(&t->contexts, n);
		free(c);
	}
	hmap_for_each (&t->comms, n, next) {
		struct tally_comm *c = container_of(n, struct tally_comm, node);

		if (!c->image) /* the total counts losses, so it is kept */
			continue;
		t->memory -= sizeof(*c);
		hmap_remove(&t->comms, n);
		free(c);
	}
}

void tally_free(struct tally *t)
{
	struct hnode *n, *next;

	if (!t)
		return;
	free_profiles(t);
	hmap_for_each (&t->comms, n, next) {
		hmap_remove(&t->comms, n);
		free(container_of(n, struct tally_comm, node));
	}
	hmap_fini(&t->profiles);
	hmap_fini(&t->contexts);
	hmap_fini(&t->comms);
	hmap_fini(&t->edges);
	free(t);
}

static struct tally_context *find_context(const struct tally *t, const char *name,
					  uint64_t hash)
{
	for (struct hnode *n = hmap_first(&t->contexts, hash); n; n = hmap_next(n)) {
		struct tally_context *c = container_of(n, struct tally_context, node);

		if (!strcmp(c->name, name))
			return c;
	}
	return NULL;
}

static struct tally_context *new_context(struct tally *t, const char *name, size_t len,
					 uint64_t hash)
{
	struct tally_context *c = malloc(sizeof(*c) + len + 1);

	if (!c)
		return NULL;
	c->other = false;
	memcpy(c->name, name, len + 1);
	if (hmap_insert(&t->contexts, &c->node, hash)) {
		free(c);
		return NULL;
	}
	t->memory += sizeof(*c) + len;
	return c;
}

/*
 * Returns the context with these values, which lives as long as the profiles. Beyond
 * TALLY_CONTEXTS it returns one that takes the samples of further contexts. NULL: no
 * memory.
 */
static const struct tally_context *get_context(struct tally *t,
					       const char *const *values)
{
	char name[CONTEXT_NAME_SIZE];
	struct tally_context *c = NULL;

	for (int try = 0; !c && try < CONTEXT_TRIES; try++) {
		const size_t len = context_make_try(values, try, name);
		const uint64_t hash = hash_bytes(0, name, len);

		c = find_context(t, name, hash);
		if (c || t->contexts.nr >= context_bound(try, TALLY_CONTEXTS))
			continue;
		c = new_context(t, name, len, hash);
		if (!c)
			return NULL;
		c->other = try > 0;
	}
	return c;
}

/*
 * Returns the profile, or adds it. context is "" or comes from get_context(). NULL: no
 * memory.
 */
static struct profile *get_profile(struct tally *t, int event,
				   struct known_image *image, const char *context)
{
	uint64_t hash = hash_u64(hash_u64((uintptr_t)image ^ (uint64_t)event << 56) ^
				 (*context ? (uintptr_t)context : 0));
	struct tally_profile *p;
	struct hnode *n;

	for (n = hmap_first(&t->profiles, hash); n; n = hmap_next(n)) {
		p = container_of(n, struct tally_profile, node);
		if (p->image == image && p->event == event &&
		    (p->context == context || !(*p->context || *context)))
			return p->profile;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->image = image;
	p->event = event;
	p->context = context;
	p->profile = profile_new();
	if (!p->profile || hmap_insert(&t->profiles, &p->node, hash)) {
		profile_free(p->profile);
		free(p);
		return NULL;
	}
	t->memory += sizeof(*p) + profile_memory(p->profile);
	return p->profile;
}

/* Returns an entry as a count at its offset. */
static struct count count_of(const struct cpi_entry *e, uint64_t bias)
{
	uint64_t n = cpi_entry_count(e);
	enum cpi_outcome outcome = cpi_entry_outcome(e);

	return (struct count){ .offset = cpi_entry_pc(e) + bias,
			       .n = n,
			       .taken = outcome == CPI_OUTCOME_TAKEN ? n : 0,
			       .not_taken = outcome == CPI_OUTCOME_NOT_TAKEN ? n : 0 };
}

/* Adds a run to its profile in a context. Returns the number of samples added. */
static uint64_t add_counts(struct tally *t, const struct tally_run *run,
			   const char *context, const struct cpi_entry *e, size_t nr)
{
	struct profile *p = get_profile(t, run->event, run->image, context);
	uint64_t added = 0;
	size_t before;

	if (!p)
		return 0;
	before = profile_memory(p);
	for (size_t i = 0; i < nr; i++) {
		struct count c = count_of(&e[i], run->bias);

		if (!profile_add(p, &c))
			added += c.n;
	}
	t->memory += profile_memory(p) - before;
	return added;
}

static void add_comm(struct tally *t, int event, struct known_image *image,
		     const char *comm, uint64_t n)
{
	uint64_t hash = hash_bytes((uintptr_t)image ^ (uint64_t)event << 56, comm,
				   strlen(comm));
	struct tally_comm *c;
	struct hnode *node;

	for (node = hmap_first(&t->comms, hash); node; node = hmap_next(node)) {
		c = container_of(node, struct tally_comm, node);
		if (c->image == image && c->event == event && !strcmp(c->comm, comm)) {
			c->n += n;
			return;
		}
	}
	if (t->comms.nr >= TALLY_COMMS && strcmp(comm, "[other]")) {
		add_comm(t, event, image, "[other]", n);
		return;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return; /* these samples are missing only in the totals by command */
	c->image = image;
	c->event = event;
	c->n = n;
	snprintf(c->comm, sizeof(c->comm), "%s", comm);
	if (hmap_insert(&t->comms, &c->node, hash)) {
		free(c);
		return;
	}
	t->memory += sizeof(*c);
}

void tally_lose(struct tally *t, int event, enum loss loss, uint64_t n,
		const char *comm)
{
	t->loss[event][loss] += n;
	if (comm && n && loss_class_of(loss) == LOSS_UNKNOWN)
		add_comm(t, event, NULL, comm, n);
}

static bool has_values(const struct tally_run *run)
{
	for (int kind = 0; run->contexts && kind < NR_CONTEXT_KINDS; kind++) {
		if (run->contexts[kind])
			return true;
	}
	return false;
}

/* Without memory the context lacks these samples, as in add_to_context(). */
static void add_unknown(struct tally *t, const struct tally_run *run,
			const struct count *c)
{
	const struct tally_context *context = get_context(t, run->contexts);
	struct profile *p =
		context ? get_profile(t, run->event, NULL, context->name) : NULL;
	size_t before;

	if (!p)
		return;
	before = profile_memory(p);
	if (!profile_add(p, c) && context->other)
		t->crowded += c->n;
	t->memory += profile_memory(p) - before;
}

void tally_lose_run(struct tally *t, const struct tally_run *run, enum loss loss,
		    uint64_t n)
{
	enum stack_unknown why;

	tally_lose(t, run->event, loss, n, run->comm);
	if (n && has_values(run) && !tally_is_full(t) && loss_unknown(loss, &why))
		add_unknown(t, run, &(struct count){ .offset = why, .n = n });
}

/*
 * Adds a run to the profile of its context. Without memory the samples are missing
 * there, but are not lost.
 */
static void add_to_context(struct tally *t, const struct tally_run *run,
			   const struct cpi_entry *e, size_t nr)
{
	const struct tally_context *context = get_context(t, run->contexts);
	uint64_t added;

	if (!context)
		return;
	added = add_counts(t, run, context->name, e, nr);
	if (context->other)
		t->crowded += added;
}

void tally_add(struct tally *t, const struct tally_run *run, const struct cpi_entry *e,
	       size_t nr)
{
	uint64_t n = 0, added;

	for (size_t i = 0; i < nr; i++) {
		n += cpi_entry_count(&e[i]);
		if (cpi_entry_outcome(&e[i]) == CPI_OUTCOME_UNREADABLE)
			t->unreadable += cpi_entry_count(&e[i]);
	}
	added = tally_is_full(t) ? 0 : add_counts(t, run, "", e, nr);
	tally_lose(t, run->event, SAMPLE_NO_SPACE, n - added, NULL);
	if (!added)
		return;
	add_comm(t, run->event, run->image, run->comm, added);
	if (has_values(run) && added == n)
		add_to_context(t, run, e, nr);
}

static void add_record(struct tally *t, const struct tally_run *run,
		       const char *context, uint64_t pc, const struct hw_record *hw)
{
	struct profile *p;
	size_t before;

	p = tally_is_full(t) ? NULL : get_profile(t, run->event, run->image, context);
	if (!p)
		return;
	before = profile_memory(p);
	rates_add(p, pc + run->bias, hw); /* without memory the record is left out */
	t->memory += profile_memory(p) - before;
}

void tally_add_record(struct tally *t, const struct tally_run *run, uint64_t pc,
		      const struct hw_record *hw)
{
	const struct tally_context *context;

	add_record(t, run, "", pc, hw);
	context = has_values(run) ? get_context(t, run->contexts) : NULL;
	if (context)
		add_record(t, run, context->name, pc, hw);
}

bool tally_is_full(const struct tally *t)
{
	return t->limit && tally_memory(t) >= t->limit;
}

void tally_drop(struct tally *t, enum loss loss)
{
	struct hnode *n, *next;

	hmap_for_each (&t->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		if (!p->context[0])
			tally_lose(t, p->event, loss, profile_total(p->profile), NULL);
	}
	free_profiles(t);
}

uint64_t tally_kept(const struct tally *t)
{
	struct hnode *n, *next;
	uint64_t total = 0;

	hmap_for_each (&t->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		if (!p->context[0])
			total += profile_total(p->profile);
	}
	return total;
}

uint64_t tally_total(const struct tally *t)
{
	uint64_t total = tally_kept(t);

	for (size_t e = 0; e < CPI_MAX_EVENTS; e++) {
		for (int l = 0; l < NR_LOSSES; l++)
			total += t->loss[e][l];
	}
	return total;
}

size_t tally_memory(const struct tally *t)
{
	return sizeof(*t) + t->memory;
}

void tally_mark_images(const struct tally *t)
{
	struct hnode *n, *next;

	hmap_for_each (&t->profiles, n, next) {
		struct tally_profile *p = container_of(n, struct tally_profile, node);

		if (p->image)
			p->image->marked = true;
	}
	hmap_for_each (&t->comms, n, next) {
		struct tally_comm *c = container_of(n, struct tally_comm, node);

		if (c->image)
			c->image->marked = true;
	}
	tally_mark_edges(t);
}
