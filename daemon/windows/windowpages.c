/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowpages.c - entries, slots, and what becomes of a page
 *
 * A page is asked for when a window has ended at it: hot pages come first, for windows
 * begin where time is spent. Where instructions begin is known of the places that
 * windows wanted to go to, so a page is translated again when it is left at a place
 * that was none before. While slots are free, pages come ahead of windows, too: those
 * that samples are of, and those that pages lead to that windows have come to.
 *
 * Code that was made at run time is its process's own, and other code may come to the
 * same place: what was translated waits until its owner is amid a change, so that no
 * record is walked with micro-ops that came later. Its units are given back, to others
 * of the same size.
 *
 * A slot is free, or live: an entry names it; or it rests (I1):
 *
 *	free ── translated ──> live ── evicted, or translated anew ──> rests
 *	  ^                                                              │
 *	  └──────── settled: the kernel's side has left it <─────────────┘
 *
 * Entries are given out by windowunits.c.
 */
#include "config.h"

#include "daemon/windows/windowpages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/times.h"
#include "daemon/windows/windowahead.h"
#include "daemon/windows/windowunits.h"

#define MAX_WANTED  1024 /* pages that wait to be translated */
#define EVICT_SHARE 16   /* of all slots, at a time */
#define MIN_MISSES  2    /* before a page takes another's slot */
#define MAX_TRIES   16   /* translations of one page, until it is forgotten */
#define MAX_AHEAD   32   /* places that a page leads to */
#define SPARE_SHARE 8    /* of all slots, that nothing gets ahead of windows */
#define MAX_READY   64
#define FORGET_NS   (600 * NSEC_PER_SEC) /* between two times that all is forgotten */

/* Of an entry, beside what the program sees. */
struct page {
	uint16_t begin[CPI_TRANSLATE_ENTRIES]; /* where windows wanted to go on */
	uint8_t nr_begin, nr_tries;
	bool wanted, asked, failed;
	uint32_t order;   /* of what it was made of: jit_order() */
	uint32_t misses;  /* since it was translated */
	uint32_t resting; /* the slot that it had until lately; or 0 */
};

struct slot {
	uint32_t entry; /* 0: it is free */
	bool rests;
	bool settled; /* the grace period is over */
	bool ahead;   /* no window has come to it yet */
};

struct question {
	uint32_t cookie;
	uint32_t entry; /* 0: nobody's any more */
	uint32_t slot;  /* 0: it is free already */
	uint32_t order;
};

struct windowpages {
	struct windowpages_config cfg;
	const struct windowsource *source;
	struct windowunits units;
	uint64_t forgotten_ns;
	struct page *page; /* by entry */
	struct slot *slot;
	uint32_t *unused; /* the slots that are free */
	uint32_t nr_unused, nr_resting, hand;
	uint32_t wanted[MAX_WANTED];
	uint32_t nr_wanted;
	struct question asked[TRANSLATE_CHILD_MAX_ASKED];
	uint32_t nr_asked;
	struct question ready[MAX_READY]; /* that were answered */
	uint32_t nr_ready;
	uint64_t nr_translated, nr_failed, nr_evicted;
};

int windowpages_new(const struct windowpages_config *cfg, struct windowpages **out)
{
	struct windowpages *wp = calloc(1, sizeof(*wp));

	if (!wp)
		return -ENOMEM;
	wp->cfg = *cfg;
	wp->source = cfg->source;
	windowunits_init(&wp->units, wp->source->cfg.nr_entries);
	wp->page = calloc(wp->source->cfg.nr_entries, sizeof(*wp->page));
	wp->slot = calloc(wp->source->nr_slots, sizeof(*wp->slot));
	wp->unused = calloc(wp->source->nr_slots, sizeof(*wp->unused));
	if (!wp->page || !wp->slot || !wp->unused) {
		windowpages_free(wp);
		return -ENOMEM;
	}
	for (uint32_t i = wp->source->nr_slots - 1; i > 0; i--)
		wp->unused[wp->nr_unused++] = i;
	*out = wp;
	return 0;
}

