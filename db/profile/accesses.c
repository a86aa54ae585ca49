/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * accesses.c - sums per instruction, with a sample of the lines and pages
 *
 * The sample of places is by hash: an instruction has all places whose hash is below
 * the set's bound, and the ACCESSES_LEAST with the lowest hashes if these are fewer (a
 * bottom-k sketch; Cohen and Kaplan, PODC 2007). A place that was not taken would never
 * be taken later, because bounds only fall. So the counts of those that are there are
 * exact. If the sample is too large, the bound is halved.
 *
 * Strides are counted as in Misra and Gries (1982): a new stride takes one from each of
 * the others if there is no room. So a count is a lower bound, and a stride with more
 * than a fifth of all pairs is found for sure.
 */
#include "config.h"

#include "db/profile/accesses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/search.h"
#include "db/profile/accesses_private.h"

#define WHOLE        (UINT64_C(1) << ACCESSES_HASH_BITS) /* all hashes are below it */
#define THREADS      254                   /* numbers of threads, from 1 on */
#define MOST_TOUCHES (8 * ACCESSES_SAMPLE) /* places whose last touch is known */

static const unsigned int bits_of[] = {
	[ACCESSES_LINES] = ACCESSES_LINE_BITS,
	[ACCESSES_PAGES] = ACCESSES_PAGE_BITS,
};

uint32_t accesses_hash(uint32_t number)
{
	uint64_t x = number + UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((x ^ x >> 31) >> 32);
}

struct accesses *accesses_new(uint32_t limit)
{
	struct accesses *set = calloc(1, sizeof(*set));

	if (set) {
		set->limit = limit;
		for (int g = 0; g < ACCESSES_NR_GRANULES; g++)
			set->bound[g] = WHOLE;
	}
	return set;
}

static void free_insn(struct accesses_insn *insn)
{
	for (int g = 0; g < ACCESSES_NR_GRANULES; g++)
		free(insn->reuse[g].place);
	free(insn);
}

void accesses_free(struct accesses *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->nr; i++)
		free_insn(set->insn[i]);
	for (int g = 0; g < ACCESSES_NR_GRANULES; g++)
		free(set->touch[g]);
	operands_free(set->operands);
	free(set->insn);
	free(set);
}

int accesses_compare(const struct accesses_insn *a, uint32_t image, uint64_t offset)
{
	if (a->image != image)
		return a->image < image ? -1 : 1;
	return (a->offset > offset) - (a->offset < offset);
}

/* Where an instruction is, or belongs. */
static size_t position_of(const struct accesses *set, uint32_t image, uint64_t offset)
{
	return SEARCH(i, set->nr, accesses_compare(set->insn[i], image, offset) >= 0);
}

/* The instruction, which is added if it is new; NULL when out of memory. */
static struct accesses_insn *insn_at(struct accesses *set, uint32_t image,
				     uint64_t offset)
{
	const size_t at = position_of(set, image, offset);
	struct accesses_insn *insn;

	if (at < set->nr && !accesses_compare(set->insn[at], image, offset))
		return set->insn[at];
	insn = calloc(1, sizeof(*insn));
	if (!insn || GROW(set->insn, set->nr)) {
		free(insn);
		return NULL;
	}
	insn->image = image;
	insn->offset = offset;
	memmove(&set->insn[at + 1], &set->insn[at],
		(set->nr - at) * sizeof(struct accesses_insn *));
	set->insn[at] = insn;
	set->nr++;
	return insn;
}

size_t accesses_room(size_t nr)
{
	size_t room = 1;

	while (room < nr)
		room *= 2;
	return room;
}

int accesses_add_empty(struct accesses *set, size_t nr)
{
	set->insn = calloc(accesses_room(nr), sizeof(struct accesses_insn *));
	if (!set->insn)
		return -ENOMEM;
	for (; set->nr < nr; set->nr++) {
		set->insn[set->nr] = calloc(1, sizeof(struct accesses_insn));
		if (!set->insn[set->nr])
			return -ENOMEM;
	}
	return 0;
}

