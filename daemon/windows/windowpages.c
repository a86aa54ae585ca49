/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * windowpages.c - the life cycle of translated pages: request, translation,
 * publication, eviction
 *
 * cpid requests the translation of a page when a window has ended there. Hot pages are
 * requested first, because windows begin where time is spent. Instruction boundaries
 * are known only at the addresses where windows entered a page. So a page is translated
 * again when a window needs its code at an address that was not requested before. While
 * there is spare memory, pages are also translated ahead of windows: pages with
 * samples, and pages that are reachable from pages that windows have used.
 *
 * Code made at run time belongs to one process, and its address may be reused. So a new
 * translation is published only while the owner's sequence number is odd. A window that
 * runs meanwhile is stale and has no record (abi/window_bpf.h, I3). A record from
 * before has another sequence number, and is not walked. So no record is walked with
 * micro-ops that are newer than it. Unused units are freed, and reused for units of the
 * same size.
 *
 * A page is packed (analysis/windows/codepack.h) into a piece, a run of cells of the
 * shared memory. A piece is free, live (an entry refers to it), or resting (I1):
 *
 *	free ── translated ──> live ── evicted, or translated anew ──> rests
 *	  ^                                                              │
 *	  └──────────────── the grace period is over <───────────────────┘
 *
 * A new page is translated as a whole while there is much memory, and only around the
 * code that a window needed when there is less. If memory is short, a page with more
 * than twice the lines that windows executed is translated again, with only these
 * lines. If there is no such page, the pieces that windows use least are evicted: each
 * look halves a piece's heat, and adds to the heat if windows have used the piece since
 * the last look.
 *
 * windowunits.c assigns entries, and windowpool.c memory.
 */
#include "config.h"

#include "daemon/windows/windowpages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/windows/codepack.h"
#include "base/err.h"
#include "base/times.h"
#include "daemon/os/time_quota.h"
#include "daemon/windows/windowahead.h"
#include "daemon/windows/windowleads.h"
#include "daemon/windows/windowpool.h"
#include "daemon/windows/windowunits.h"

#define GRANULE     16u  /* cells, so 256 bytes */
#define MAX_WANTED  1024 /* pages that wait to be translated */
#define EVICT_SHARE 32   /* of all room, at a time */
#define SLIM_SHARE  8    /* likewise: pages translated again without unused lines */
#define MIN_SHARE   64   /* of all room, with less free nothing is translated */
#define SAVED_SHARE 16   /* of all cells, as many words of what evicted pages had */
#define MIN_MISSES  2    /* before a page takes another's room */
#define HEAT        128  /* of a piece that windows use */
#define MAX_TRIES   64   /* translations of one page, until it is forgotten */
#define LOST_TRIES  16   /* a request without an answer counts as so many */
#define REACH       64   /* instructions that are translated behind a wanted one ... */
#define FIRST_REACH 512  /* ... of a page that is new, if not all of it is */
#define FAT_S       15   /* age at which a piece loses lines no window used */
#define MAX_AHEAD   32   /* places that a page leads to */
#define SPARE_SHARE 8    /* of all room, kept free of pages made ahead */
#define MAX_READY   64
#define SCAN_NS     (5 * NSEC_PER_MSEC) /* between two windowpages_take_room() */
#define MAX_UNREAD  8 /* failures to read a unit's code, until a page is left out */
#define PASS_NS \
	(1800 * NSEC_PER_SEC) /* a line counts as used for this long, or twice */
#define FORGET_NS (600 * NSEC_PER_SEC) /* between two times that all is forgotten */

/* Of all scans: most forms are found in the first minutes. */
static const struct time_quota_limit scan_limit = { 1, 1500 * NSEC_PER_MSEC };

/* Of an entry, beside what the program sees. */
struct page {
	uint16_t begin[CPI_TRANSLATE_ENTRIES]; /* where windows wanted to go on */
	uint8_t nr_begin, nr_tries;
	bool wanted, asked, failed, scanned;
	bool unanswered;        /* its last request, so that it is to be repeated */
	uint32_t order;         /* of what it was made of: jit_order() */
	uint32_t misses;        /* since it was translated */
	uint64_t passed;        /* lines that windows have passed lately ... */
	uint64_t passed_before; /* ... and before */
	struct saved *saved;    /* what it had when it was evicted, or NULL */
	uint32_t live;          /* its piece; 0: it is not translated */
	uint32_t resting;       /* the piece that it had until lately; or 0 */
};