void windowpages_free(struct windowpages *wp)
{
	if (!wp)
		return;
	windowunits_fini(&wp->units);
	free(wp->page);
	free(wp->slot);
	free(wp->unused);
	free(wp);
}

/* ---- entries ---- */

static uint64_t pages_of(uint64_t size)
{
	return (size + CPI_CODE_PAGE - 1) / CPI_CODE_PAGE;
}

int windowpages_get(struct windowpages *wp, const struct windowpages_owner *who,
		    struct known_image *image, uint64_t offset, uint64_t size,
		    uint32_t *first)
{
	struct unit *u;
	int err;

	if (pages_of(size) > WINDOWUNITS_MAX_PAGES)
		return -CPI_ELIMIT;
	err = windowunits_get(&wp->units, who, image, offset, (uint32_t)pages_of(size),
			      &u);
	if (!err)
		*first = u->first;
	return err;
}

uint32_t windowpages_nr_live(const struct windowpages *wp,
			     const struct known_image *image, uint64_t offset,
			     uint64_t size)
{
	const struct unit *u = NULL;

	if (pages_of(size) <= WINDOWUNITS_MAX_PAGES)
		u = windowunits_find(&wp->units, image, offset,
				     (uint32_t)pages_of(size));
	return u ? u->nr_live : 0;
}

/* Who fills it again and again does not have all forgotten as often. */
bool windowpages_is_full(const struct windowpages *wp)
{
	return wp->units.full &&
	       (!wp->forgotten_ns || time_mono_ns() > wp->forgotten_ns + FORGET_NS);
}

static struct unit *unit_of(const struct windowpages *wp, uint32_t entry)
{
	return windowunits_of(&wp->units, entry);
}

/* The image and offset at which an entry's page begins. */
static struct known_image *image_of(const struct windowpages *wp, uint32_t entry,
				    uint64_t *offset)
{
	const struct unit *u = unit_of(wp, entry);

	*offset = u->offset + (uint64_t)(entry - u->first) * CPI_CODE_PAGE;
	return u->image;
}

/* ---- slots ---- */

/* The program finds it no more; what it has recorded may name it. */
static void lay_to_rest(struct windowpages *wp, uint32_t entry)
{
	struct cpi_window_entry *e = &wp->source->entry[entry];
	const uint32_t slot = e->slot;

	__atomic_store_n(&e->slot, 0, __ATOMIC_RELAXED);
	unit_of(wp, entry)->nr_live--;
	wp->slot[slot].rests = true;
	wp->page[entry].resting = slot;
	wp->nr_resting++;
}

/*
 * Whoever finds it finds all of it: pairs with the program's look-up by its address.
 * What comes ahead of windows is the first to go again, until one uses it.
 */
static void publish(struct windowpages *wp, uint32_t entry, uint32_t slot, bool ahead)
{
	struct cpi_window_entry *e = &wp->source->entry[entry];

	if (e->slot)
		lay_to_rest(wp, entry);
	unit_of(wp, entry)->nr_live++;
	wp->slot[slot].entry = entry;
	wp->slot[slot].ahead = ahead;
	e->used = !ahead;
	__atomic_store_n(&e->slot, slot, __ATOMIC_RELEASE);
}

static void give_back(struct windowpages *wp, uint32_t slot)
{
	struct slot *s = &wp->slot[slot];

	if (s->rests) {
		wp->nr_resting--;
		if (wp->page[s->entry].resting == slot)
			wp->page[s->entry].resting = 0;
	}
	*s = (struct slot){ 0 };
	wp->unused[wp->nr_unused++] = slot;
}

/* Slots that were not used since the hand came by the last time. */
static void evict(struct windowpages *wp)
{
	uint32_t want = wp->source->nr_slots / EVICT_SHARE + 1;

	for (uint32_t i = 0; i < 2 * wp->source->nr_slots && want; i++) {
		struct cpi_window_entry *e;
		const struct slot *s;

		wp->hand = wp->hand + 1 < wp->source->nr_slots ? wp->hand + 1 : 1;
		s = &wp->slot[wp->hand];
		e = &wp->source->entry[s->entry];
		if (!s->entry || s->rests || e->slot != wp->hand)
			continue;
		if (e->used) {
			e->used = 0;
			continue;
		}
		lay_to_rest(wp, s->entry);
		wp->nr_evicted++;
		want--;
	}
}

