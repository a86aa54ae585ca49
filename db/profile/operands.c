/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * operands.c - sums per operand, with the most frequent values
 *
 * A site has a table of at most OPERANDS_VALUES values, made by Space-Saving (Metwally,
 * Agrawal and El Abbadi, ICDT 2005). If it is full, a new value takes the place of the
 * one with the least n + missed, and this sum becomes its `missed`. So n is a lower
 * bound and n + missed an upper one, and a value that is not there has at most `floor`
 * executions, which is no more than 1 / OPERANDS_VALUES of all.
 *
 * A value that was displaced and comes again counts again as different. Of merged sets
 * the number of different values is that of the set with the most.
 */
#include "config.h"

#include "db/profile/operands.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/grow.h"
#include "base/search.h"
#include "base/varint.h"

#define SMALL        256
#define BIASED       8 /* at most one in so many jumps goes the other way */
#define LEAST_LOADS  16
#define LEAST_BYTES  13 /* of a stored site */
#define MOST_SIZE    3
#define SIZE_SHIFT   4
#define MISSED       64                  /* flag: of older versions nothing is known */
#define MOST_COUNT   (UINT64_C(1) << 48) /* executions of a site */
#define MOST_IN_LIST (UINT64_C(1) << 32)
#define MOST_SMALL   (INT64_C(1) << 16)

struct operands {
	struct operands_site **site; /* by image, offset and kind */
	size_t nr, nr_values;
	uint32_t limit; /* of nr */
	uint64_t left_out;
	uint64_t window; /* windows that were added */
};

struct operands *operands_new(uint32_t limit)
{
	struct operands *set = calloc(1, sizeof(*set));

	if (set)
		set->limit = limit;
	return set;
}

static void free_site(struct operands_site *s)
{
	if (s->value)
		explicit_bzero(s->value, s->nr * sizeof(*s->value));
	free(s->value);
	explicit_bzero(s, sizeof(*s));
	free(s);
}

void operands_free(struct operands *set)
{
	if (!set)
		return;
	for (size_t i = 0; i < set->nr; i++)
		free_site(set->site[i]);
	free(set->site);
	free(set);
}

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

enum operand_class operands_class(int64_t value)
{
	const uint64_t m = magnitude(value);

	if (!m)
		return OPERAND_ZERO;
	if (m < SMALL)
		return OPERAND_SMALL;
	return m & (m - 1) ? OPERAND_OTHER : OPERAND_POWER;
}

bool operands_may_keep(enum operand_kind kind, int64_t value)
{
	if (kind == OPERAND_LOADED)
		return false;
	if (kind == OPERAND_DIVISOR || kind == OPERAND_SIZE)
		return (uint64_t)value < MOST_IN_LIST;
	return -MOST_SMALL < value && value < MOST_SMALL;
}

static uint64_t executions(const struct operands_site *s)
{
	return s->known + s->unknown;
}

static bool is_compare(const struct operands_site *s)
{
	return s->kind == OPERAND_COMPARED || s->kind == OPERAND_COMPARED_WITH;
}

/* ---- adding ---- */

static int compare_site(const struct operands_site *s, uint32_t image, uint64_t offset,
			unsigned int kind)
{
	if (s->image != image)
		return s->image < image ? -1 : 1;
	if (s->offset != offset)
		return s->offset < offset ? -1 : 1;
	return (s->kind > kind) - (s->kind < kind);
}

/* Sets *out to the site, which is added if it is new; NULL if there are too many. */
static int get_site(struct operands *set, uint32_t image, uint64_t offset,
		    unsigned int kind, struct operands_site **out)
{
	const size_t at = SEARCH(i, set->nr,
				 compare_site(set->site[i], image, offset, kind) >= 0);
	struct operands_site *s;

	*out = NULL;
	if (at < set->nr && !compare_site(set->site[at], image, offset, kind)) {
		*out = set->site[at];
		return 0;
	}
	if (set->nr >= set->limit)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s || GROW(set->site, set->nr)) {
		free(s);
		return -ENOMEM;
	}
	*s = (struct operands_site){ .offset = offset,
				     .image = image,
				     .kind = (uint8_t)kind };
	memmove(&set->site[at + 1], &set->site[at],
		(set->nr - at) * sizeof(struct operands_site *));
	set->site[at] = s;
	set->nr++;
	*out = s;
	return 0;
}

