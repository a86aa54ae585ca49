/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowunits.c - assigns entries to pages of code
 */
#include "config.h"

#include "daemon/windows/windowunits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "abi/window_bpf.h"
#include "base/err.h"
#include "base/grow.h"
#include "base/hash.h"
#include "base/search.h"

enum { PROCESS_SHARE = 4, USER_SHARE = 2 }; /* I2 */

enum group_kind { OF_IMAGE, OF_OWNER, BY_PROCESS, BY_USER };

/* The units of one image or owner; or the pages that one process or user pays for. */
struct unit_group {
	struct hnode node;
	enum group_kind kind;
	uint64_t key[2];
	struct unit *first;
	uint32_t nr_pages;
};

void windowunits_init(struct windowunits *wu, uint32_t nr_entries)
{
	*wu = (struct windowunits){ .nr_entries = nr_entries, .next_entry = 1 };
}

void windowunits_forget(struct windowunits *wu)
{
	struct hnode *n, *next;

	hmap_for_each (&wu->groups, n, next)
		free(container_of(n, struct unit_group, node));
	for (size_t i = 0; i < wu->nr; i++)
		free(wu->unit[i]);
	free(wu->unit);
	hmap_fini(&wu->groups);
	hmap_fini(&wu->by_range);
	windowunits_init(wu, wu->nr_entries);
}

void windowunits_fini(struct windowunits *wu)
{
	windowunits_forget(wu);
}

/* ---- groups ---- */

static uint64_t group_hash(enum group_kind kind, uint64_t a, uint64_t b)
{
	return hash_u64(hash_u64(a + kind) ^ b);
}

static struct unit_group *find_group(const struct windowunits *wu, enum group_kind kind,
				     uint64_t a, uint64_t b)
{
	struct hnode *n = hmap_first(&wu->groups, group_hash(kind, a, b));

	for (; n; n = hmap_next(n)) {
		struct unit_group *g = container_of(n, struct unit_group, node);

		if (g->kind == kind && g->key[0] == a && g->key[1] == b)
			return g;
	}
	return NULL;
}

/* NULL when out of memory. */
static struct unit_group *get_group(struct windowunits *wu, enum group_kind kind,
				    uint64_t a, uint64_t b)
{
	struct unit_group *g = find_group(wu, kind, a, b);

	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->kind = kind;
	g->key[0] = a;
	g->key[1] = b;
	if (hmap_insert(&wu->groups, &g->node, group_hash(kind, a, b))) {
		free(g);
		return NULL;
	}
	return g;
}

static uint64_t owner_key(const struct windowpages_owner *o)
{
	return (uint64_t)o->number << 32 | o->tgid;
}

static void join_group(struct unit_group *g, struct unit *u)
{
	u->next = g->first;
	g->first = u;
}

/* ---- entries ---- */

/*
 * Finds the process and the user against which pages of owner count. 0, -CPI_ELIMIT
 * or -ENOMEM.
 */
static int find_payers(struct windowunits *wu, const struct windowpages_owner *owner,
		       uint32_t nr_pages, struct unit_group *payer[2])
{
	payer[0] = get_group(wu, BY_PROCESS, owner->tgid, owner->start_ns);
	payer[1] = get_group(wu, BY_USER, owner->uid, 0);
	if (!payer[0] || !payer[1])
		return -ENOMEM;
	if (payer[0]->nr_pages + nr_pages > wu->nr_entries / PROCESS_SHARE)
		return -CPI_ELIMIT;
	if (payer[1]->nr_pages + nr_pages <= wu->nr_entries / USER_SHARE)
		return 0;
	wu->full = true;
	return -CPI_ELIMIT;
}

static void charge(struct unit *u, struct unit_group *payer[2])
{
	for (int i = 0; i < 2; i++) {
		u->payer[i] = payer[i];
		payer[i]->nr_pages += u->nr_pages;
	}
}

/* Frees the groups of payers that pay for nothing: processes come and go. */
static void drop_idle(struct windowunits *wu, struct unit_group *payer[2])
{
	for (int i = 0; i < 2; i++) {
		if (!payer[i] || payer[i]->nr_pages)
			continue;
		hmap_remove(&wu->groups, &payer[i]->node);
		free(payer[i]);
	}
}

