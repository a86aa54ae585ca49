/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowforms.c - a set-associative table that windows read
 *
 * An entry is written before its key, and cleared behind it; a window compares the key
 * before it reads the rest, and again behind it. If a set is full, an entry is evicted
 * that no window has used since a form last needed room there; if all were used, one of
 * the same user, or of a user who has more than half of the set. It is marked as dying,
 * and the form that needed the room is requested again when a window needs it again: by
 * then the entry is free. If there are no cells, the same is done with an entry of this
 * set or of one near it.
 *
 * Micro-ops are in cells behind those of pages, in a pool of their own.
 */
#include "config.h"

#include "daemon/windows/windowforms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/windows/windowpool.h"

#define MAX_WANTED 2048u /* that wait to be requested; scans use half of that */
#define NR_SLOTS   (4 * MAX_WANTED)
#define MAX_PAYERS 256u /* users; the last one stands for all others */
#define MAX_DYING  256u
#define NEAR_SETS  64u /* that are searched for cells */

struct wanted {
	uint64_t key[2];
	uint32_t uid;
	bool lacking; /* to a window: it may take another's room */
	uint8_t code[CPI_FORM_BYTES];
};

struct payer {
	uint32_t uid;
	uint32_t nr_forms, nr_cells;
};

struct windowforms {
	const struct windowsource *source;
	struct translate_child *translator;
	struct wanted wanted[MAX_WANTED];
	uint16_t slot[NR_SLOTS]; /* by key: 1 + number of a wanted one; 0: none */
	uint32_t nr_wanted;
	struct wanted asked[CPI_TRANSLATE_FORMS];
	uint32_t nr_asked, cookie;
	struct payer payer[MAX_PAYERS];
	uint32_t nr_payers;
	struct windowpool pool; /* of cells */
	uint32_t too_many;      /* no run has so many cells; 0: not known */
	uint32_t dying[MAX_DYING], nr_dying; /* entries ... */
	uint32_t nr_over;                    /* ... whose grace period is over */
	uint32_t nr_live;
	uint64_t nr_lacking; /* windows that ended for want of one */
	uint64_t nr_made, nr_none, nr_evicted, nr_no_room, nr_failed, nr_dropped;
};

struct windowforms *windowforms_new(const struct windowsource *source,
				    struct translate_child *translator)
{
	struct windowforms *wf = calloc(1, sizeof(*wf));

	if (!wf)
		return NULL;
	wf->source = source;
	wf->translator = translator;
	if (windowpool_init(&wf->pool, source->nr_form_cells + 1, 1)) {
		free(wf);
		return NULL;
	}
	return wf;
}

void windowforms_free(struct windowforms *wf)
{
	if (wf)
		windowpool_fini(&wf->pool);
	free(wf);
}

/* ---- the table ---- */

static bool is_key(const uint64_t a[2], const uint64_t b[2])
{
	return a[0] == b[0] && a[1] == b[1];
}

static struct cpi_form *find(const struct windowforms *wf, const uint64_t key[2])
{
	const uint32_t first = cpi_form_set(key, wf->source->nr_forms);

	for (uint32_t i = first; i < first + CPI_FORM_WAYS; i++) {
		if (is_key(wf->source->form[i].key, key))
			return &wf->source->form[i];
	}
	return NULL;
}

/* As windows do it: parts get the constant of a form that includes it. */
static const struct cpi_form *find_parts(const struct windowforms *wf,
					 struct cpi_form_parts *parts)
{
	const struct cpi_form *form = find(wf, parts->key);

	if (form && form->how & CPI_FORM_CONSTANT) {
		cpi_form_add_constant(parts);
		form = find(wf, parts->key);
	}
	return form;
}

static bool split(const uint8_t code[CPI_FORM_BYTES], struct cpi_form_parts *parts)
{
	uint64_t low, high;

	memcpy(&low, code, sizeof(low));
	memcpy(&high, code + sizeof(low), sizeof(high));
	return cpi_form_split(parts, low, high) != 0;
}

uint32_t windowforms_fill(const struct windowforms *wf,
			  const uint8_t code[CPI_FORM_BYTES],
			  struct cpi_uop out[CPI_FORM_UOPS])
{
	const struct cpi_form *form;
	struct cpi_form_parts parts;

	if (!split(code, &parts))
		return 0;
	form = find_parts(wf, &parts);
	if (!form)
		return 0;
	for (uint32_t i = 0; i < form->nr; i++)
		cpi_form_fill(&wf->source->cell[form->cell + i].uop, form->how, &parts,
			      &out[i]);
	return form->nr;
}

/* ---- room ---- */

/* A run of nr cells; 0: there is none. The pool's first one, which it does not give, is
 * no cell of a form. */