/* A page that was missed once is not worth another's slot. */
static bool is_short_of_slots(const struct windowpages *wp)
{
	if (wp->nr_unused || wp->nr_resting)
		return false;
	for (uint32_t i = 0; i < wp->nr_wanted; i++) {
		if (wp->page[wp->wanted[i]].misses >= MIN_MISSES)
			return true;
	}
	return false;
}

static int settle(const struct windowpages *wp)
{
	return wp->source->ops->settle(wp->source);
}

int windowpages_take_slots(struct windowpages *wp)
{
	int err = 0;

	if (is_short_of_slots(wp))
		evict(wp);
	if (wp->nr_resting)
		err = settle(wp);
	for (uint32_t i = 1; i < wp->source->nr_slots && !err; i++)
		wp->slot[i].settled = wp->slot[i].rests;
	return err;
}

void windowpages_give_slots(struct windowpages *wp)
{
	for (uint32_t i = 1; wp->nr_resting && i < wp->source->nr_slots; i++) {
		if (wp->slot[i].settled)
			give_back(wp, i);
	}
}

int windowpages_forget(struct windowpages *wp)
{
	int err;

	memset(wp->source->entry, 0,
	       wp->source->cfg.nr_entries * sizeof(*wp->source->entry));
	err = settle(wp);
	if (err)
		return err;
	windowunits_forget(&wp->units);
	wp->forgotten_ns = time_mono_ns();
	memset(wp->page, 0, wp->source->cfg.nr_entries * sizeof(*wp->page));
	memset(wp->slot, 0, wp->source->nr_slots * sizeof(*wp->slot));
	for (uint32_t i = 0; i < wp->nr_asked; i++)
		wp->asked[i].entry = wp->asked[i].slot = 0;
	wp->nr_unused = wp->nr_resting = wp->nr_wanted = wp->nr_ready = 0;
	for (uint32_t i = wp->source->nr_slots - 1; i > 0; i--)
		wp->unused[wp->nr_unused++] = i;
	return 0;
}

const struct cpi_code_page *windowpages_code(const struct windowpages *wp,
					     uint32_t entry)
{
	const uint32_t slot = wp->source->entry[entry].slot;
	const uint32_t any = slot ? slot : wp->page[entry].resting;

	return any ? &wp->source->slot[any] : NULL;
}

/* ---- private units ---- */

/* What is under way for an entry is nobody's any more. */
static void abandon(struct windowpages *wp, uint32_t entry)
{
	for (uint32_t i = 0; i < wp->nr_wanted; i++) {
		if (wp->wanted[i] == entry)
			wp->wanted[i--] = wp->wanted[--wp->nr_wanted];
	}
	for (uint32_t i = 0; i < wp->nr_asked; i++) {
		if (wp->asked[i].entry == entry)
			wp->asked[i].entry = 0;
	}
	for (uint32_t i = 0; i < wp->nr_ready; i++) {
		if (wp->ready[i].entry != entry)
			continue;
		give_back(wp, wp->ready[i].slot);
		wp->ready[i--] = wp->ready[--wp->nr_ready];
	}
}

/* Of code that was made at run time: the unit's owner is another one soon. */
static void empty_unit(void *ctx, struct unit *u)
{
	struct windowpages *wp = ctx;

	for (uint32_t entry = u->first; entry < u->first + u->nr_pages; entry++) {
		struct page *p = &wp->page[entry];

		if (p->wanted || p->asked)
			abandon(wp, entry);
		if (wp->source->entry[entry].slot)
			lay_to_rest(wp, entry);
		*p = (struct page){ .resting = p->resting };
	}
}

void windowpages_begin_private(struct windowpages *wp,
			       const struct windowpages_owner *owner)
{
	for (struct unit *u = windowunits_owned(&wp->units, owner); u; u = u->next)
		u->used = false;
}