static void discharge(struct windowunits *wu, struct unit *u)
{
	for (int i = 0; i < 2; i++)
		u->payer[i]->nr_pages -= u->nr_pages;
	drop_idle(wu, u->payer);
	u->payer[0] = u->payer[1] = NULL;
}

/* Makes new entries for append_unit(). Returns 0, -CPI_ELIMIT or -ENOMEM. */
static int new_unit(struct windowunits *wu, uint32_t nr_pages, struct unit **out)
{
	struct unit *u;

	if (nr_pages > wu->nr_entries - wu->next_entry) {
		wu->full = true;
		return -CPI_ELIMIT;
	}
	if (GROW(wu->unit, wu->nr))
		return -ENOMEM;
	u = calloc(1, sizeof(*u));
	if (!u)
		return -ENOMEM;
	u->nr_pages = nr_pages;
	u->first = wu->next_entry;
	*out = u;
	return 0;
}

static void append_unit(struct windowunits *wu, struct unit *u)
{
	wu->unit[wu->nr++] = u;
	wu->next_entry += u->nr_pages;
}

struct unit *windowunits_of(const struct windowunits *wu, uint32_t entry)
{
	const size_t lo =
		SEARCH(i, wu->nr, wu->unit[i]->first + wu->unit[i]->nr_pages > entry);

	return lo < wu->nr && wu->unit[lo]->first <= entry ? wu->unit[lo] : NULL;
}

/* ---- of images ---- */

static uint64_t range_hash(const struct known_image *image, uint64_t offset,
			   uint32_t nr_pages)
{
	return hash_u64(hash_u64((uintptr_t)image) ^ hash_u64(offset) ^ nr_pages);
}

struct unit *windowunits_find(const struct windowunits *wu,
			      const struct known_image *image, uint64_t offset,
			      uint32_t nr_pages)
{
	const uint64_t hash = range_hash(image, offset, nr_pages);

	for (struct hnode *n = hmap_first(&wu->by_range, hash); n; n = hmap_next(n)) {
		struct unit *u = container_of(n, struct unit, node);

		if (u->image == image && u->offset == offset && u->nr_pages == nr_pages)
			return u;
	}
	return NULL;
}

/* Whether a process may make one more unit of an image: its last ones come first. */
static bool may_make(const struct unit_group *of, const struct unit_group *by)
{
	int looked_at = 0, nr = 0;

	for (const struct unit *u = of->first; u && looked_at < WINDOWUNITS_LOOKED_AT;
	     u = u->next) {
		nr += u->payer[0] == by;
		looked_at++;
	}
	return nr < WINDOWUNITS_OF_IMAGE;
}

/* Makes a unit of an image. Returns as windowunits_get(). */
static int make_unit(struct windowunits *wu, struct unit_group *payer[2],
		     struct known_image *image, uint64_t offset, uint32_t nr_pages,
		     struct unit **out)
{
	struct unit_group *of = get_group(wu, OF_IMAGE, (uintptr_t)image, 0);
	struct unit *u;
	int err;

	if (!of)
		return -ENOMEM;
	if (!may_make(of, payer[0]))
		return -CPI_ELIMIT;
	err = new_unit(wu, nr_pages, &u);
	if (err)
		return err;
	if (hmap_insert(&wu->by_range, &u->node, range_hash(image, offset, nr_pages))) {
		free(u);
		return -ENOMEM;
	}
	u->image = image;
	u->offset = offset;
	charge(u, payer);
	join_group(of, u);
	append_unit(wu, u);
	*out = u;
	return 0;
}

int windowunits_get(struct windowunits *wu, const struct windowpages_owner *owner,
		    struct known_image *image, uint64_t offset, uint32_t nr_pages,
		    struct unit **out)
{
	struct unit_group *payer[2];
	struct unit *u = windowunits_find(wu, image, offset, nr_pages);
	int err;

	if (u) {
		*out = u;
		return 0;
	}
	err = find_payers(wu, owner, nr_pages, payer);
	if (!err)
		err = make_unit(wu, payer, image, offset, nr_pages, out);
	if (err)
		drop_idle(wu, payer);
	return err;
}