/* Where instructions began in lines that windows passed. */
struct saved {
	uint64_t lines;
	uint64_t starts[]; /* of each of them */
};

struct page_code {
	uint32_t entry; /* 0: it is free */
	uint32_t cell;  /* the first; of a free one the next free one's number */
	uint16_t nr_cells;
	uint8_t heat;
	bool rests;
	bool grace_over; /* no window can run it any more */
	bool fat;        /* it was not made of what windows had passed */
	bool ahead;      /* no window has come to it yet */
	uint32_t born_s;
};

struct question {
	uint32_t cookie;
	uint32_t entry; /* 0: nobody's any more */
	uint32_t order;
	uint32_t size;
	bool fat; /* not made of what windows had passed */
	uint8_t code[CPI_CODE_PAGE + CPI_CODE_MORE];
};

/* Packed, and not published yet. */
struct answer {
	uint32_t entry;
	uint32_t piece;
	uint32_t order;
};

struct windowpages {
	struct windowpages_config cfg;
	const struct windowsource *source;
	struct windowunits units;
	uint64_t forgotten_ns;
	struct page *page; /* by entry */
	struct windowpool pool;
	struct windowleads *leads;
	struct page_code *piece;        /* by number, from 1 on */
	uint32_t nr_pieces, max_pieces; /* that there were ever; that there may be */
	uint32_t free_piece;            /* the first one; 0: none */
	uint32_t nr_live, nr_resting;
	bool short_of_room; /* a packed page did not fit */
	uint32_t nr_saved;  /* words */
	uint64_t passed_ns; /* when passed began anew */
	uint32_t wanted[MAX_WANTED];
	uint32_t nr_wanted;
	int64_t scan_ns; /* that are left for scans */
	struct time_quota scans;
	int64_t credit_ns; /* windowpages_pay() */
	struct question asked[TRANSLATE_CHILD_MAX_ASKED];
	uint32_t nr_asked;
	struct answer ready[MAX_READY];
	uint32_t nr_ready;
	union cpi_code_cell packed[CPI_CODE_MAX_CELLS];
	uint64_t nr_translated, nr_failed, nr_evicted, nr_slimmed;
};

int windowpages_new(const struct windowpages_config *cfg, struct windowpages **out)
{
	struct windowpages *wp = calloc(1, sizeof(*wp));

	if (!wp)
		return -ENOMEM;
	wp->cfg = *cfg;
	wp->source = cfg->source;
	wp->credit_ns = WINDOWPAGES_FIRST_NS;
	windowunits_init(&wp->units, wp->source->cfg.nr_entries);
	wp->page = calloc(wp->source->cfg.nr_entries, sizeof(*wp->page));
	wp->max_pieces = wp->source->nr_cells / GRANULE;
	wp->piece = calloc(wp->max_pieces + 1, sizeof(*wp->piece));
	wp->leads = windowleads_new();
	if (!wp->page || !wp->piece || !wp->leads ||
	    windowpool_init(&wp->pool, wp->source->nr_cells, GRANULE)) {
		windowpages_free(wp);
		return -ENOMEM;
	}
	*out = wp;
	return 0;
}

void windowpages_free(struct windowpages *wp)
{
	if (!wp)
		return;
	for (uint32_t i = 0; wp->page && i < wp->units.next_entry; i++)
		free(wp->page[i].saved);
	windowleads_free(wp->leads);
	windowunits_fini(&wp->units);
	free(wp->page);
	free(wp->piece);
	windowpool_fini(&wp->pool);
	free(wp);
}

/* ---- entries ---- */

static uint64_t pages_of(uint64_t size)
{
	return (size + CPI_CODE_PAGE - 1) / CPI_CODE_PAGE;
}