static uint32_t take_cells(struct windowforms *wf, uint32_t nr)
{
	uint32_t at;

	if (wf->too_many && nr >= wf->too_many)
		return 0;
	at = windowpool_take(&wf->pool, nr);
	if (!at) {
		wf->too_many = nr;
		return 0;
	}
	return wf->source->nr_cells + at - 1;
}

static void give_back_cells(struct windowforms *wf, uint32_t at, uint32_t nr)
{
	windowpool_give_back(&wf->pool, at - wf->source->nr_cells + 1, nr);
	wf->too_many = 0;
}

static uint32_t payer_of(struct windowforms *wf, uint32_t uid)
{
	uint32_t i = 0;

	while (i < wf->nr_payers && wf->payer[i].uid != uid)
		i++;
	if (i == MAX_PAYERS)
		return MAX_PAYERS - 1;
	if (i == wf->nr_payers)
		wf->payer[wf->nr_payers++].uid = uid;
	return i;
}

/* Whether a user has room for a form of so many micro-ops (I1). */
static bool may_have(const struct windowforms *wf, uint32_t payer, uint32_t nr)
{
	const struct payer *p = &wf->payer[payer];

	return p->nr_forms < wf->source->nr_forms / 2 &&
	       p->nr_cells + nr <= wf->source->nr_form_cells / 2;
}

static void charge(struct windowforms *wf, const struct cpi_form *form, int sign)
{
	struct payer *p = &wf->payer[form->payer];

	p->nr_forms += (uint32_t)sign;
	p->nr_cells += (uint32_t)sign * form->nr;
	wf->nr_live += (uint32_t)sign;
}

/* Who needs room: a user. */
struct needy {
	uint32_t payer;
	uint32_t nr; /* cells; 0: an entry of the set */
	bool own;    /* the user has used up what there is for one */
	bool used;   /* what windows use may be evicted, too: if it is the user's */
};

/* Whether a user has more than half of a set. */
static bool crowds(const struct cpi_form *set, uint8_t payer)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < CPI_FORM_WAYS; i++)
		nr += set[i].key[1] && set[i].payer == payer;
	return nr > CPI_FORM_WAYS / 2;
}

static bool is_victim(const struct cpi_form *set, const struct cpi_form *f,
		      const struct needy *n)
{
	const bool is_own = f->payer == n->payer;

	if (!f->key[1] || f->nr < n->nr || (n->own && !is_own))
		return false;
	return !f->used || (n->used && (is_own || (!n->nr && crowds(set, f->payer))));
}

/* Marks an entry of a set. Whether room is under way. */
static bool evict_from(struct windowforms *wf, uint32_t first, const struct needy *n)
{
	struct cpi_form *set = &wf->source->form[first];
	struct cpi_form *victim = NULL;

	for (uint32_t i = 0; i < CPI_FORM_WAYS; i++) {
		if (set[i].how & CPI_FORM_DYING) {
			if (set[i].nr >= n->nr)
				return true;
		} else if (!victim && is_victim(set, &set[i], n)) {
			victim = &set[i];
		}
	}
	if (!victim)
		return false;
	__atomic_store_n(&victim->how, victim->how | CPI_FORM_DYING, __ATOMIC_RELAXED);
	wf->dying[wf->nr_dying++] = (uint32_t)(victim - wf->source->form);
	wf->nr_evicted++;
	return true;
}

/* In the set; for cells, or for one's own room, also in sets behind it. */
static bool evict_near(struct windowforms *wf, uint32_t first, const struct needy *n)
{
	const uint32_t sets = n->nr || n->own ? NEAR_SETS : 1;
	uint32_t at = first;

	for (uint32_t i = 0; i < sets; i++) {
		if (evict_from(wf, at, n))
			return true;
		at = (at + CPI_FORM_WAYS) % wf->source->nr_forms;
	}
	return false;
}

/* Makes room. Cells that are too few may soon be beside others that are free. */
static void evict(struct windowforms *wf, uint32_t first, uint32_t payer, uint32_t nr,
		  bool own)
{
	const struct needy needy[] = {
		{ payer, nr, own, false },
		{ payer, nr != 0, own, false },
		{ payer, nr, own, true },
	};
	int i = 0;

	if (wf->nr_dying == MAX_DYING)
		return;
	while (i < 3 && !evict_near(wf, first, &needy[i]))
		i++;
	for (uint32_t k = first; k < first + CPI_FORM_WAYS; k++)
		wf->source->form[k].used = 0;
}

int windowforms_take_room(struct windowforms *wf)
{
	int err = 0;

	if (wf->nr_dying)
		err = wf->source->ops->synchronize(wf->source);
	if (!err)
		wf->nr_over = wf->nr_dying;
	return err;
}