static struct operands_value *find_value(const struct operands_site *s, int64_t value)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		if (s->value[i].value == value)
			return &s->value[i];
	}
	return NULL;
}

/*
 * Makes room for one more value. Tables have 1, 2, 4, … places; the old one is erased,
 * which realloc() does not do.
 */
static int grow_values(struct operands_site *s)
{
	struct operands_value *value;

	if (s->nr & (s->nr - 1))
		return 0;
	value = calloc(s->nr ? 2 * s->nr : 1, sizeof(*value));
	if (!value)
		return -ENOMEM;
	if (s->nr) {
		memcpy(value, s->value, s->nr * sizeof(*value));
		explicit_bzero(s->value, s->nr * sizeof(*value));
	}
	free(s->value);
	s->value = value;
	return 0;
}

static void raise(uint64_t *most, uint64_t n)
{
	if (*most < n)
		*most = n;
}

/* The most executions that a value of the table has. */
static uint64_t most_of(const struct operands_value *v)
{
	return v->n + v->missed;
}

/* A place for a value that is not in the table. NULL when out of memory. */
static struct operands_value *place_value(struct operands *set, struct operands_site *s)
{
	struct operands_value *least = NULL;

	if (s->nr == OPERANDS_VALUES) {
		for (uint32_t i = 0; i < s->nr; i++) {
			if (!least || most_of(&s->value[i]) < most_of(least))
				least = &s->value[i];
		}
		return least;
	}
	if (grow_values(s))
		return NULL;
	set->nr_values++;
	s->value[s->nr] = (struct operands_value){ 0 };
	return &s->value[s->nr++];
}

/* Adds an execution with a known value, which counts `times` times. */
static int add_value(struct operands *set, struct operands_site *s, int64_t value,
		     uint64_t times)
{
	struct operands_value *v;

	s->same += s->known && s->last == value ? times : 0;
	s->last = value;
	s->known += times;
	s->windows += s->window != set->window;
	s->window = set->window;
	s->class[operands_class(value)] += times;
	if (!operands_may_keep(s->kind, value))
		return 0;
	v = find_value(s, value);
	if (!v) {
		v = place_value(set, s);
		if (!v)
			return -ENOMEM;
		if (most_of(v) > s->floor)
			s->floor = most_of(v);
		*v = (struct operands_value){ .value = value, .missed = s->floor };
		s->distinct++;
	}
	v->n += times;
	v->windows += v->window != set->window;
	v->window = set->window;
	return 0;
}

int operands_add(struct operands *set, const struct operand *o, size_t nr)
{
	int err = nr <= OPERANDS_MAX_WINDOW ? 0 : -EINVAL;

	for (size_t i = 0; !err && i < nr; i++)
		err = o[i].kind < OPERAND_NR_KINDS && o[i].size <= MOST_SIZE ? 0
									     : -EINVAL;
	set->window += !err;
	for (size_t i = 0; !err && i < nr; i++) {
		const uint64_t times = 1 + (uint64_t)o[i].more;
		struct operands_site *s;

		err = get_site(set, o[i].image, o[i].offset, o[i].kind, &s);
		if (err)
			break;
		if (!s) {
			set->left_out += times;
			continue;
		}
		s->taken += o[i].taken ? times : 0;
		s->size = o[i].size;
		if (o[i].known)
			err = add_value(set, s, o[i].value, times);
		else
			s->unknown += times;
	}
	return err;
}