void windowunits_at(const struct windowunits *wu, const struct known_image *image,
		    uint64_t offset, void (*fn)(void *ctx, const struct unit *u),
		    void *ctx)
{
	const struct unit_group *g = find_group(wu, OF_IMAGE, (uintptr_t)image, 0);
	const struct unit *u = g ? g->first : NULL;

	for (int i = 0; u && i < WINDOWUNITS_LOOKED_AT; i++, u = u->next) {
		if (offset >= u->offset &&
		    (offset - u->offset) / CPI_CODE_PAGE < u->nr_pages)
			fn(ctx, u);
	}
}

void windowunits_for_each_image(const struct windowunits *wu,
				void (*fn)(struct known_image *image))
{
	for (size_t i = 0; i < wu->nr; i++) {
		if (wu->unit[i]->image)
			fn(wu->unit[i]->image);
	}
}

/* ---- of code that was made at run time ---- */

static struct unit_group *group_of(const struct windowunits *wu,
				   const struct windowpages_owner *owner)
{
	return find_group(wu, OF_OWNER, owner_key(owner), owner->start_ns);
}

struct unit *windowunits_owned(const struct windowunits *wu,
			       const struct windowpages_owner *owner)
{
	const struct unit_group *g = group_of(wu, owner);

	return g ? g->first : NULL;
}

/* Pages that are given at once; *size is which of the unused ones they are. */
static uint32_t round_up(uint32_t nr_pages, int *size)
{
	uint32_t rounded = WINDOWUNITS_MIN_MADE;

	for (*size = 0; rounded < nr_pages; ++*size)
		rounded *= 2;
	return rounded;
}

static struct unit *find_made(struct unit *u, uint64_t address, uint32_t nr_pages)
{
	for (; u; u = u->next) {
		if (u->offset <= address &&
		    (address - u->offset) / CPI_CODE_PAGE + nr_pages <= u->nr_pages)
			return u;
	}
	return NULL;
}

static int take_unused(struct windowunits *wu, uint32_t nr_pages, int size,
		       struct unit **out)
{
	int err;

	if (wu->unused[size]) {
		*out = wu->unused[size];
		wu->unused[size] = (*out)->next;
		return 0;
	}
	err = new_unit(wu, nr_pages, out);
	if (!err)
		append_unit(wu, *out);
	return err;
}

int windowunits_get_made(struct windowunits *wu, const struct windowpages_owner *owner,
			 uint64_t address, uint32_t nr_pages, struct unit **out)
{
	struct unit_group *payer[2], *of;
	struct unit *u = find_made(windowunits_owned(wu, owner), address, nr_pages);
	int size, err;

	if (u) {
		*out = u;
		return 0;
	}
	if (nr_pages > WINDOWUNITS_MAX_MADE)
		return -CPI_ELIMIT;
	nr_pages = round_up(nr_pages, &size);
	err = find_payers(wu, owner, nr_pages, payer);
	of = err ? NULL : get_group(wu, OF_OWNER, owner_key(owner), owner->start_ns);
	if (!err)
		err = of ? take_unused(wu, nr_pages, size, &u) : -ENOMEM;
	if (err) {
		drop_idle(wu, payer);
		return err;
	}
	u->owner = *owner;
	u->offset = address;
	charge(u, payer);
	join_group(of, u);
	*out = u;
	return 0;
}

void windowunits_give_back(struct windowunits *wu,
			   const struct windowpages_owner *owner,
			   void (*fn)(void *ctx, struct unit *u), void *ctx)
{
	struct unit_group *g = group_of(wu, owner);
	struct unit **link = g ? &g->first : NULL, *u;
	int size;

	while (link && (u = *link)) {
		if (u->used) {
			link = &u->next;
			continue;
		}
		fn(ctx, u);
		*link = u->next;
		discharge(wu, u);
		u->owner = (struct windowpages_owner){ 0 };
		round_up(u->nr_pages, &size);
		u->next = wu->unused[size];
		wu->unused[size] = u;
	}
	if (g && !g->first) {
		hmap_remove(&wu->groups, &g->node);
		free(g);
	}
}