static uint64_t runs_of(const struct accesses_insn *insn)
{
	return insn->known + insn->unknown;
}

static size_t extra_of(uint32_t nr)
{
	return nr > ACCESSES_LEAST ? nr - ACCESSES_LEAST : 0;
}

void accesses_set_places(struct accesses *set, struct accesses_reuse *r, int g,
			 uint32_t nr)
{
	set->nr_places[g] += (size_t)nr - r->nr_places;
	set->nr_extra[g] += extra_of(nr) - extra_of(r->nr_places);
	r->nr_places = nr;
}

static void leave_out(struct accesses *set, struct accesses_insn *insn)
{
	set->left_out += runs_of(insn);
	for (int g = 0; g < ACCESSES_NR_GRANULES; g++)
		accesses_set_places(set, &insn->reuse[g], g, 0);
	free_insn(insn);
}

struct insn_runs {
	uint64_t runs;
	size_t at;
};

/* Of equal ones the first one is left out first. */
static int compare_runs(const void *va, const void *vb)
{
	const struct insn_runs *a = va, *b = vb;

	if (a->runs != b->runs)
		return a->runs < b->runs ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* Leaves out the nr instructions that ran least often. Returns 0 or -ENOMEM. */
static int leave_out_least(struct accesses *set, size_t nr)
{
	struct insn_runs *order = malloc(set->nr * sizeof(*order));
	size_t kept = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < set->nr; i++)
		order[i] = (struct insn_runs){ runs_of(set->insn[i]), i };
	qsort(order, set->nr, sizeof(*order), compare_runs);
	for (size_t i = 0; i < nr; i++) {
		leave_out(set, set->insn[order[i].at]);
		set->insn[order[i].at] = NULL;
	}
	for (size_t i = 0; i < set->nr; i++) {
		if (set->insn[i])
			set->insn[kept++] = set->insn[i];
	}
	set->nr = kept;
	free(order);
	return 0;
}

/* Drops the last places, as long as the rules of the sample do not keep them. */
static void drop_places(struct accesses *set, struct accesses_insn *insn, int g)
{
	struct accesses_reuse *r = &insn->reuse[g];
	uint32_t nr = r->nr_places;

	while (nr > ACCESSES_LEAST && r->place[nr - 1].hash >= set->bound[g])
		nr--;
	accesses_set_places(set, r, g, nr);
}

static void apply_bound(struct accesses *set, int g)
{
	for (size_t i = 0; i < set->nr; i++)
		drop_places(set, set->insn[i], g);
	while (set->nr_touches[g] &&
	       set->touch[g][set->nr_touches[g] - 1].hash >= set->bound[g])
		set->nr_touches[g]--;
}

static void lower_bound(struct accesses *set, int g)
{
	while (set->bound[g] > 1 && (set->nr_touches[g] > MOST_TOUCHES ||
				     (set->nr_places[g] > ACCESSES_SAMPLE &&
				      set->nr_extra[g] > ACCESSES_SAMPLE))) {
		set->bound[g] /= 2;
		apply_bound(set, g);
	}
}

static int keep_bounds(struct accesses *set)
{
	int err = 0;

	if (set->nr > set->limit + set->limit / 4)
		err = leave_out_least(set, set->nr - set->limit);
	for (int g = 0; g < ACCESSES_NR_GRANULES; g++)
		lower_bound(set, g);
	return err;
}