void windowpages_end_private(struct windowpages *wp,
			     const struct windowpages_owner *owner)
{
	windowunits_give_back(&wp->units, owner, empty_unit, wp);
}

int windowpages_get_private(struct windowpages *wp,
			    const struct windowpages_owner *owner, uint64_t address,
			    uint64_t size, uint32_t *first)
{
	struct unit *u;
	int err;

	if (pages_of(size) > WINDOWUNITS_MAX_PAGES)
		return -CPI_ELIMIT;
	err = windowunits_get_made(&wp->units, owner, address, (uint32_t)pages_of(size),
				   &u);
	if (err)
		return err;
	u->used = true;
	*first = u->first + (uint32_t)((address - u->offset) / CPI_CODE_PAGE);
	return 0;
}

/* Whether an entry's code was made at run time. */
static bool is_private(const struct windowpages *wp, uint32_t entry)
{
	return !unit_of(wp, entry)->image;
}

/* The address of a private entry's page; who is whom jit.h is to be asked of. */
static uint64_t address_of(const struct windowpages *wp, uint32_t entry,
			   struct process *who)
{
	const struct unit *u = unit_of(wp, entry);

	*who = (struct process){ .tgid = u->owner.tgid, .start_ns = u->owner.start_ns };
	return u->offset + (uint64_t)(entry - u->first) * CPI_CODE_PAGE;
}

/* Whether an entry's process has told of more than it was made of. */
static bool is_outdated(const struct windowpages *wp, uint32_t entry)
{
	struct process who;

	address_of(wp, entry, &who);
	return jit_order(wp->cfg.jit, &who) != wp->page[entry].order;
}

uint32_t windowpages_next_ready(const struct windowpages *wp, uint32_t *number)
{
	if (!wp->nr_ready)
		return 0;
	*number = unit_of(wp, wp->ready[0].entry)->owner.number;
	return wp->ready[0].entry;
}

/* ---- translation ---- */

static bool begins_at(const struct page *p, uint32_t offset)
{
	for (int i = 0; i < p->nr_begin; i++) {
		if (p->begin[i] == offset)
			return true;
	}
	return false;
}

static void want(struct windowpages *wp, uint32_t entry)
{
	struct page *p = &wp->page[entry];

	if (p->wanted || p->asked || wp->nr_wanted == MAX_WANTED)
		return;
	p->wanted = true;
	wp->wanted[wp->nr_wanted++] = entry;
}

static void note_begin(struct page *p, uint32_t offset)
{
	memmove(p->begin + 1, p->begin, sizeof(p->begin) - sizeof(p->begin[0]));
	p->begin[0] = (uint16_t)offset;
	p->nr_begin += p->nr_begin < CPI_TRANSLATE_ENTRIES;
}

bool windowpages_miss(struct windowpages *wp, uint32_t entry, uint32_t offset)
{
	const uint32_t slot = wp->source->entry[entry].slot;
	struct page *p = &wp->page[entry];
	const bool outdated = is_private(wp, entry) && is_outdated(wp, entry);

	p->misses++;
	if (outdated)
		p->nr_tries = 0;
	if (p->failed || p->nr_tries >= MAX_TRIES ||
	    (slot && !outdated && wp->source->slot[slot].index[offset]))
		return false;
	if (!begins_at(p, offset)) {
		note_begin(p, offset);
	} else if (slot && !outdated) {
		return false; /* no code, or too many micro-ops */
	}
	want(wp, entry);
	return true;
}

static bool has_spare_slots(const struct windowpages *wp)
{
	return wp->nr_unused > wp->source->nr_slots / SPARE_SHARE;
}

/* Ahead of windows; what they have missed comes first. */
static void want_ahead(struct windowpages *wp, uint32_t entry, uint32_t offset)
{
	const uint32_t slot = wp->source->entry[entry].slot;
	struct page *p = &wp->page[entry];

	if (p->failed || p->nr_tries >= MAX_TRIES / 2 || !has_spare_slots(wp) ||
	    wp->nr_wanted >= MAX_WANTED / 2 ||
	    (slot && wp->source->slot[slot].index[offset]))
		return;
	if (!begins_at(p, offset)) {
		if (p->nr_begin == CPI_TRANSLATE_ENTRIES)
			return;
		note_begin(p, offset);
	} else if (slot) {
		return;
	}
	want(wp, entry);
}