/*
 * A value loses executions if it is displaced from `to`, and if it is left out or
 * displaced after it came from `from`. Each can happen to a value once. So no value
 * loses more than the largest loss of the first kind plus the largest of the second.
 */
static int merge_values(struct operands *set, struct operands_site *to,
			const struct operands_site *from)
{
	bool came[OPERANDS_VALUES] = { false }; /* in this merge */
	uint64_t lost_of_to = 0, lost_of_from = 0;

	for (uint32_t i = 0; i < from->nr; i++) {
		const struct operands_value *f = &from->value[i];
		struct operands_value *v = find_value(to, f->value);

		if (!v) {
			v = place_value(set, to);
			if (!v)
				return -ENOMEM;
			if (v->n > f->n) { /* it has the most frequent ones */
				raise(&lost_of_from, f->n);
				continue;
			}
			raise(came[v - to->value] ? &lost_of_from : &lost_of_to,
			      most_of(v));
			came[v - to->value] = true;
			*v = (struct operands_value){ .value = f->value };
		}
		v->n += f->n;
		v->windows += f->windows;
	}
	to->missed += lost_of_to + lost_of_from;
	if (to->missed > to->known)
		to->missed = to->known;
	return 0;
}

static int merge_site(struct operands *set, struct operands_site *to,
		      const struct operands_site *from)
{
	to->size = from->size;
	to->known += from->known;
	to->unknown += from->unknown;
	to->windows += from->windows;
	to->same += from->same;
	to->taken += from->taken;
	to->missed += from->missed + from->floor;
	if (from->distinct > to->distinct)
		to->distinct = from->distinct;
	for (int i = 0; i < OPERAND_NR_CLASSES; i++)
		to->class[i] += from->class[i];
	return merge_values(set, to, from);
}

bool operands_fit(const struct operands *set, const uint32_t *map, uint32_t nr_map)
{
	for (size_t i = 0; map && i < set->nr; i++) {
		if (set->site[i]->image >= nr_map)
			return false;
	}
	return true;
}

int operands_merge(struct operands *set, const struct operands *from,
		   const uint32_t *map, uint32_t nr_map)
{
	uint64_t left_out = from->left_out;
	int err = 0;

	if (!operands_fit(from, map, nr_map))
		return -CPI_ECORRUPT;
	for (size_t i = 0; !err && i < from->nr; i++) {
		const struct operands_site *s = from->site[i];
		struct operands_site *to;

		err = get_site(set, map ? map[s->image] : s->image, s->offset, s->kind,
			       &to);
		if (!err && to && executions(to) + executions(s) <= MOST_COUNT)
			err = merge_site(set, to, s);
		else if (!err)
			left_out += executions(s);
	}
	set->left_out = left_out < INT64_MAX - set->left_out ? set->left_out + left_out
							     : INT64_MAX;
	return err;
}

const struct operands_site *const *operands_sites(const struct operands *set,
						  size_t *nr)
{
	*nr = set->nr;
	return (const struct operands_site *const *)set->site;
}

uint64_t operands_left_out(const struct operands *set)
{
	return set->left_out;
}

size_t operands_memory(const struct operands *set)
{
	return sizeof(*set) +
	       set->nr * (sizeof(struct operands_site) + 2 * sizeof(void *)) +
	       2 * set->nr_values * sizeof(struct operands_value);
}

/* ---- as bytes ---- */

static bool is_biased(const struct operands_site *s)
{
	const uint64_t all = executions(s);
	const uint64_t rare = s->taken < all - s->taken ? s->taken : all - s->taken;

	return rare <= all / BIASED;
}

/*
 * Whether at most one load in 8 returned another value than the load before. The first
 * load of each merged set counts as one that did. So if two sets pass, their sum passes
 * as well.
 */
static bool repeats(const struct operands_site *s)
{
	return s->known >= LEAST_LOADS &&
	       s->known - s->same <= 2 * (s->known / LEAST_LOADS);
}