int accesses_compare_places(const void *va, const void *vb)
{
	const struct accesses_place *a = va, *b = vb;

	if (a->hash != b->hash)
		return a->hash < b->hash ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int add_place(struct accesses *set, struct accesses_insn *insn, int g,
		     const struct accesses_place *p)
{
	struct accesses_reuse *r = &insn->reuse[g];
	const size_t at =
		SEARCH(i, r->nr_places, accesses_compare_places(&r->place[i], p) >= 0);

	if (at < r->nr_places && !accesses_compare_places(&r->place[at], p)) {
		r->place[at].n += p->n;
		if (r->place[at].thread != p->thread)
			r->place[at].thread = ACCESSES_SHARED;
		return 0;
	}
	if (at >= ACCESSES_LEAST && p->hash >= set->bound[g])
		return 0;
	if (GROW(r->place, r->nr_places))
		return -ENOMEM;
	memmove(&r->place[at + 1], &r->place[at],
		(r->nr_places - at) * sizeof(*r->place));
	r->place[at] = *p;
	accesses_set_places(set, r, g, r->nr_places + 1);
	drop_places(set, insn, g);
	return 0;
}

static size_t touch_position(const struct accesses *set, int g, uint32_t hash,
			     uint32_t number)
{
	const struct accesses_touch *t = set->touch[g];

	return SEARCH(i, set->nr_touches[g],
		      t[i].hash > hash || (t[i].hash == hash && t[i].number >= number));
}

/*
 * Notes that a place is touched now. *since becomes the accesses since it was touched
 * before, or since the set began if it was not, or 0 if the place is not in the sample.
 * 1 if it was touched before, 0 or -ENOMEM.
 */
static int touch(struct accesses *set, int g, uint32_t number, uint64_t *since)
{
	const uint32_t hash = accesses_hash(number);
	const size_t at = touch_position(set, g, hash, number);
	struct accesses_touch *t;

	*since = 0;
	if (hash >= set->bound[g])
		return 0;
	t = set->touch[g];
	if (at < set->nr_touches[g] && t[at].number == number) {
		*since = set->clock - t[at].when;
		t[at].when = set->clock;
		return 1;
	}
	if (GROW(set->touch[g], set->nr_touches[g]))
		return -ENOMEM;
	t = set->touch[g];
	memmove(&t[at + 1], &t[at], (set->nr_touches[g] - at) * sizeof(*t));
	t[at] = (struct accesses_touch){ hash, number, set->clock };
	set->nr_touches[g]++;
	*since = set->clock;
	return 0;
}

static bool is_before(const struct accesses_stride *a, const struct accesses_stride *b)
{
	return a->n != b->n ? a->n > b->n : a->n && a->bytes < b->bytes;
}

static void sort_strides(struct accesses_stride *s, int nr)
{
	for (int i = 1; i < nr; i++)
		for (int k = i; k > 0 && is_before(&s[k], &s[k - 1]); k--) {
			const struct accesses_stride swapped = s[k];

			s[k] = s[k - 1];
			s[k - 1] = swapped;
		}
}

/* Adds counts; what does not fit in is taken from all. */
static void add_strides(struct accesses_stride *to, const struct accesses_stride *from,
			int nr)
{
	struct accesses_stride all[2 * ACCESSES_STRIDES];
	int nr_all = ACCESSES_STRIDES;
	uint64_t taken = 0;

	memcpy(all, to, ACCESSES_STRIDES * sizeof(*all));
	for (int i = 0; i < nr && from[i].n; i++) {
		int k = 0;

		while (k < ACCESSES_STRIDES && all[k].n &&
		       all[k].bytes != from[i].bytes)
			k++;
		if (k < ACCESSES_STRIDES && all[k].n)
			all[k].n += from[i].n;
		else
			all[nr_all++] = from[i];
	}
	sort_strides(all, nr_all);
	if (nr_all > ACCESSES_STRIDES)
		taken = all[ACCESSES_STRIDES].n;
	for (int i = 0; i < ACCESSES_STRIDES; i++) {
		to[i] = all[i];
		to[i].n -= to[i].n < taken ? to[i].n : taken;
		if (!to[i].n)
			to[i].bytes = 0;
	}
}

/* The accesses of one window, while they are added. */
struct window_state {
	struct accesses *set;
	const struct access *a;
	struct accesses_insn *insn[ACCESSES_MAX_WINDOW];
	uint8_t thread;
};

static uint64_t number_of(const struct access *a, unsigned int bits, bool last)
{
	const uint64_t more = last ? (UINT64_C(1) << a->size) - 1 : 0;

	return (a->address + more) >> bits;
}

/* How many accesses ago access i's line or page was touched; 0: not in this window. */
static size_t age_of(const struct window_state *w, size_t i, unsigned int bits)
{
	const uint64_t number = number_of(&w->a[i], bits, false);

	for (size_t k = i; k-- > 0;)
		if (w->a[k].known && number_of(&w->a[k], bits, false) <= number &&
		    number <= number_of(&w->a[k], bits, true))
			return i - k;
	return 0;
}

static int age_class(size_t age)
{
	return 63 - __builtin_clzll(age);
}

static void add_stride(const struct window_state *w, size_t i)
{
	struct accesses_stride s = { .n = 1 };

	for (size_t k = i; k-- > 0;)
		if (w->insn[k] == w->insn[i] && w->a[k].known) {
			s.bytes = (int32_t)(w->a[i].address - w->a[k].address);
			w->insn[i]->pairs++;
			add_strides(w->insn[i]->stride, &s, 1);
			return;
		}
}

static void add_gap(struct accesses_reuse *r, int touched, uint64_t since)
{
	int gap = age_class(since);

	if (gap >= ACCESSES_GAPS)
		gap = ACCESSES_GAPS - 1;
	(touched ? r->again : r->never)[gap]++;
}

/*
 * Touches the line or page of an access. If the access reaches into a second one, both
 * are touched, but only the first one counts.
 */
static int add_touch(const struct window_state *w, size_t i, int g)
{
	const unsigned int bits = bits_of[g];
	struct accesses_reuse *r = &w->insn[i]->reuse[g];
	const size_t age = age_of(w, i, bits);
	const uint32_t last = (uint32_t)number_of(&w->a[i], bits, true);
	struct accesses_place p = { .n = 1, .thread = w->thread };
	uint64_t since, unused;
	int touched;

	p.number = w->a[i].address >> bits;
	touched = touch(w->set, g, p.number, &since);
	if (touched >= 0 && last != p.number && touch(w->set, g, last, &unused) < 0)
		touched = -ENOMEM;
	if (touched < 0)
		return touched;
	if (age) {
		r->reused[age_class(age)]++;
		return 0;
	}
	r->survived[age_class(i + 1)]++;
	r->first++;
	if (since)
		add_gap(r, touched, since);
	p.hash = accesses_hash(p.number);
	return add_place(w->set, w->insn[i], g, &p);
}

static int alignment_of(uint32_t address)
{
	const int zeros = address ? __builtin_ctz(address) : 32;

	return zeros < ACCESSES_ALIGNMENTS ? zeros : ACCESSES_ALIGNMENTS - 1;
}

/*
 * Counts a load if the last known store to some of its bytes is in the window. A later
 * store of unknown address may have written them, too.
 */
static void add_forwarded(const struct window_state *w, size_t i)
{
	const struct access *a = &w->a[i];
	const int32_t loaded = 1 << a->size;
	struct accesses_insn *insn = w->insn[i];

	for (size_t k = i; !a->store && k-- > 0;) {
		const int32_t at = (int32_t)(a->address - w->a[k].address);
		const int32_t stored = 1 << w->a[k].size;
		const int distance = a->nr - w->a[k].nr;

		if (!w->a[k].known || !w->a[k].writes || at >= stored || at <= -loaded)
			continue;
		insn->forwarded[age_class(distance > 0 ? (size_t)distance : 1)]++;
		insn->partial += at < 0 || at + loaded > stored;
		return;
	}
}

static int add_known(const struct window_state *w, size_t i)
{
	struct accesses_insn *insn = w->insn[i];
	const unsigned int line = ACCESSES_LINE_BITS;
	int err = 0;

	w->set->clock++;
	insn->known++;
	insn->splits +=
		number_of(&w->a[i], line, false) != number_of(&w->a[i], line, true);
	insn->aligned[alignment_of(w->a[i].address)]++;
	add_forwarded(w, i);
	add_stride(w, i);
	for (int g = 0; !err && g < ACCESSES_NR_GRANULES; g++)
		err = add_touch(w, i, g);
	return err;
}

static int add_access(struct window_state *w, size_t i)
{
	struct accesses_insn *insn = insn_at(w->set, w->a[i].image, w->a[i].offset);

	if (!insn)
		return -ENOMEM;
	w->insn[i] = insn;
	insn->stores |= w->a[i].store;
	insn->loads |= !w->a[i].store;
	if (insn->size < w->a[i].size)
		insn->size = w->a[i].size;
	w->set->seen++;
	if (w->a[i].known)
		return add_known(w, i);
	insn->unknown++;
	return 0;
}

int accesses_add(struct accesses *set, const struct access *a, size_t nr, uint32_t tid)
{
	struct window_state w = { .set = set, .a = a };
	int err = 0;

	if (nr > ACCESSES_MAX_WINDOW)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++)
		if (a[i].size > ACCESSES_MAX_SIZE)
			return -EINVAL;
	if (nr > INT64_MAX - set->seen)
		return -EOVERFLOW;
	w.thread = (uint8_t)(1 + accesses_hash(tid) % THREADS);
	for (size_t i = 0; !err && i < nr; i++)
		err = add_access(&w, i);
	set->windows += nr != 0;
	return err ? err : keep_bounds(set);
}