/* To where a page leads that a window has come to. */
static void look_ahead(struct windowpages *wp, uint32_t entry)
{
	const struct page *p = &wp->page[entry];
	const struct unit *u = unit_of(wp, entry);
	const int64_t at = (int64_t)(entry - u->first) * CPI_CODE_PAGE;
	const int64_t end = (int64_t)u->nr_pages * CPI_CODE_PAGE;

	for (int i = 0; i < p->nr_begin && has_spare_slots(wp); i++) {
		int64_t to[MAX_AHEAD];
		const int nr = windowahead_find(windowpages_code(wp, entry),
						p->begin[i], to, MAX_AHEAD);

		for (int k = 0; k < nr; k++) {
			const int64_t there = at + to[k];

			if (there >= 0 && there < end)
				want_ahead(wp, u->first + there / CPI_CODE_PAGE,
					   there % CPI_CODE_PAGE);
		}
	}
}

void windowpages_look_ahead(struct windowpages *wp)
{
	for (uint32_t i = 1; i < wp->source->nr_slots; i++) {
		struct slot *s = &wp->slot[i];

		if (!s->ahead || s->rests || !wp->source->entry[s->entry].used)
			continue;
		s->ahead = false;
		look_ahead(wp, s->entry);
	}
}

struct sampled {
	struct windowpages *wp;
	uint64_t offset;
};

static void want_sampled(void *ctx, const struct unit *u)
{
	const struct sampled *s = ctx;
	const uint64_t there = s->offset - u->offset;

	want_ahead(s->wp, u->first + (uint32_t)(there / CPI_CODE_PAGE),
		   (uint32_t)(there % CPI_CODE_PAGE));
}

void windowpages_sampled(struct windowpages *wp, const struct known_image *image,
			 uint64_t offset)
{
	struct sampled s = { wp, offset };

	windowunits_at(&wp->units, image, offset, want_sampled, &s);
}

bool windowpages_was_made_of(struct windowpages *wp, uint32_t entry, uint64_t pc,
			     uint64_t when_ns)
{
	struct process who;

	address_of(wp, entry, &who);
	if (jit_was_copied(wp->cfg.jit, &who, pc, when_ns, wp->page[entry].order))
		return true;
	if (is_outdated(wp, entry))
		want(wp, entry);
	return false;
}

static size_t read_code(const struct windowpages *wp, uint32_t entry, void *to,
			uint32_t *order)
{
	const size_t size = CPI_CODE_PAGE + CPI_CODE_MORE;
	struct known_image *image;
	struct process who;
	uint64_t offset;

	if (is_private(wp, entry)) {
		offset = address_of(wp, entry, &who);
		return jit_copy(wp->cfg.jit, &who, offset, to, size, order);
	}
	image = image_of(wp, entry, &offset);
	return codecache_read(wp->cfg.codecache, image, offset, to, size);
}

static int ask(struct windowpages *wp, uint32_t entry)
{
	struct page *p = &wp->page[entry];
	struct cpi_translate_request q = { .nr_entries = p->nr_begin };
	struct question *asked = &wp->asked[wp->nr_asked];
	int err;

	memcpy(q.entry, p->begin, sizeof(q.entry));
	q.size = read_code(wp, entry, q.code, &asked->order);
	if (!q.size) /* more may be told later */
		return is_private(wp, entry) ? -ENOENT : -CPI_ENOCODE;
	err = translate_child_ask(wp->cfg.translator, &q, &asked->cookie);
	if (err)
		return err;
	asked->entry = entry;
	asked->slot = wp->unused[--wp->nr_unused];
	memcpy(&wp->source->bytes[asked->slot], q.code, sizeof(*wp->source->bytes));
	wp->nr_asked++;
	p->asked = true;
	p->nr_tries++;
	return 0;
}