/* Whether a site is stored at all. */
static bool is_worth(const struct operands_site *s)
{
	if (s->windows < OPERANDS_LEAST_WINDOWS)
		return false;
	if (s->kind == OPERAND_LOADED)
		return repeats(s);
	return !is_compare(s) || is_biased(s);
}

static int by_frequency(const void *a, const void *b)
{
	const struct operands_value *x = a, *y = b;

	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

static int by_value(const void *a, const void *b)
{
	const struct operands_value *x = a, *y = b;

	return (x->value > y->value) - (x->value < y->value);
}

/*
 * The values that may be stored, in the order of the values. Returns their number.
 * *missed: I6 of them.
 */
static uint32_t choose_values(const struct operands_site *s,
			      struct operands_value out[OPERANDS_VALUES],
			      uint64_t *missed)
{
	uint64_t most = s->floor;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < s->nr; i++) {
		if (s->value[i].windows >= OPERANDS_LEAST_WINDOWS)
			out[nr++] = s->value[i];
		else
			raise(&most, most_of(&s->value[i]));
	}
	qsort(out, nr, sizeof(*out), by_frequency);
	for (; nr > OPERANDS_KEPT; nr--)
		raise(&most, most_of(&out[nr - 1]));
	qsort(out, nr, sizeof(*out), by_value);
	most += s->missed;
	*missed = most < s->known ? most : s->known;
	return nr;
}

static uint64_t fold(int64_t v)
{
	return (uint64_t)v << 1 ^ -((uint64_t)v >> 63);
}

static int64_t unfold(uint64_t v)
{
	return (int64_t)(v >> 1 ^ -(v & 1));
}

static void put_site(const struct operands_site *s, struct buf *out)
{
	struct operands_value value[OPERANDS_VALUES];
	uint64_t missed;
	const uint32_t nr = choose_values(s, value, &missed);

	varint_put(out, s->kind | (unsigned int)s->size << SIZE_SHIFT | MISSED);
	varint_put(out, s->known);
	varint_put(out, s->unknown);
	varint_put(out, s->windows);
	varint_put(out, s->same);
	varint_put(out, s->taken);
	varint_put(out, s->distinct);
	varint_put(out, missed);
	for (int i = 0; i + 1 < OPERAND_NR_CLASSES; i++)
		varint_put(out, s->class[i]);
	varint_put(out, nr);
	for (uint32_t i = 0; i < nr; i++) {
		varint_put(out, i ? (uint64_t)(value[i].value - value[i - 1].value)
				  : fold(value[i].value));
		varint_put(out, value[i].n);
		varint_put(out, value[i].windows);
	}
	explicit_bzero(value, sizeof(value));
}

void operands_put(const struct operands *set, struct buf *out)
{
	const struct operands_site *before = NULL;
	uint64_t left_out = set->left_out, nr = 0;

	for (size_t i = 0; i < set->nr; i++) {
		const struct operands_site *s = set->site[i];

		if (is_worth(s))
			nr++;
		else
			left_out += executions(s);
	}
	if (!nr)
		return;
	varint_put(out, left_out < INT64_MAX ? left_out : INT64_MAX);
	varint_put(out, nr);
	for (size_t i = 0; i < set->nr; i++) {
		const struct operands_site *s = set->site[i];
		const bool near = before && before->image == s->image;

		if (!is_worth(s))
			continue;
		varint_put(out, s->image - (before ? before->image : 0));
		varint_put(out, s->offset - (near ? before->offset : 0));
		put_site(s, out);
		before = s;
	}
}

struct operands_reader {
	const uint8_t *at, *end;
	int err;
};

/* A number of at most most; 0 after an error. */
static uint64_t get(struct operands_reader *r, uint64_t most)
{
	return varint_take(&r->at, r->end, most, &r->err);
}