static int merge_places(struct accesses *set, struct accesses_insn *to,
			const struct accesses_insn *from, int g)
{
	const struct accesses_reuse *r = &from->reuse[g];
	int err = 0;

	for (int i = 0; i < ACCESSES_AGES; i++) {
		to->reuse[g].reused[i] += r->reused[i];
		to->reuse[g].survived[i] += r->survived[i];
	}
	for (int i = 0; i < ACCESSES_GAPS; i++) {
		to->reuse[g].again[i] += r->again[i];
		to->reuse[g].never[i] += r->never[i];
	}
	to->reuse[g].first += r->first;
	for (uint32_t i = 0; !err && i < r->nr_places; i++)
		err = add_place(set, to, g, &r->place[i]);
	return err;
}

/*
 * After a merge, keeps only the places whose hash is below both sets' bounds. The other
 * set may have dropped a place above its bound, so the sum of its touches is not known.
 */
static void drop_partial(struct accesses *set, struct accesses_insn *to, int g,
			 uint64_t bound)
{
	struct accesses_reuse *r = &to->reuse[g];
	uint32_t nr = r->nr_places;

	while (nr && r->place[nr - 1].hash >= bound)
		nr--;
	accesses_set_places(set, r, g, nr);
}

static uint64_t places_taken(const struct accesses_reuse *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < r->nr_places; i++)
		n += r->place[i].n;
	return n;
}