/* The page that was missed most of those that wait; it leaves the queue. */
static uint32_t take_wanted(struct windowpages *wp)
{
	uint32_t best = 0, entry;

	for (uint32_t i = 1; i < wp->nr_wanted; i++) {
		if (wp->page[wp->wanted[i]].misses > wp->page[wp->wanted[best]].misses)
			best = i;
	}
	entry = wp->wanted[best];
	wp->wanted[best] = wp->wanted[--wp->nr_wanted];
	wp->page[entry].wanted = false;
	return entry;
}

static void ask_for_wanted(struct windowpages *wp)
{
	while (wp->nr_wanted && wp->nr_unused &&
	       wp->nr_asked < TRANSLATE_CHILD_MAX_ASKED &&
	       wp->nr_asked + wp->nr_ready < MAX_READY) {
		const uint32_t entry = take_wanted(wp);
		const struct page *p = &wp->page[entry];
		int err;

		if (!p->misses && !is_private(wp, entry) && !has_spare_slots(wp))
			continue;
		err = ask(wp, entry);
		if (!err)
			continue;
		wp->page[entry].failed = err != -EAGAIN && err != -ENOENT;
		wp->nr_failed += wp->page[entry].failed;
		if (err == -EAGAIN || err == -EPIPE)
			return;
	}
}

static void finish(struct windowpages *wp, const struct question *q)
{
	struct page *p = &wp->page[q->entry];
	const bool ahead = !p->misses && !is_private(wp, q->entry);

	publish(wp, q->entry, q->slot, ahead);
	p->asked = false;
	p->misses = 0;
	p->order = q->order;
	if (!ahead && !is_private(wp, q->entry))
		look_ahead(wp, q->entry);
}

void windowpages_publish(struct windowpages *wp, uint32_t entry)
{
	const struct question first = wp->ready[0];

	if (first.entry != entry)
		return;
	wp->nr_ready--;
	memmove(wp->ready, wp->ready + 1, wp->nr_ready * sizeof(first));
	finish(wp, &first);
}

static void take_answer(struct windowpages *wp, const struct question *q, int err,
			const struct cpi_code_page *page)
{
	struct page *p = &wp->page[q->entry];

	if (err || !q->entry) {
		wp->nr_failed += q->entry != 0;
		p->failed = q->entry != 0; /* the first is nobody's */
		p->asked = false;
		if (q->slot)
			give_back(wp, q->slot);
		return;
	}
	wp->source->slot[q->slot] = *page;
	wp->nr_translated++;
	if (is_private(wp, q->entry))
		wp->ready[wp->nr_ready++] = *q;
	else
		finish(wp, q);
}

static void take_answers(struct windowpages *wp)
{
	const struct cpi_code_page *page;
	uint32_t cookie;
	int err;

	while (!translate_child_take(wp->cfg.translator, &cookie, &err, &page)) {
		const struct question q = wp->asked[0];

		wp->nr_asked--;
		memmove(wp->asked, wp->asked + 1, wp->nr_asked * sizeof(q));
		take_answer(wp, &q, err, page);
	}
}

bool windowpages_run(struct windowpages *wp)
{
	take_answers(wp);
	ask_for_wanted(wp);
	return wp->nr_asked || wp->nr_wanted;
}

static void mark(struct known_image *image)
{
	image->marked = true;
}

void windowpages_mark_images(const struct windowpages *wp)
{
	windowunits_for_each_image(&wp->units, mark);
}

void windowpages_status(const struct windowpages *wp, struct buf *out)
{
	buf_printf(out, "window_pages %u\n",
		   wp->source->nr_slots - 1 - wp->nr_unused - wp->nr_resting);
	buf_printf(out, "window_pages_limit %u\n", wp->source->nr_slots - 1);
	buf_printf(out, "window_pages_waiting %u\n", wp->nr_wanted + wp->nr_asked);
	buf_printf(out, "window_pages_translated %llu\n",
		   (unsigned long long)wp->nr_translated);
	buf_printf(out, "window_pages_failed %llu\n",
		   (unsigned long long)wp->nr_failed);
	buf_printf(out, "window_pages_evicted %llu\n",
		   (unsigned long long)wp->nr_evicted);
}