/*
 * A window that finds the key meanwhile must not find another form, so the key is gone
 * before the rest is (cpi_window_find_form()).
 */
static void clear(struct cpi_form *f)
{
	__atomic_store_n(&f->key[0], 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*f = (struct cpi_form){ .cell = 0 };
}

void windowforms_give_room(struct windowforms *wf)
{
	for (uint32_t i = 0; i < wf->nr_over; i++) {
		struct cpi_form *f = &wf->source->form[wf->dying[i]];

		charge(wf, f, -1);
		if (f->nr)
			give_back_cells(wf, f->cell, f->nr);
		clear(f);
	}
	wf->nr_dying -= wf->nr_over;
	memmove(wf->dying, wf->dying + wf->nr_over,
		wf->nr_dying * sizeof(wf->dying[0]));
	wf->nr_over = 0;
}

/* ---- requests ---- */

/* The slot of a wanted key, or the free one for it. */
static uint16_t *slot_of(struct windowforms *wf, const uint64_t key[2])
{
	uint32_t at = cpi_form_set(key, NR_SLOTS);

	while (wf->slot[at] && !is_key(wf->wanted[wf->slot[at] - 1].key, key))
		at = (at + 1) % NR_SLOTS;
	return &wf->slot[at];
}

/* Whether a form is known, was requested, or is requested now: else it is dropped. */
static bool want(struct windowforms *wf, uint32_t uid, bool lacking,
		 struct cpi_form_parts *parts, const uint8_t code[CPI_FORM_BYTES])
{
	struct wanted *w;
	uint16_t *slot;

	if (find_parts(wf, parts))
		return true;
	for (uint32_t i = 0; i < wf->nr_asked; i++) {
		if (is_key(wf->asked[i].key, parts->key))
			return true;
	}
	slot = slot_of(wf, parts->key);
	if (*slot)
		return true;
	if (wf->nr_wanted >= (lacking ? MAX_WANTED : MAX_WANTED / 2))
		return false;
	w = &wf->wanted[wf->nr_wanted++];
	*w = (struct wanted){ { parts->key[0], parts->key[1] }, uid, lacking, { 0 } };
	memcpy(w->code, code, sizeof(w->code));
	*slot = (uint16_t)wf->nr_wanted;
	return true;
}

void windowforms_want(struct windowforms *wf, uint32_t uid,
		      const uint8_t code[CPI_FORM_BYTES])
{
	struct cpi_form_parts parts;

	wf->nr_lacking++;
	if (split(code, &parts))
		wf->nr_dropped += !want(wf, uid, true, &parts, code);
}

bool windowforms_may_scan(struct windowforms *wf, uint32_t uid)
{
	return wf->nr_wanted < MAX_WANTED / 2 && may_have(wf, payer_of(wf, uid), 1);
}

size_t windowforms_scan(struct windowforms *wf, uint32_t uid, const uint8_t *code,
			size_t offset, size_t end)
{
	struct cpi_form_parts parts;

	if (!windowforms_may_scan(wf, uid))
		return offset;
	while (offset < end) {
		if (!split(code + offset, &parts))
			offset++;
		else if (want(wf, uid, false, &parts, code + offset))
			offset += parts.length;
		else
			break;
	}
	return offset;
}

bool windowforms_run(struct windowforms *wf)
{
	struct cpi_translate_request q = { .nr_entries = 0 };
	uint32_t nr = wf->nr_wanted;

	if (wf->nr_asked || !nr)
		return wf->nr_asked != 0;
	if (nr > CPI_TRANSLATE_FORMS)
		nr = CPI_TRANSLATE_FORMS;
	for (uint32_t i = 0; i < nr; i++) /* the last ones, which the slots name last */
		wf->asked[i] = wf->wanted[wf->nr_wanted - nr + i];
	for (uint32_t i = 0; i < nr; i++)
		memcpy(q.code + i * CPI_FORM_BYTES, wf->asked[i].code, CPI_FORM_BYTES);
	q.nr_forms = nr;
	q.size = nr * CPI_FORM_BYTES;
	if (translate_child_ask(wf->translator, &q, &wf->cookie))
		return false;
	wf->nr_asked = nr;
	wf->nr_wanted -= nr;
	memset(wf->slot, 0, sizeof(wf->slot));
	for (uint32_t i = 0; i < wf->nr_wanted; i++)
		*slot_of(wf, wf->wanted[i].key) = (uint16_t)(i + 1);
	return true;
}

/* ---- answers ---- */

static struct cpi_form *free_entry(const struct windowforms *wf, uint32_t first)
{
	for (uint32_t i = first; i < first + CPI_FORM_WAYS; i++) {
		if (!wf->source->form[i].key[1])
			return &wf->source->form[i];
	}
	return NULL;
}

/* The release stores pair with a window's reads: it compares the key first. */
static void publish(struct windowforms *wf, struct cpi_form *to, const uint64_t key[2],
		    struct cpi_form form)
{
	to->cell = form.cell;
	to->nr = form.nr;
	to->how = form.how;
	to->used = 0;
	to->payer = form.payer;
	__atomic_store_n(&to->key[1], key[1], __ATOMIC_RELEASE);
	__atomic_store_n(&to->key[0], key[0], __ATOMIC_RELEASE);
	charge(wf, to, 1);
	wf->nr_made++;
	wf->nr_none += !form.nr && !(form.how & CPI_FORM_CONSTANT);
}

/* Whether there was room. */
static bool enter(struct windowforms *wf, const struct wanted *w, const uint64_t key[2],
		  uint8_t how, const struct cpi_uop *uop, uint32_t nr)
{
	const uint32_t payer = payer_of(wf, w->uid);
	const uint32_t first = cpi_form_set(key, wf->source->nr_forms);
	struct cpi_form form = { .how = how, .payer = (uint8_t)payer };
	struct cpi_form *to = free_entry(wf, first);
	const bool may = may_have(wf, payer, nr);

	if (to && may && nr)
		form.cell = take_cells(wf, nr);
	if (!to || !may || (nr && !form.cell)) {
		if (w->lacking)
			evict(wf, first, payer, to ? nr : 0, !may);
		wf->nr_no_room++;
		return false;
	}
	if (nr)
		memcpy(&wf->source->cell[form.cell], uop, nr * sizeof(*uop));
	form.nr = (uint8_t)nr;
	publish(wf, to, key, form);
	return true;
}

/* What was answered for an instruction. */
static void take_form(struct windowforms *wf, const struct wanted *w,
		      const struct cpi_translate_form *f, const struct cpi_uop *uop)
{
	const uint8_t how = f->how & (CPI_FORM_SCALE | CPI_FORM_CONSTANT);
	struct cpi_form_parts parts;
	uint64_t general[2];

	if (!split(w->code, &parts))
		return;
	memcpy(general, parts.key, sizeof(general));
	if (how & CPI_FORM_CONSTANT)
		cpi_form_add_constant(&parts);
	if (!is_key(parts.key, f->key)) {
		wf->nr_failed++;
		return;
	}
	if (how & CPI_FORM_CONSTANT && !find(wf, general) &&
	    !enter(wf, w, general, CPI_FORM_CONSTANT, NULL, 0))
		return;
	if (!find(wf, parts.key))
		enter(wf, w, parts.key, how & CPI_FORM_SCALE, uop + f->first, f->nr);
}

bool windowforms_answer(struct windowforms *wf, uint32_t cookie, int err,
			const struct cpi_translate_reply *reply)
{
	if (!wf->nr_asked || cookie != wf->cookie)
		return false;
	if (!err && reply->nr_forms) {
		for (uint32_t i = 0; i < wf->nr_asked && i < reply->nr_forms; i++)
			take_form(wf, &wf->asked[i], &reply->forms.form[i],
				  reply->forms.uop);
	} else {
		wf->nr_failed += wf->nr_asked;
	}
	wf->nr_asked = 0;
	return true;
}

void windowforms_status(const struct windowforms *wf, struct buf *out)
{
	const uint64_t cells = wf->pool.nr - 1 - wf->pool.nr_free;

	buf_printf(out, "window_forms %u\n", wf->nr_live);
	buf_printf(out, "window_forms_limit %u\n", wf->source->nr_forms);
	buf_printf(out, "window_form_bytes %llu\n",
		   (unsigned long long)(wf->nr_live * sizeof(struct cpi_form) +
					cells * sizeof(union cpi_code_cell)));
	buf_printf(out, "window_forms_waiting %u\n", wf->nr_wanted + wf->nr_asked);
	buf_printf(out, "window_forms_lacking %llu\n",
		   (unsigned long long)wf->nr_lacking);
	buf_printf(out, "window_forms_made %llu\n", (unsigned long long)wf->nr_made);
	buf_printf(out, "window_forms_refused %llu\n", (unsigned long long)wf->nr_none);
	buf_printf(out, "window_forms_evicted %llu\n",
		   (unsigned long long)wf->nr_evicted);
	buf_printf(out, "window_forms_no_room %llu\n",
		   (unsigned long long)wf->nr_no_room);
	buf_printf(out, "window_forms_dropped %llu\n",
		   (unsigned long long)wf->nr_dropped);
	buf_printf(out, "window_forms_failed %llu\n",
		   (unsigned long long)wf->nr_failed);
}