/*
 * The set has all places of the instruction whose hash is below the returned value.
 * with_last: also the last place of a bottom-k sketch.
 */
static uint64_t complete_below(const struct accesses *set,
			       const struct accesses_insn *insn, int g, bool with_last)
{
	const struct accesses_reuse *r = &insn->reuse[g];

	if (places_taken(r) == r->first)
		return WHOLE;
	if (r->nr_places && r->place[r->nr_places - 1].hash >= set->bound[g])
		return (uint64_t)r->place[r->nr_places - 1].hash + with_last;
	return set->bound[g];
}

static int merge_insn(struct accesses *set, struct accesses_insn *to,
		      const struct accesses *of, const struct accesses_insn *from)
{
	int err = 0;

	for (int g = 0; !err && g < ACCESSES_NR_GRANULES; g++) {
		const uint64_t a = complete_below(set, to, g, true),
			       b = complete_below(of, from, g, true);

		err = merge_places(set, to, from, g);
		drop_partial(set, to, g, a < b ? a : b);
	}
	to->loads |= from->loads;
	to->stores |= from->stores;
	to->size = to->size < from->size ? from->size : to->size;
	to->known += from->known;
	to->unknown += from->unknown;
	to->splits += from->splits;
	to->pairs += from->pairs;
	for (int i = 0; i < ACCESSES_ALIGNMENTS; i++)
		to->aligned[i] += from->aligned[i];
	for (int i = 0; i < ACCESSES_AGES; i++)
		to->forwarded[i] += from->forwarded[i];
	to->partial += from->partial;
	add_strides(to->stride, from->stride, ACCESSES_STRIDES);
	return err;
}