int windowpages_get(struct windowpages *wp, const struct windowpages_owner *owner,
		    struct known_image *image, uint64_t offset, uint64_t size,
		    uint32_t *first)
{
	struct unit *u;
	int err;

	if (pages_of(size) > WINDOWUNITS_MAX_PAGES)
		return -CPI_ELIMIT;
	err = windowunits_get(&wp->units, owner, image, offset,
			      (uint32_t)pages_of(size), &u);
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

/*
 * Full again within FORGET_NS does not count, so that a process that keeps filling
 * the table cannot have it cleared each time.
 */
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

/* ---- pieces ---- */

/* Makes a piece: nr_cells cells that begin at cell `first`. Returns its number. */
static uint32_t add_piece(struct windowpages *wp, uint32_t entry, uint32_t first,
			  uint32_t nr_cells)
{
	uint32_t number = wp->free_piece;

	if (number)
		wp->free_piece = wp->piece[number].cell;
	else
		number = ++wp->nr_pieces; /* each has a granule: there are enough */
	wp->piece[number] = (struct page_code){ .entry = entry,
						.cell = first,
						.nr_cells = (uint16_t)nr_cells,
						.born_s = (uint32_t)(time_mono_ns() /
								     NSEC_PER_SEC) };
	return number;
}

/* Removes the entry's live piece. Records that were made with it may still need it. */
static void lay_to_rest(struct windowpages *wp, uint32_t entry)
{
	struct page *p = &wp->page[entry];

	__atomic_store_n(&wp->source->entry[entry].cell, 0, __ATOMIC_RELAXED);
	unit_of(wp, entry)->nr_live--;
	wp->piece[p->live].rests = true;
	p->resting = p->live;
	p->live = 0;
	wp->nr_live--;
	wp->nr_resting++;
}

/*
 * The release store pairs with the address dependency of the program's look-up. A
 * page made ahead of windows is evicted first until a window uses it.
 */
static void publish(struct windowpages *wp, uint32_t entry, uint32_t number, bool ahead)
{
	struct cpi_window_entry *e = &wp->source->entry[entry];
	struct page_code *piece = &wp->piece[number];

	if (wp->page[entry].live)
		lay_to_rest(wp, entry);
	unit_of(wp, entry)->nr_live++;
	wp->nr_live++;
	wp->page[entry].live = number;
	piece->ahead = ahead;
	piece->heat = ahead ? 1 : HEAT;
	e->used = !ahead;
	__atomic_store_n(&e->cell, piece->cell, __ATOMIC_RELEASE);
}

static void give_back(struct windowpages *wp, uint32_t number)
{
	struct page_code *piece = &wp->piece[number];

	if (piece->rests) {
		wp->nr_resting--;
		if (wp->page[piece->entry].resting == number)
			wp->page[piece->entry].resting = 0;
	}
	windowpool_give_back(&wp->pool, piece->cell, piece->nr_cells);
	*piece = (struct page_code){ .cell = wp->free_piece };
	wp->free_piece = number;
}

static bool is_live(const struct page_code *piece)
{
	return piece->entry && !piece->rests;
}

/* Notes what windows have used. Granules of the live pieces, by heat. */
static void look_at_heat(struct windowpages *wp, uint32_t granules[256])
{
	for (uint32_t i = 1; i <= wp->nr_pieces; i++) {
		struct page_code *piece = &wp->piece[i];
		struct cpi_window_entry *e = &wp->source->entry[piece->entry];

		if (!is_live(piece) || wp->page[piece->entry].live != i)
			continue;
		piece->heat = (uint8_t)(piece->heat / 2 + (e->used ? HEAT - 1 : 0));
		e->used = 0;
		granules[piece->heat] +=
			windowpool_granules(&wp->pool, piece->nr_cells);
	}
}

/* ---- what windows have passed ---- */

void windowpages_passed(struct windowpages *wp, uint32_t entry, uint32_t from,
			uint32_t to)
{
	wp->page[entry].passed |= ~0ULL << from / CPI_CODE_LINE &
				  ~0ULL >> (CPI_CODE_LINES - 1 - to / CPI_CODE_LINE);
}

static uint64_t lines_in_use(const struct page *p)
{
	return p->passed | p->passed_before;
}

static void age_passed(struct windowpages *wp)
{
	const uint64_t now = time_mono_ns();

	if (now < wp->passed_ns + PASS_NS)
		return;
	wp->passed_ns = now;
	for (uint32_t i = 0; i < wp->units.next_entry; i++) {
		struct page *p = &wp->page[i];

		if (!lines_in_use(p))
			continue; /* and not written: it may take no memory yet */
		p->passed_before = p->passed;
		p->passed = 0;
	}
}

static void drop_saved(struct windowpages *wp, struct page *p)
{
	if (p->saved)
		wp->nr_saved -= 1 + (uint32_t)__builtin_popcountll(p->saved->lines);
	free(p->saved);
	p->saved = NULL;
}

/* Of a page that is about to be evicted. Without memory nothing is saved. */
static void save(struct windowpages *wp, struct page *p)
{
	const union cpi_code_cell *code = &wp->source->cell[wp->piece[p->live].cell];
	const uint64_t lines = code->head.lines & lines_in_use(p);
	const uint32_t nr = 1 + (uint32_t)__builtin_popcountll(lines);
	uint32_t from = 1, to = 0;

	drop_saved(wp, p);
	if (!lines || wp->nr_saved + nr > wp->source->nr_cells / SAVED_SHARE)
		return;
	p->saved = malloc(nr * sizeof(uint64_t));
	if (!p->saved)
		return;
	wp->nr_saved += nr;
	p->saved->lines = lines;
	for (uint64_t all = code->head.lines; all; all &= all - 1, from++) {
		if (lines & all & -all)
			p->saved->starts[to++] = code[from].line.starts;
	}
}

/* ---- room ---- */

/* The coldest pieces. */
static void evict(struct windowpages *wp)
{
	uint32_t granules[256] = { 0 }, want = wp->pool.nr / EVICT_SHARE, most = 0;

	look_at_heat(wp, granules);
	for (uint32_t sum = granules[0]; sum < want && most < 255;)
		sum += granules[++most];
	for (uint32_t i = 1; i <= wp->nr_pieces && want; i++) {
		const struct page_code *piece = &wp->piece[i];
		const uint32_t size = windowpool_granules(&wp->pool, piece->nr_cells);

		if (!is_live(piece) || wp->page[piece->entry].live != i ||
		    piece->heat > most)
			continue;
		if (unit_of(wp, piece->entry)->image)
			save(wp, &wp->page[piece->entry]);
		lay_to_rest(wp, piece->entry);
		wp->nr_evicted++;
		want -= want < size ? want : size;
	}
}

static void want(struct windowpages *wp, uint32_t entry);

/* Whether most of a piece's lines are of no use to windows. */
static bool is_fat(const struct windowpages *wp, uint32_t number, uint32_t now_s)
{
	const struct page_code *piece = &wp->piece[number];
	const struct page *p = &wp->page[piece->entry];
	const uint64_t lines = wp->source->cell[piece->cell].head.lines;

	return is_live(piece) && piece->fat && p->live == number && !piece->ahead &&
	       now_s - piece->born_s >= FAT_S && unit_of(wp, piece->entry)->image &&
	       2 * __builtin_popcountll(lines & lines_in_use(p)) <
		       __builtin_popcountll(lines);
}

/* Has fat pieces made anew, with what windows pass. Whether there were any. */
static bool slim(struct windowpages *wp)
{
	const uint32_t now_s = (uint32_t)(time_mono_ns() / NSEC_PER_SEC);
	uint32_t want_granules = wp->pool.nr / SLIM_SHARE, sum = 0;

	for (uint32_t i = 1; i <= wp->nr_pieces && sum < want_granules; i++) {
		struct page_code *piece = &wp->piece[i];
		struct page *p = &wp->page[piece->entry];

		if (!is_fat(wp, i, now_s))
			continue;
		sum += windowpool_granules(&wp->pool, piece->nr_cells);
		piece->fat = false;
		save(wp, p);
		if (!p->saved)
			continue;
		lay_to_rest(wp, piece->entry);
		p->misses = MIN_MISSES;
		want(wp, piece->entry);
		wp->nr_slimmed++;
	}
	return sum > 0;
}

bool windowpages_has_room(const struct windowpages *wp)
{
	return wp->pool.nr_free > wp->pool.nr / MIN_SHARE;
}

/* A page that was missed once is not worth another's room. */
static bool is_short_of_room(const struct windowpages *wp)
{
	if (wp->nr_resting)
		return false;
	if (wp->short_of_room)
		return true;
	for (uint32_t i = 0; i < wp->nr_wanted && !windowpages_has_room(wp); i++) {
		if (wp->page[wp->wanted[i]].misses >= MIN_MISSES)
			return true;
	}
	return false;
}

static int synchronize(const struct windowpages *wp)
{
	return wp->source->ops->synchronize(wp->source);
}

int windowpages_take_room(struct windowpages *wp)
{
	int err = 0;

	wp->scan_ns =
		time_quota_has(&wp->scans, &scan_limit, time_mono_ns()) ? SCAN_NS : 0;
	age_passed(wp);
	if (is_short_of_room(wp)) {
		if (!slim(wp))
			evict(wp);
		wp->short_of_room = false;
	}
	if (wp->nr_resting)
		err = synchronize(wp);
	for (uint32_t i = 1; i <= wp->nr_pieces && wp->nr_resting && !err; i++)
		wp->piece[i].grace_over = wp->piece[i].rests;
	return err;
}

void windowpages_give_room(struct windowpages *wp)
{
	for (uint32_t i = 1; wp->nr_resting && i <= wp->nr_pieces; i++) {
		if (wp->piece[i].grace_over)
			give_back(wp, i);
	}
}

/* Fresh ones take no memory before they are written. */
static void clear_pages(struct windowpages *wp, uint32_t nr)
{
	struct page *fresh = calloc(wp->source->cfg.nr_entries, sizeof(*fresh));

	for (uint32_t i = 0; i < nr; i++)
		free(wp->page[i].saved);
	wp->nr_saved = 0;
	if (fresh) {
		free(wp->page);
		wp->page = fresh;
	} else {
		memset(wp->page, 0, nr * sizeof(*wp->page));
	}
}

int windowpages_forget(struct windowpages *wp)
{
	const uint32_t nr = wp->units.next_entry; /* the others were never given out */
	int err;

	memset(wp->source->entry, 0, nr * sizeof(*wp->source->entry));
	err = synchronize(wp);
	if (err)
		return err;
	windowleads_forget(wp->leads);
	windowunits_forget(&wp->units);
	wp->forgotten_ns = time_mono_ns();
	clear_pages(wp, nr);
	memset(wp->piece, 0, (wp->nr_pieces + 1) * sizeof(*wp->piece));
	windowpool_clear(&wp->pool);
	for (uint32_t i = 0; i < wp->nr_asked; i++)
		wp->asked[i].entry = 0;
	wp->nr_pieces = wp->free_piece = wp->nr_live = 0;
	wp->nr_resting = wp->nr_wanted = wp->nr_ready = 0;
	return 0;
}

const union cpi_code_cell *windowpages_code(const struct windowpages *wp,
					    uint32_t entry)
{
	const struct page *p = &wp->page[entry];
	const uint32_t any = p->live ? p->live : p->resting;

	return any ? &wp->source->cell[wp->piece[any].cell] : NULL;
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
		give_back(wp, wp->ready[i].piece);
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
		if (p->live)
			lay_to_rest(wp, entry);
		drop_saved(wp, p);
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

/*
 * Returns the address of the page of an entry of code made at run time; *who is its
 * process.
 */
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

static bool is_translated(const struct windowpages *wp, uint32_t entry, uint32_t offset)
{
	const struct page *p = &wp->page[entry];

	return p->live &&
	       codepack_find(&wp->source->cell[wp->piece[p->live].cell], offset);
}

bool windowpages_miss(struct windowpages *wp, uint32_t entry, uint32_t offset)
{
	struct page *p = &wp->page[entry];
	const bool outdated = is_private(wp, entry) && is_outdated(wp, entry);

	p->misses++;
	if (outdated)
		p->nr_tries = 0;
	if (p->failed || p->nr_tries >= MAX_TRIES ||
	    (!outdated && is_translated(wp, entry, offset)))
		return false;
	if (!begins_at(p, offset)) {
		note_begin(p, offset);
	} else if (p->live && !outdated && !p->unanswered) {
		return false; /* no code, or too many micro-ops */
	}
	want(wp, entry);
	return true;
}

static size_t read_code(const struct windowpages *wp, uint32_t entry, void *to,
			uint32_t *order);

static void spend_on_scan(struct windowpages *wp, uint64_t begun_ns)
{
	const uint64_t ns = time_mono_ns() - begun_ns;

	wp->scan_ns -= (int64_t)ns;
	time_quota_spend(&wp->scans, ns);
}

/*
 * The forms of the code of a unit that were not looked at yet: windows that lack one
 * will lack others. What cannot be read now, because somebody is busy, may be later.
 */
static void scan_unit(struct windowpages *wp, struct unit *u, uint32_t uid)
{
	const uint64_t size = (uint64_t)u->nr_pages * CPI_CODE_PAGE;
	uint8_t code[CPI_CODE_PAGE + CPI_FORM_BYTES] = { 0 };

	while (wp->scan_ns > 0 && u->scanned < size) {
		const uint64_t begun_ns = time_mono_ns();
		const size_t got =
			codecache_read(wp->cfg.codecache, u->image,
				       u->offset + u->scanned, code, sizeof(code));
		const size_t end = got < CPI_CODE_PAGE ? got : CPI_CODE_PAGE;
		const size_t at = windowforms_scan(wp->cfg.forms, uid, code, 0, end);

		spend_on_scan(wp, begun_ns);
		if (!got && ++u->nr_unread < MAX_UNREAD)
			return;
		u->scanned = got ? u->scanned + at : size;
		if (at < end)
			return;
	}
}

/* Of a page, from an offset on. Whether there is nothing more to do. */
static bool scan_page(struct windowpages *wp, uint32_t entry, uint32_t offset,
		      uint32_t uid)
{
	const uint64_t begun_ns = time_mono_ns();
	uint8_t code[CPI_CODE_PAGE + CPI_FORM_BYTES] = { 0 };
	uint32_t order;
	const size_t got = read_code(wp, entry, code, &order);
	const size_t end = got < CPI_CODE_PAGE ? got : CPI_CODE_PAGE;
	const size_t at = windowforms_scan(wp->cfg.forms, uid, code, offset, end);

	spend_on_scan(wp, begun_ns);
	return !got || at >= end;
}

bool windowpages_scan(struct windowpages *wp, uint32_t entry, uint32_t offset,
		      uint32_t uid)
{
	struct page *p = &wp->page[entry];

	if (!wp->cfg.forms || is_private(wp, entry))
		return false;
	if (!windowforms_may_scan(wp->cfg.forms, uid))
		return true;
	if (!p->scanned && wp->scan_ns > 0)
		p->scanned = scan_page(wp, entry, offset, uid);
	scan_unit(wp, unit_of(wp, entry), uid);
	return true;
}

static bool has_spare_room(const struct windowpages *wp)
{
	return wp->pool.nr_free > wp->pool.nr / SPARE_SHARE;
}

void windowpages_pay(struct windowpages *wp, int64_t ns)
{
	const int64_t most_ns = wp->credit_ns > WINDOWPAGES_CREDIT_NS
					? wp->credit_ns
					: WINDOWPAGES_CREDIT_NS;

	wp->credit_ns += ns;
	if (wp->credit_ns > most_ns)
		wp->credit_ns = most_ns;
}

bool windowpages_has_credit(const struct windowpages *wp)
{
	return wp->credit_ns > 0;
}

/* Ahead of windows; what they have missed comes first. */
static void want_ahead(struct windowpages *wp, uint32_t entry, uint32_t offset)
{
	struct page *p = &wp->page[entry];

	if (p->failed || p->nr_tries >= MAX_TRIES / 2 || !has_spare_room(wp) ||
	    !windowpages_has_credit(wp) || wp->nr_wanted >= MAX_WANTED / 2 ||
	    is_translated(wp, entry, offset))
		return;
	if (!begins_at(p, offset)) {
		if (p->nr_begin == CPI_TRANSLATE_ENTRIES)
			return;
		note_begin(p, offset);
	} else if (p->live) {
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

	for (int i = 0; i < p->nr_begin && has_spare_room(wp); i++) {
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
	for (uint32_t i = 1; i <= wp->nr_pieces; i++) {
		struct page_code *piece = &wp->piece[i];

		if (!piece->ahead || piece->rests ||
		    !wp->source->entry[piece->entry].used)
			continue;
		piece->ahead = false;
		look_ahead(wp, piece->entry);
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

/*
 * Copies the known instruction starts, so that a new translation extends the
 * previous one instead of replacing it.
 */
static void copy_starts(const struct windowpages *wp, uint32_t entry,
			uint64_t starts[CPI_CODE_LINES])
{
	const union cpi_code_cell *code = windowpages_code(wp, entry);
	const struct saved *saved = wp->page[entry].saved;
	uint32_t number = 1;

	if (saved) {
		for (uint64_t all = saved->lines; all; all &= all - 1)
			starts[__builtin_ctzll(all)] = saved->starts[number++ - 1];
		return;
	}
	for (uint32_t i = 0; i < CPI_CODE_LINES; i++) {
		if (code->head.lines >> i & 1)
			starts[i] = code[number++].line.starts;
	}
}

/* Of a page of which nothing is known but where a window wanted to go on. */
static uint32_t first_reach(const struct windowpages *wp)
{
	return wp->pool.nr_free > wp->pool.nr / 2 ? UINT32_MAX : FIRST_REACH;
}

static int ask(struct windowpages *wp, uint32_t entry)
{
	struct page *p = &wp->page[entry];
	struct cpi_translate_request q = { .nr_entries = p->nr_begin,
					   .reach = first_reach(wp) };
	struct question *asked = &wp->asked[wp->nr_asked];
	int err;

	memcpy(q.entry, p->begin, sizeof(q.entry));
	asked->fat = p->live ? wp->piece[p->live].fat : !p->saved;
	if (is_private(wp, entry)) {
		q.reach = UINT32_MAX;
	} else if (p->live || p->saved) {
		copy_starts(wp, entry, q.starts);
		q.reach = REACH;
	}
	q.size = read_code(wp, entry, q.code, &asked->order);
	/* More may be told later; or the reader may be busy (timed_child.h). */
	if (!q.size && is_private(wp, entry))
		return -ENOENT;
	if (!q.size) {
		p->unanswered = true;
		return ++p->nr_tries < MAX_TRIES ? -ENOENT : -CPI_ENOCODE;
	}
	err = translate_child_ask(wp->cfg.translator, &q, &asked->cookie);
	if (err)
		return err;
	asked->entry = entry;
	asked->size = q.size;
	memcpy(asked->code, q.code, q.size);
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
	/* One request may be for forms. */
	const uint32_t most = TRANSLATE_CHILD_MAX_ASKED - (wp->cfg.forms != NULL);

	while (wp->nr_wanted && windowpages_has_room(wp) && wp->nr_asked < most &&
	       wp->nr_asked + wp->nr_ready < MAX_READY) {
		const uint32_t entry = take_wanted(wp);
		const struct page *p = &wp->page[entry];
		int err;

		if (!p->misses && !is_private(wp, entry) && !has_spare_room(wp))
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

static void finish(struct windowpages *wp, const struct answer *a)
{
	struct page *p = &wp->page[a->entry];
	const bool ahead = !p->misses && !is_private(wp, a->entry);

	publish(wp, a->entry, a->piece, ahead);
	drop_saved(wp, p);
	p->asked = false;
	p->misses = 0;
	p->unanswered = false;
	p->order = a->order;
	if (!ahead && !is_private(wp, a->entry))
		look_ahead(wp, a->entry);
}

void windowpages_publish(struct windowpages *wp, uint32_t entry)
{
	const struct answer first = wp->ready[0];

	if (first.entry != entry)
		return;
	wp->nr_ready--;
	memmove(wp->ready, wp->ready + 1, wp->nr_ready * sizeof(first));
	finish(wp, &first);
}

/* The ctx of read_unit(), a windowleads_read_fn. */
struct unit_code {
	const struct windowpages *wp;
	const struct unit *unit;
};

static size_t read_unit(void *ctx, uint64_t offset, void *to, size_t size)
{
	const struct unit_code *c = ctx;

	return codecache_read(c->wp->cfg.codecache, c->unit->image,
			      c->unit->offset + offset, to, size);
}

/* Code made at run time has no lead-ins: jumps to it may be anywhere. */
static uint32_t check_leads(struct windowpages *wp, uint32_t entry,
			    struct cpi_code_page *page, uint32_t nr_uops)
{
	struct unit_code c = { wp, unit_of(wp, entry) };
	const uint64_t at = (uint64_t)(entry - c.unit->first) * CPI_CODE_PAGE;
	const uint64_t size = (uint64_t)c.unit->nr_pages * CPI_CODE_PAGE;

	return windowleads_check(wp->leads, c.unit, page, nr_uops, at,
				 is_private(wp, entry) ? UINT64_MAX : size, read_unit,
				 &c);
}

/* Its piece, packed; 0: there is no room. */
static uint32_t pack(struct windowpages *wp, const struct question *q,
		     struct cpi_code_page *page, uint32_t nr_uops)
{
	const uint32_t nr =
		codepack_page(page, check_leads(wp, q->entry, page, nr_uops), q->code,
			      q->size, wp->packed);
	const uint32_t first = windowpool_take(&wp->pool, nr);
	uint32_t number;

	if (!first)
		return 0;
	memcpy(&wp->source->cell[first], wp->packed, nr * sizeof(*wp->packed));
	number = add_piece(wp, q->entry, first, nr);
	wp->piece[number].fat = q->fat;
	return number;
}

/* Whether cpi-translate has died or was late, perhaps because of other requests. */
static bool is_lost(int err)
{
	return err == -ECHILD || err == -ETIMEDOUT;
}

/* What has no room is asked for again when a window misses it again. */
static void take_answer(struct windowpages *wp, const struct question *q, int err,
			struct cpi_code_page *page, uint32_t nr_uops)
{
	struct page *p = &wp->page[q->entry];
	struct answer a = { .entry = q->entry, .order = q->order };

	if (!q->entry)
		return;
	if (!err)
		a.piece = pack(wp, q, page, nr_uops);
	if (!a.piece) {
		wp->nr_failed += err != 0;
		p->failed = err && !is_lost(err);
		p->unanswered = is_lost(err);
		if (is_lost(err))
			p->nr_tries = (uint8_t)(p->nr_tries + LOST_TRIES);
		p->asked = false;
		wp->short_of_room |= !err;
		return;
	}
	wp->nr_translated++;
	if (is_private(wp, q->entry))
		wp->ready[wp->nr_ready++] = a;
	else
		finish(wp, &a);
}

static void take_answers(struct windowpages *wp)
{
	struct cpi_translate_reply *r = NULL;
	uint32_t cookie;
	int err;

	while (!translate_child_take(wp->cfg.translator, &cookie, &err, &r)) {
		if (wp->cfg.forms && windowforms_answer(wp->cfg.forms, cookie, err, r))
			continue;
		take_answer(wp, &wp->asked[0], err, err ? NULL : &r->page,
			    err ? 0 : r->nr_uops);
		wp->nr_asked--;
		memmove(wp->asked, wp->asked + 1, wp->nr_asked * sizeof(wp->asked[0]));
	}
}

uint32_t windowpages_run(struct windowpages *wp)
{
	take_answers(wp);
	ask_for_wanted(wp);
	return wp->nr_asked + (wp->cfg.forms && windowforms_run(wp->cfg.forms));
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
	const uint64_t granule = GRANULE * sizeof(union cpi_code_cell);

	buf_printf(out, "window_pages %u\n", wp->nr_live);
	buf_printf(out, "window_code_bytes %llu\n",
		   (unsigned long long)((wp->pool.nr - 1 - wp->pool.nr_free) *
					granule));
	buf_printf(out, "window_code_bytes_limit %llu\n",
		   (unsigned long long)((wp->pool.nr - 1) * granule));
	buf_printf(out, "window_pages_waiting %u\n", wp->nr_wanted + wp->nr_asked);
	buf_printf(out, "window_pages_translated %llu\n",
		   (unsigned long long)wp->nr_translated);
	buf_printf(out, "window_pages_failed %llu\n",
		   (unsigned long long)wp->nr_failed);
	buf_printf(out, "window_pages_slimmed %llu\n",
		   (unsigned long long)wp->nr_slimmed);
	buf_printf(out, "window_pages_evicted %llu\n",
		   (unsigned long long)wp->nr_evicted);
}