static void get_values(struct operands_reader *r, struct operands *set,
		       struct operands_site *s)
{
	const uint64_t nr = get(r, OPERANDS_KEPT);
	uint64_t left = s->known;
	int64_t value = 0;

	for (uint64_t i = 0; i < nr && !r->err; i++) {
		const uint64_t step = get(r, UINT64_MAX);
		struct operands_value *v = place_value(set, s);

		if (!v) {
			r->err = -ENOMEM;
			return;
		}
		value = i ? (int64_t)((uint64_t)value + step) : unfold(step);
		*v = (struct operands_value){ .value = value };
		v->n = get(r, left);
		v->windows = get(r, s->windows < v->n ? s->windows : v->n);
		left -= v->n;
		if (!r->err && (!operands_may_keep(s->kind, value) ||
				v->windows < OPERANDS_LEAST_WINDOWS ||
				(i && (!step || value <= v[-1].value))))
			r->err = -CPI_ECORRUPT;
	}
}

static void get_site_body(struct operands_reader *r, struct operands *set,
			  struct operands_site *s, bool has_missed)
{
	uint64_t left;

	s->known = get(r, MOST_COUNT);
	s->unknown = get(r, MOST_COUNT - s->known);
	s->windows = get(r, s->known);
	s->same = get(r, s->known);
	s->taken = get(r, is_compare(s) ? executions(s) : 0);
	s->distinct = get(r, s->known);
	s->missed = has_missed ? get(r, s->known) : s->known;
	left = s->known;
	for (int i = 0; i + 1 < OPERAND_NR_CLASSES; i++) {
		s->class[i] = get(r, left);
		left -= s->class[i];
	}
	s->class[OPERAND_OTHER] = left;
	get_values(r, set, s);
	if (!r->err && !is_worth(s))
		r->err = -CPI_ECORRUPT;
}

/* Sites ascend. */
static void get_sites(struct operands_reader *r, struct operands *set, uint64_t nr)
{
	const struct operands_site *before = NULL;
	struct operands_site *s;

	for (uint64_t i = 0; i < nr && !r->err; i++) {
		const uint32_t first = before ? before->image : 0;
		const uint32_t image = first + (uint32_t)get(r, UINT32_MAX - first);
		const bool near = before && before->image == image;
		const uint64_t from = near ? before->offset : 0;
		const uint64_t offset = from + get(r, UINT64_MAX - from);
		const unsigned int which = (unsigned int)get(r, UINT8_MAX);
		const unsigned int kind = which & ((1u << SIZE_SHIFT) - 1);
		const unsigned int size = (which & ~MISSED) >> SIZE_SHIFT;

		if (!r->err && (kind >= OPERAND_NR_KINDS || size > MOST_SIZE))
			r->err = -CPI_ECORRUPT;
		if (!r->err && before && compare_site(before, image, offset, kind) >= 0)
			r->err = -CPI_ECORRUPT;
		if (!r->err)
			r->err = get_site(set, image, offset, kind, &s);
		if (r->err)
			return;
		s->size = (uint8_t)size;
		get_site_body(r, set, s, which & MISSED);
		before = s;
	}
}

int operands_get(const uint8_t **at, const uint8_t *end, struct operands *into)
{
	struct operands_reader r = { *at, end, 0 };
	struct operands *set = operands_new(OPERANDS_MAX_SITES);
	uint64_t nr;

	if (!set)
		return -ENOMEM;
	set->left_out = get(&r, INT64_MAX);
	nr = get(&r, OPERANDS_MAX_SITES);
	if (!r.err && (!nr || nr > (size_t)(end - r.at) / LEAST_BYTES))
		r.err = nr ? -CPI_ETRUNCATED : -CPI_ECORRUPT;
	get_sites(&r, set, nr);
	if (!r.err)
		r.err = operands_merge(into, set, NULL, 0);
	if (!r.err)
		*at = r.at;
	operands_free(set);
	return r.err;
}