static int get_operands(struct accesses *set)
{
	if (!set->operands)
		set->operands = operands_new(OPERANDS_MAX_SITES);
	return set->operands ? 0 : -ENOMEM;
}

int accesses_merge(struct accesses *set, const struct accesses *from,
		   const uint32_t *map, uint32_t nr_map)
{
	int err = 0;

	for (size_t i = 0; map && i < from->nr; i++)
		if (from->insn[i]->image >= nr_map)
			return -CPI_ECORRUPT;
	if (from->operands && !operands_fit(from->operands, map, nr_map))
		return -CPI_ECORRUPT;
	if (from->seen > INT64_MAX - set->seen)
		return -EOVERFLOW;
	for (int g = 0; g < ACCESSES_NR_GRANULES; g++)
		if (from->bound[g] < set->bound[g]) {
			set->bound[g] = from->bound[g];
			apply_bound(set, g);
		}
	for (size_t i = 0; !err && i < from->nr; i++) {
		const struct accesses_insn *insn = from->insn[i];
		struct accesses_insn *to =
			insn_at(set, map ? map[insn->image] : insn->image,
				insn->offset);

		err = to ? merge_insn(set, to, from, insn) : -ENOMEM;
	}
	set->windows += from->windows;
	set->seen += from->seen;
	set->left_out += from->left_out;
	if (!err)
		err = keep_bounds(set);
	if (!err && from->operands)
		err = get_operands(set);
	if (!err && from->operands)
		err = operands_merge(set->operands, from->operands, map, nr_map);
	return err;
}

int accesses_add_operands(struct accesses *set, const struct operand *o, size_t nr)
{
	const int err = get_operands(set);

	return err ? err : operands_add(set->operands, o, nr);
}

const struct operands *accesses_operands(const struct accesses *set)
{
	return set->operands;
}

uint64_t accesses_seen(const struct accesses *set)
{
	return set->seen;
}

uint64_t accesses_kept(const struct accesses *set)
{
	return set->seen - set->left_out;
}

uint64_t accesses_windows(const struct accesses *set)
{
	return set->windows;
}

size_t accesses_memory(const struct accesses *set)
{
	size_t bytes = sizeof(*set) + set->nr * (sizeof(struct accesses_insn) +
						 2 * sizeof(struct accesses_insn *));

	for (int g = 0; g < ACCESSES_NR_GRANULES; g++)
		bytes += 2 * (set->nr_places[g] * sizeof(struct accesses_place) +
			      set->nr_touches[g] * sizeof(struct accesses_touch));
	return bytes + (set->operands ? operands_memory(set->operands) : 0);
}

const struct accesses_insn *const *accesses_insns(const struct accesses *set,
						  size_t *nr)
{
	*nr = set->nr;
	return (const struct accesses_insn *const *)set->insn;
}

uint64_t accesses_bound(const struct accesses *set, const struct accesses_insn *insn,
			enum accesses_granule granule)
{
	return complete_below(set, insn, granule, false);
}
